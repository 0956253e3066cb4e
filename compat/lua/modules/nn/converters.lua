-- Methods that give Lua something else than Python.
local t7 = torch._t7
local objects, caller = t7.objects, t7.python_caller

t7.adapt('nn.Container', {
   get = function(self, i) return self.modules[i] end,
   size = function(self) return #self.modules end,
   add = function(self, module)
      table.insert(self.modules, module)
      return self
   end,
})

-- Modules that train nothing have no parameters to tell, not none; containers have tables.
local parameters = torch.getmetatable('nn.Module').parameters
t7.adapt('nn.Module', {
   parameters = function(self)
      local weights, gradients = parameters(self)
      if weights[1] ~= nil or torch.isTypeOf(self, 'nn.Container') then return weights, gradients end
   end,
})

local Module, flatten = nn.Module, caller(objects.flatten, 'flatten')
Module._flattenTensorBuffer = {}
function Module.flatten(tensors)
   if not tensors or #tensors == 0 then return torch.Tensor() end
   return flatten(tensors)
end

-- Gives a class that is no Decorator the methods of one: they are those of its first module.
function nn.Decorator.decorate(class)
   function class:updateOutput(input)
      self.output = self.modules[1]:updateOutput(input)
      return self.output
   end
   function class:updateGradInput(input, gradOutput)
      self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
      return self.gradInput
   end
   for _, name in ipairs{'accGradParameters', 'accUpdateGradParameters', 'sharedAccUpdateGradParameters'} do
      class[name] = function(self, ...) self.modules[1][name](self.modules[1], ...) end
   end
   function class:__tostring__() return torch.type(self) .. ' @ ' .. tostring(self.modules[1]) end
end

require 'nn.Sequential'

local clear = torch.getmetatable('nn.MapTable').clearState
t7.adapt('nn.MapTable', {clearState = function(self) return clear(self):resize(1) end})

-- Going back with an input of more dimensions than two, which it refuses forward, Linear computes nothing: gradInput
-- keeps what it holds if it has as many numbers.
local linear, backwards, told = torch.getmetatable('nn.Linear'), {}, false
for _, name in ipairs{'updateGradInput', 'accGradParameters', 'backward'} do
   local method = linear[name]
   backwards[name] = function(self, input, ...)
      if not torch.isTensor(input) or input:dim() <= 2 then return method(self, input, ...) end
      if not told then
         io.stderr:write('nn.Linear computes no gradients for an input of ', input:dim(), ' dimensions, as in Torch7\n')
         told = true
      end
      local gradInput = self.gradInput
      if name == 'accGradParameters' then return end
      if not gradInput then return nil end
      local n = gradInput:nElement()
      gradInput:resizeAs(input)
      return gradInput:nElement() == n and gradInput or gradInput:zero()
   end
end
t7.adapt('nn.Linear', backwards)

-- The tensor that only tells a size has one zero as its gradient.
for _, class in ipairs{'nn.SpatialFullConvolution', 'nn.VolumetricFullConvolution'} do
   local mt, methods = torch.getmetatable(class), {}
   for _, name in ipairs{'updateGradInput', 'backward'} do
      local method = mt[name]
      methods[name] = function(self, input, ...)
         local gradInput = method(self, input, ...)
         if type(input) == 'table' and gradInput then gradInput[2] = gradInput[1].new(1):zero() end
         return gradInput
      end
   end
   t7.adapt(class, methods)
end

-- What is shared between nets that are converted with one tensorCache: Python keeps it.
local caches = setmetatable({}, {__mode = 'k'})
for _, class in ipairs{'nn.Module', 'nn.Criterion'} do
   local convert = torch.getmetatable(class).type
   t7.adapt(class, {
      type = function(self, name, cache)
         if type(cache) == 'table' then
            caches[cache] = caches[cache] or t7.call(t7.python.make_dict)
            cache = caches[cache]
         end
         return convert(self, name, cache)
      end,
      toCompat = function(self) return self end,  -- it stands for Python's object, which Python gets
   })
end

-- The loss, and the sum of the weights of the targets.
for _, name in ipairs{'nn.ClassNLLCriterion', 'nn.SpatialClassNLLCriterion'} do
   t7.adapt(name, {
      updateOutput = caller(objects.nll_updateOutput, 'updateOutput'),
      forward = caller(objects.nll_forward, 'forward'),
   })
end

-- Data sets are Lua's: objects with size() and examples {input, target} under 1…n.
local function say(self, ...) if self.verbose then print(...) end end

t7.adapt('nn.StochasticGradient', {
   train = function(self, dataset)
      local n = dataset:size()
      local order = torch.randperm(n)
      if not self.shuffleIndices then order = torch.range(1, n) end
      local module, criterion = self.module, self.criterion
      local rate, epoch = self.learningRate, 0
      print('# StochasticGradient: training')
      repeat
         local sum = 0
         for t = 1, n do
            local example = dataset[order[t]]
            local input, target = example[1], example[2]
            sum = sum + criterion:forward(module:forward(input), target)
            module:updateGradInput(input, criterion:updateGradInput(module.output, target))
            module:accUpdateGradParameters(input, criterion.gradInput, rate)
            if self.hookExample then self.hookExample(self, example) end
         end
         local err = sum / n
         epoch = epoch + 1
         if self.hookIteration then self.hookIteration(self, epoch, err) end
         say(self, '# current error = ' .. err)
         rate = self.learningRate / (1 + (epoch + 1) * self.learningRateDecay)
         if self.maxIteration > 0 and epoch >= self.maxIteration then
            print('# StochasticGradient: you have reached the maximum number of iterations')
            print('# training error = ' .. err)
            return
         end
      until false
   end,
})
