-- nn.hessian: estimates of the diagonal of the Hessian, by modules that learn how when `enable` is called.
-- Where h is the diagonal at a module's output, updateDiagHessianInput(input, h) gives that at its input, and
-- accDiagHessianParameters(input, h) adds that of its parameters to diagHessianWeight and diagHessianBias.
local t7 = torch._t7
local hessian = {}
nn.hessian = hessian

local NAMES = {gradWeight = 'diagHessianWeight', gradBias = 'diagHessianBias'}

-- Layers whose output is linear in input and parameters: what is passed on is squared.
local linear = {}
function linear.updateDiagHessianInput(self, input, h)
   local squared = self:clone()
   squared.weight:cmul(squared.weight)
   squared:forward(input)
   self.diagHessianInput = squared:updateGradInput(input, h):clone()
   return self.diagHessianInput
end
function linear.accDiagHessianParameters(self, input, h)
   local twin, squared = self:clone(), torch.cmul(input, input)
   twin:zeroGradParameters()
   twin:forward(squared)
   twin:accGradParameters(squared, h, 1)
   self:initDiagHessianParameters()
   for gradient, name in pairs(NAMES) do
      if self[name] and twin[gradient] then self[name]:add(twin[gradient]) end
   end
end
function linear.initDiagHessianParameters(self)
   self.diagHessianInput = self.diagHessianInput or self.weight.new()
   for gradient, name in pairs(NAMES) do
      local like = self[gradient]
      if like and not self[name] then self[name] = like.new():resizeAs(like):zero() end
   end
end

-- Layers that compute each number by itself: the square of the derivative.
local function pointwise(module, input, h)
   local twin = module:clone()
   twin:forward(input)
   local slope = twin:updateGradInput(input, h.new():resizeAs(h):fill(1))
   return torch.cmul(slope, slope):cmul(h)
end
local elementwise = {updateDiagHessianInput = function(self, input, h)
   self.diagHessianInput = pointwise(self, input, h)
   return self.diagHessianInput
end}

local Sequential = {}
function Sequential.initDiagHessianParameters(self)
   for _, module in ipairs(self.modules) do module:initDiagHessianParameters() end
end
local function back(self, method, input, h)
   for i = #self.modules, 1, -1 do
      local module = self.modules[i]
      module[method](module, i > 1 and self.modules[i - 1].output or input, h)
      h = module.diagHessianInput
   end
   return h
end
function Sequential.updateDiagHessianInput(self, input, h)
   self.diagHessianInput = back(self, 'updateDiagHessianInput', input, h)
   return self.diagHessianInput
end
function Sequential.accDiagHessianParameters(self, input, h) back(self, 'accDiagHessianParameters', input, h) end

local function undefined(self) error(torch.typename(self) .. ':updateDiagHessianInput() is undefined') end
local Module = {
   updateDiagHessianInput = undefined,
   accDiagHessianParameters = function() end,
   initDiagHessianParameters = function() end,
}

local squared_error = {updateDiagHessianInput = function(self, input)
   self.diagHessianInput = input.new():resizeAs(input):fill(self.sizeAverage and 2 / input:nElement() or 2)
   return self.diagHessianInput
end}
local methods = {
   ['nn.Module'] = Module, ['nn.Sequential'] = Sequential, ['nn.Criterion'] = {updateDiagHessianInput = undefined},
   ['nn.MSECriterion'] = squared_error, ['nn.WeightedMSECriterion'] = squared_error,
   ['nn.L1Cost'] = {updateDiagHessianInput = function(self, input)
      self.diagHessianInput = torch.ne(input, 0):typeAs(input)
      return self.diagHessianInput
   end},
   ['nn.TanhShrink'] = {updateDiagHessianInput = function(self, input, h)
      self.diagHessianInput = pointwise(nn.Tanh():type(input:type()), input, h):add(h)
      return self.diagHessianInput
   end},
   ['nn.Reshape'] = {updateDiagHessianInput = function(self, input, h)
      self.diagHessianInput = h:clone():resizeAs(input)
      return self.diagHessianInput
   end},
}
for name in ([[Linear SpatialConvolution SpatialConvolutionLocal SpatialFullConvolution SpatialConvolutionMap
               SpatialFullConvolutionMap]]):gmatch('%S+') do
   methods['nn.' .. name] = linear
end
for name in ('Tanh Square Sqrt'):gmatch('%S+') do methods['nn.' .. name] = elementwise end

-- Parameters, gradients and Hessians.
local function diagonals(self)
   local found = {}
   for _, module in ipairs(self:listModules()) do
      found[#found + 1] = module.diagHessianWeight
      found[#found + 1] = module.diagHessianBias
   end
   return found
end
local function with_hessians(class)
   local parameters = torch.getmetatable(class).parameters
   return function(self)
      local weights, gradients = parameters(self)
      if not weights then return end
      return weights, gradients, diagonals(self)
   end
end
local function flat_with_hessians(getParameters)
   return function(self)
      local weights, gradients = getParameters(self)
      local found = diagonals(self)
      if #found == 0 then return weights, gradients end
      local flat, start = weights.new(weights:nElement()), 1
      for _, part in ipairs(found) do
         local n, size = part:nElement(), part:size()
         flat:narrow(1, start, n):copy(part)
         part:set(flat:storage(), start, size)
         start = start + n
      end
      return weights, gradients, flat
   end
end

local enabled = false
function hessian.enable()
   if enabled then return end
   enabled = true
   for class, how in pairs(methods) do t7.adapt(class, how) end
   local Module = torch.getmetatable('nn.Module')
   t7.adapt('nn.Module', {parameters = with_hessians('nn.Module'),
                          getParameters = flat_with_hessians(Module.getParameters)})
   t7.adapt('nn.Sequential', {parameters = with_hessians('nn.Sequential')})
end

-- Checks, in nn.Jacobian: for sums of halves of squared outputs, the Hessian at which is 1.
local Jacobian = nn.Jacobian

function Jacobian.backwardDiagHessian(module, input, name)
   local output = module:forward(input)
   for _, parameter in pairs(NAMES) do if module[parameter] then module[parameter]:zero() end end
   local h = output.new():resizeAs(output):fill(1)
   module:updateDiagHessianInput(input, h)
   module:accDiagHessianParameters(input, h)
   return module[name]
end

-- The same from first derivatives, of a linear module: one output after the other.
function Jacobian.linearModuleDiagHessian(module, input, name)
   local output = module:forward(input)
   local gradOutput, sum = output.new():resizeAs(output):zero(), nil
   local each = gradOutput:view(-1)
   for i = 1, each:size(1) do
      each:zero()
      each[i] = 1
      module:zeroGradParameters()
      module:updateGradInput(input, gradOutput)
      module:accGradParameters(input, gradOutput)
      local gradient = module[name]
      sum = sum or gradient.new():resizeAs(gradient):zero()
      sum:addcmul(gradient, gradient)
   end
   return sum
end

function Jacobian.testDiagHessian(module, input, gradient, name, least, most)
   least, most = least or -2, most or 2
   input:copy(torch.rand(input:nElement()):mul(most - least):add(least))
   module:initDiagHessianParameters()
   local backward = Jacobian.backwardDiagHessian(module, input, name):clone()
   return (backward - Jacobian.linearModuleDiagHessian(module, input, gradient)):abs():max()
end
for what, gradient in pairs{Input = 'gradInput', Weight = 'gradWeight', Bias = 'gradBias'} do
   Jacobian['testDiagHessian' .. what] = function(module, input, least, most)
      return Jacobian.testDiagHessian(module, input, gradient, 'diagHessian' .. what, least, most)
   end
end

return hessian
