-- Records methods.t7: luajit record.lua methods.t7, with Torch7's dpnn.
require 'dpnn'
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)

local function copied(tensors)
   local copies = {}
   for i, tensor in ipairs(tensors) do copies[i] = tensor:clone() end
   return copies
end

local function net()
   local inner = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Euclidean(4, 2))
   local made = nn.Sequential():add(nn.LookupTable(5, 3)):add(inner):add(nn.SpatialConvolution(2, 3, 2, 2))
   local _, gradients = made:parameters()
   for _, gradient in ipairs(gradients) do gradient:uniform(-1, 1) end
   return made
end

-- `fields` are set on the inner net first. Each call is a method with its arguments; before the second the gradients
-- are halved.
local cases = {}
local function case(name, calls, fields)
   local made = net()
   for field, value in pairs(fields or {}) do made.modules[2][field] = value end
   local entry = {name = name, net = torch.deserialize(torch.serialize(made)), calls = calls, results = {}}
   for i, call in ipairs(calls) do
      local parameters, gradients = made:parameters()
      if i > 1 then for _, gradient in ipairs(gradients) do gradient:div(2) end end
      local result = made[call.method](made, unpack(call.arguments, 1, call.count))
      entry.results[i] = {params = copied(parameters), gradParams = copied(gradients), returned = tonumber(result)}
   end
   table.insert(cases, entry)
end
local function call(method, ...) return {method = method, arguments = {...}, count = select('#', ...)} end

case('clipped', {call('gradParamClip', 1), call('gradParamClip', 100)})
case('clipped by module', {call('gradParamClip', 1, true)})
case('clipped elsewhere', {call('gradParamClip', 1, true)}, {cutoffNorm = 0.1})
case('decayed', {call('weightDecay', 0.1)})
case('decayed with biases', {call('weightDecay', 0.1, 1)})
case('decayed elsewhere', {call('weightDecay', 0.1)}, {wdFactor = 0.5, wdMinDim = 1})
case('not decayed', {call('weightDecay', 0)})
case('rows bounded', {call('maxParamNorm', 0.5)})
case('columns bounded', {call('maxParamNorm', 0, 0.5)})
case('both bounded', {call('maxParamNorm', 0.4, 0.3)})
case('bounded elsewhere', {call('maxParamNorm')}, {maxOutNorm = 0.2})
case('momentum', {call('updateGradParameters', 0.9), call('updateGradParameters', 0.9)})
case('undamped momentum', {call('updateGradParameters', 0.9, 0), call('updateGradParameters', 0.9, 0)})
case('Nesterov', {call('updateGradParameters', 0.9, 0, true), call('updateGradParameters', 0.9, 0, true)})
case('momentum elsewhere', {call('updateGradParameters', 0), call('updateGradParameters', 0)}, {momFactor = 0.5})
torch.save(arg[1], cases)
