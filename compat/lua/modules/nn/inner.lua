-- Methods that Torch7's layers have for their own use: those of a script that derive from them call these.
local t7 = torch._t7

t7.adapt('nn.Linear', {
   -- A vector of ones for the samples of a batch.
   updateAddBuffer = function(self, input)
      local samples = input:size(1)
      self.addBuffer = self.addBuffer or input.new()
      if self.addBuffer:nElement() ~= samples then self.addBuffer:resize(samples):fill(1) end
   end,
})

t7.adapt('nn.BatchNormalization', {checkInputDim = require('nn.refusals.BatchNormalization').updateOutput})

-- The layer's dimension in `input`: counted from its end if negative, behind that of the batch if there is one.
local function positive(self, input)
   if self.dimension < 0 then return input:dim() + self.dimension + 1 end
   if self.nInputDims and input:dim() == self.nInputDims + 1 then return self.dimension + 1 end
   return self.dimension
end
for _, name in ipairs{'nn.SplitTable', 'nn.Max', 'nn.Min', 'nn.Sum'} do
   t7.adapt(name, {_getPositiveDimension = positive})
end
t7.adapt('nn.JoinTable', {_getPositiveDimension = function(self, input) return positive(self, input[1]) end})

t7.adapt('nn.DepthConcat', {
   -- Where the output of a module goes: from `offset` on in the dimension of the depth, in the middle of the others.
   windowNarrow = function(self, output, part, offset)
      local window = output:narrow(self.dimension, offset, part:size(self.dimension))
      for dim = 1, output:dim() do
         local room = output:size(dim) - part:size(dim)
         if dim ~= self.dimension and room ~= 0 then
            window = window:narrow(dim, math.floor(room / 2) + 1, part:size(dim))
         end
      end
      return window
   end,
})
