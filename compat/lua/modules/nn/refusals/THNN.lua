-- What Torch7's THNN says of sizes that it does not take, by class and method.
local function size(tensor)
   return '[' .. table.concat(tensor:size():totable(), ' x ') .. ']'
end

local function same_shape(names, a, b)
   if not a:isSameSizeAs(b) then
      error(('%s and %s shapes do not match: %s %s, %s %s'):format(names[1], names[2], names[1], size(a), names[2], size(b)))
   end
end

local function same_count(names, a, b)
   if a:nElement() ~= b:nElement() then
      error(('%s and %s have different number of elements: %s%s has %d elements, while %s%s has %d elements'):format(
         names[1], names[2], names[1], size(a), a:nElement(), names[2], size(b), b:nElement()))
   end
end

-- `dims` dimensions, and in that of number `at` (from 0) `wanted`.
local function dimension(name, tensor, dims, at, wanted)
   if tensor:dim() ~= dims or tensor:size(at + 1) ~= wanted then
      error(('Need %s of dimension %d and %s.size[%d] == %d but got %s to be of shape: %s'):format(
         name, dims, name, at, wanted, name, size(tensor)))
   end
end

local function assertion(condition, text)
   if not condition then error(("Assertion `%s' failed. "):format(text)) end
end

-- Layers that compute every number by itself ---------------------------------------------------------------

local function elementwise(check, first)
   return {updateGradInput = function(self, input, gradOutput)
      check({first, 'gradOutput'}, first == 'output' and self.output or input, gradOutput:cdata() and gradOutput)
   end}
end
local THNN = {}
for name in ([[Abs ELU HardShrink HardTanh LeakyReLU LogSigmoid PReLU RReLU SoftPlus SoftShrink Sqrt Square
               Threshold]]):gmatch('%S+') do
   THNN[name] = elementwise(same_count, 'input')
end
THNN.Sigmoid, THNN.Tanh = elementwise(same_count, 'output'), elementwise(same_shape, 'output')
THNN.LogSoftMax, THNN.SoftMax = elementwise(same_shape, 'input'), elementwise(same_shape, 'input')

local function soft(self, input)
   if input:dim() > 4 or input:dim() == 0 then
      error("bad argument #2 to 'v' (1D, 2D, 3D or 4D tensor expected)")
   end
end
THNN.LogSoftMax.updateOutput, THNN.SoftMax.updateOutput = soft, soft

-- Convolutions and poolings of images -----------------------------------------------------------------------

-- The number of the first dimension that is no batch.
local function planes(input)
   if input:dim() ~= 3 and input:dim() ~= 4 then
      error(("bad argument #2 to 'v' (3D or 4D input tensor expected but got: %s)"):format(size(input)))
   end
   return input:dim() - 3
end

local function too_small(form, input, output)
   for i = 2, 3 do
      if output[i] < 1 then
         local text = ('Given input size: (%s). Calculated output size: (%s). Output size is too small'):format(form, form)
         error(text:format(input[1], input[2], input[3], output[1], output[2], output[3]))
      end
   end
end

local function is_output(gradOutput, input, first, output)
   if gradOutput then
      for i = 1, 3 do dimension('gradOutput', gradOutput, input:dim(), first + i - 1, output[i]) end
   end
end

local function convolution(kernel, from)
   return function(self, input, gradOutput)
      local first = planes(input)
      local height, width = input:size(first + 2), input:size(first + 3)
      local output = {self.nOutputPlane, from(self, height, 'H'), from(self, width, 'W')}
      too_small('%d x %d x %d', {self.nInputPlane, height, width}, output)
      dimension('input', input, input:dim(), first, self.nInputPlane)
      is_output(gradOutput, input, first, output)
   end
end
local function both(check) return {updateOutput = check, updateGradInput = check} end

THNN.SpatialConvolutionMM = both(convolution('MM', function(self, n, d)
   return math.floor((n + 2 * self['pad' .. d] - self['k' .. d]) / self['d' .. d]) + 1
end))
THNN.SpatialConvolutionMM.__init = function(_, from, to, kW, kH) torch.Tensor(to, from, kH, kW) end
THNN.SpatialConvolution = THNN.SpatialConvolutionMM
THNN.SpatialDilatedConvolution = both(convolution('Dilated', function(self, n, d)
   local extent = self['dilation' .. d] * (self['k' .. d] - 1) + 1
   return math.floor((n + 2 * self['pad' .. d] - extent) / self['d' .. d]) + 1
end))
THNN.SpatialFullConvolution = both(convolution('Full', function(self, n, d)
   return (n - 1) * self['d' .. d] - 2 * self['pad' .. d] + self['k' .. d] + self['adj' .. d]
end))

local pooling = both(function(self, input, gradOutput)
   local first = planes(input)
   local sizes = {input:size(first + 1), input:size(first + 2), input:size(first + 3)}
   local output = {sizes[1]}
   for i, d in ipairs{'H', 'W'} do
      local pad, stride = self['pad' .. d], self['d' .. d]
      local steps = (sizes[i + 1] + 2 * pad - (self['dilation' .. d] or 1) * (self['k' .. d] - 1) - 1) / stride
      local n = (self.ceil_mode and math.ceil or math.floor)(steps) + 1
      if pad > 0 and (n - 1) * stride >= sizes[i + 1] + pad then n = n - 1 end
      output[i + 1] = n
   end
   too_small('%dx%dx%d', sizes, output)
   is_output(gradOutput, input, first, output)
end)
THNN.SpatialMaxPooling, THNN.SpatialDilatedMaxPooling, THNN.SpatialAveragePooling = pooling, pooling, pooling

-- Losses ----------------------------------------------------------------------------------------------------

local function labels(self, input, target)
   if type(target) == 'number' then target = torch.LongTensor{target} else target = target:long() end
   if target:dim() > 1 then error('multi-target not supported') end
   if input:dim() > 2 then error('input tensor should be 1D or 2D') end
   local classes, n = input:size(input:dim()), 1
   local weights = self.weights
   if weights and weights:nElement() ~= classes then
      error(('weight tensor should be defined either for all %d classes or no classes but got weight tensor of shape: %s')
            :format(classes, size(weights)))
   end
   if input:dim() == 2 then
      n = input:size(1)
      assertion(target:size(1) == n, 'THIndexTensor_(size)(target, 0) == batch_size')
   end
   for i = 1, n do
      assertion(target[i] == self.ignoreIndex or target[i] >= 1 and target[i] <= classes,
                'cur_target >= 0 && cur_target < n_classes')
   end
end
THNN.ClassNLLCriterion = both(labels)
THNN.CrossEntropyCriterion = both(function(self, input, target)
   input, target = input:squeeze(), type(target) == 'number' and target or target:squeeze()
   soft(self.lsm, input)
   labels(self.nll, input, target)
end)

local as_many = both(function(self, input, target) same_count({'input', 'target'}, input, target) end)
for name in ('AbsCriterion DistKLDivCriterion MarginCriterion MSECriterion SmoothL1Criterion SoftMarginCriterion'):gmatch('%S+') do
   THNN[name] = as_many
end

return THNN
