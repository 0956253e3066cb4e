-- Random nets of nn's classes, and random sequences of what programs do with them. Prints what every module of the net
-- holds after each step, so that what two implementations of nn do can be compared; see passes.py.
require 'nn'
torch.setdefaulttensortype('torch.DoubleTensor')

local state
local function random(n)
   state = (state * 16807) % 2147483647
   return state % n + 1
end
local function chance(percent) return random(100) <= percent end
local function pick(list) return list[random(#list)] end

local WIDTH = 4
local function rand(...) return torch.rand(...):mul(3):add(-1.5) end

-- Nets ------------------------------------------------------------------------------------------------------

-- Modules that keep the size of their input, batch x WIDTH or WIDTH.
local LAYERS = {
   function() return nn.Linear(WIDTH, WIDTH) end,
   function() return nn.Linear(WIDTH, WIDTH, false) end,
   nn.Tanh, nn.Sigmoid, nn.SoftMax, nn.LogSoftMax, nn.SoftSign, nn.Square, nn.Abs, nn.LogSigmoid, nn.SoftPlus,
   nn.HardShrink, nn.SoftShrink, nn.TanhShrink, nn.Identity, nn.Contiguous, nn.SoftMin,
   function() return nn.ReLU(chance(60)) end,
   function() return nn.ReLU6(chance(50)) end,
   function() return nn.Threshold(0.2, 0.1, chance(50)) end,
   function() return nn.ELU(0.7, chance(50)) end,
   function() return nn.LeakyReLU(0.3, chance(50)) end,
   function() return nn.RReLU(0.1, 0.3, chance(50)) end,
   function() return nn.HardTanh(-0.5, 0.5, chance(50)) end,
   function() return nn.Clamp(-0.5, 0.5) end,
   function() return nn.MulConstant(2, chance(50)) end,
   function() return nn.AddConstant(0.5, chance(50)) end,
   function() return nn.Dropout(0.5, false, chance(50)) end,
   function() return nn.Dropout(0.5, true) end,
   function() return nn.Add(WIDTH) end,
   function() return nn.Add(1, true) end,
   function() return nn.Mul() end,
   function() return nn.CMul(WIDTH) end,
   function() return nn.CAdd(WIDTH) end,
   function() return nn.PReLU() end,
   function() return nn.Power(2) end,
   function() return nn.Normalize(2) end,
   function() return nn.BatchNormalization(WIDTH) end,
   function() return nn.View(-1, WIDTH) end,
   function() return nn.View(WIDTH):setNumInputDims(1) end,
   function() return nn.Reshape(WIDTH) end,
   function() return nn.L1Penalty(0.1) end,
   function() return nn.GradientReversal(0.5) end,
   function() return nn.Copy('torch.DoubleTensor', 'torch.DoubleTensor') end,
   function() return nn.Maxout(WIDTH, WIDTH, 2) end,
   function() return nn.Bottle(nn.Linear(WIDTH, WIDTH)) end,
   function() return nn.DontCast(nn.Tanh()) end,
   function() return nn.Sequential():add(nn.Replicate(3)):add(pick{nn.Sum, nn.Mean, nn.Max, nn.Min}(1)) end,
   function() return nn.Sequential():add(nn.Replicate(2, 1)):add(nn.Select(1, 2)) end,
   function() return nn.Sequential():add(nn.Narrow(-1, 1, 2)):add(nn.Linear(2, WIDTH)) end,
   function() return nn.Sequential():add(nn.Linear(WIDTH, 3)):add(nn.Padding(1, 1, 1)) end,
   function() return nn.Sequential():add(nn.Unsqueeze(1)):add(nn.Squeeze(1)) end,
   function() return nn.Sequential():add(nn.SplitTable(-1)):add(nn.JoinTable(1)):add(nn.Reshape(WIDTH, -1, false)) end,
   function() return nn.Sequential():add(nn.Transpose({1, 2})):add(nn.Transpose({1, 2})) end,
}
local net_of
local COMBINED = {
   function() return nn.CAddTable(chance(50)) end, function() return nn.CMulTable() end,
   function() return nn.CSubTable() end, function() return nn.CMaxTable() end, function() return nn.CMinTable() end,
   function() return nn.SelectTable(random(2)) end, function() return nn.SelectTable(-1) end,
   function() return nn.Sequential():add(nn.NarrowTable(2, 1)):add(nn.SelectTable(1)) end,
   function() return nn.Sequential():add(nn.JoinTable(1, 1)):add(nn.Linear(2 * WIDTH, WIDTH)) end,
   function() return nn.Sequential():add(nn.Identity()):add(nn.FlattenTable()):add(nn.CAddTable()) end,
   function() return nn.Sequential():add(nn.ParallelTable():add(net_of(1)):add(net_of(1))):add(nn.CAddTable(chance(50))) end,
   function() return nn.Sequential():add(nn.MapTable():add(nn.Linear(WIDTH, WIDTH))):add(nn.CAddTable()) end,
   function() return nn.Sequential():add(nn.ConcatTable():add(nn.SelectTable(1)):add(nn.SelectTable(2))):add(nn.CAddTable()) end,
}
local CONTAINERS = {
   function(depth)
      return nn.Sequential():add(nn.ConcatTable():add(net_of(depth)):add(net_of(depth))):add(pick(COMBINED)())
   end,
   function(depth)
      local concat = nn.Concat(2)
      for _ = 1, 2 do concat:add(nn.Sequential():add(net_of(depth)):add(nn.Linear(WIDTH, WIDTH / 2))) end
      return concat
   end,
   function(depth) return net_of(depth) end,
   function(depth)
      local module = net_of(depth)
      return nn.Sequential():add(module):add(module:clone('weight', 'bias', 'gradWeight', 'gradBias'))
   end,
   function() local shared = nn.Tanh() return nn.Sequential():add(shared):add(nn.Linear(WIDTH, WIDTH)):add(shared) end,
}
function net_of(depth)
   local net = nn.Sequential()
   for _ = 1, random(3) do
      if depth > 0 and chance(25) then net:add(pick(CONTAINERS)(depth - 1)) else net:add(pick(LAYERS)()) end
   end
   return net
end

-- What is printed --------------------------------------------------------------------------------------------

local function digest(value, depth)
   if torch.isTensor(value) then
      local n = value:nElement()
      if n == 0 then return 'empty' end
      local flat, sum = value:double():contiguous():view(-1), 0
      for i = 1, n do sum = sum + flat[i] * (1 + i % 7) end
      return ('%s %s %.12g'):format(torch.type(value):sub(7, 9), table.concat(value:size():totable(), 'x'), sum)
   elseif type(value) == 'table' and not torch.typename(value) then
      if (depth or 0) > 3 then return '...' end
      local parts = {}
      for i = 1, #value do parts[i] = digest(value[i], (depth or 0) + 1) end
      return '{' .. table.concat(parts, ', ') .. '}'
   end
   return tostring(value)
end

local RESULTS = {'output', 'gradInput'}
local function results(net)
   local found = {}
   for i, module in ipairs(net:listModules()) do
      for _, field in ipairs(RESULTS) do found[i .. torch.type(module) .. field] = module[field] end
      found.n = i
   end
   return found
end

-- `before` are its results of before.
local function show(net, kept, before)
   local modules = net:listModules()
   if #modules ~= before.n then before = {} end
   for i, module in ipairs(modules) do
      local name = torch.type(module)
      for _, field in ipairs(RESULTS) do
         local value, old = module[field], before[i .. name .. field]
         print(('%d %s %s: %s%s'):format(i, name, field, digest(value), value == old and ', as before' or ''))
      end
      for _, field in ipairs{'weight', 'bias', 'gradWeight', 'gradBias'} do
         if module[field] then print(('%d %s %s: %s'):format(i, name, field, digest(module[field]))) end
      end
   end
   for i, k in ipairs(kept) do
      print(('kept %d %s: %s'):format(i, k[2], digest(k[1])))
   end
end

-- What programs do --------------------------------------------------------------------------------------------

local run
local function some_module() return pick(run.net:listModules()) end
local FIELDS = {threshold = 0.4, val = 0.3, p = 0.3, negval = 0.2, alpha = 0.5, inplace = true, constant_scalar = 0.5,
                lambda = 0.7, pow = 3, min_val = -0.3, max_val = 0.7, eps = 1e-3, momentum = 0.3, sizeAverage = true}
local FIELD_NAMES = {}
for name in pairs(FIELDS) do FIELD_NAMES[#FIELD_NAMES + 1] = name end
table.sort(FIELD_NAMES)

local function new_input() run.input = rand(random(3), WIDTH) end
local function forward() run.net:forward(run.input) end
local function backward()
   local output = run.net.output
   run.gradOutput = rand(output:size()):type(output:type())
   run.net:backward(run.input, run.gradOutput, pick{1, 1, 0.5})
end
local STEPS = {
   {'forward', forward}, {'forward new', function() new_input() forward() end},
   {'forward updateOutput', function() run.net:updateOutput(run.input) end},
   {'backward', backward}, {'backward', function() forward() backward() end},
   {'both', function() new_input() forward() backward() end},
   {'again', function() if run.gradOutput then run.net:backward(run.input, run.gradOutput) end end},
   {'updateGradInput', function() if run.gradOutput then run.net:updateGradInput(run.input, run.gradOutput) end end},
   {'accGradParameters', function()
      if run.gradOutput then
         run.net:updateGradInput(run.input, run.gradOutput)
         run.net:accGradParameters(run.input, run.gradOutput, 0.5)
      end
   end},
   {'zeroGradParameters', function() run.net:zeroGradParameters() end},
   {'updateParameters', function() run.net:updateParameters(0.01) end},
   {'input in place', function() run.input:mul(0.5) end},
   {'mode', function() if chance(50) then run.net:training() else run.net:evaluate() end end},
   {'field', function()
      local module, name = some_module(), pick(FIELD_NAMES)
      if module[name] ~= nil and type(module[name]) == type(FIELDS[name]) then
         print('set', torch.type(module), name)
         if module[name] == true then module[name] = false else module[name] = FIELDS[name] end
      end
   end},
   {'write output', function()
      local module = some_module()
      if torch.isTensor(module.output) and module.output:nElement() > 0 then module.output:mul(0.9) end
   end},
   {'write gradInput', function()
      local module = some_module()
      if torch.isTensor(module.gradInput) and module.gradInput:nElement() > 0 then module.gradInput:mul(0.9) end
   end},
   {'keep output', function()
      local module = some_module()
      if module.output ~= nil then run.kept[#run.kept + 1] = {module.output, torch.type(module) .. ' output'} end
   end},
   {'keep gradInput', function()
      local module = some_module()
      if module.gradInput ~= nil then run.kept[#run.kept + 1] = {module.gradInput, torch.type(module) .. ' gradInput'} end
   end},
   {'clone', function() run.net = run.net:clone() end},
   {'clone one', function()
      local modules = run.net.modules
      local i = random(#modules)
      modules[i] = modules[i]:clone()
   end},
   {'shared clone', function() run.other = run.net:clone('weight', 'bias', 'gradWeight', 'gradBias') end},
   {'other', function() if run.other then
      run.net, run.other = run.other, run.net
      run.input = run.input:type(run.net:type())
      run.gradOutput = nil
      forward()
   end end},
   {'share', function()
      if run.other and #run.other:listModules() == #run.net:listModules() then run.net:share(run.other, 'weight', 'bias') end
   end},
   {'float', function() run.net:float() run.input = run.input:float() run.gradOutput = nil end},
   {'double', function() run.net:double() run.input = run.input:double() run.gradOutput = nil end},
   {'clearState', function() run.net:clearState() run.gradOutput = nil end},
   {'getParameters', function() run.flat, run.gradients = run.net:getParameters() end},
   {'flat', function() if run.flat then run.flat:mul(0.95) run.gradients:mul(0.5) end end},
   {'no gradInput', function()
      local module = run.net:get(1)
      while module.modules and module.modules[1] do module = module.modules[1] end
      if torch.type(module) == 'nn.Linear' then module.gradInput = nil end
   end},
   {'remove', function()
      if #run.net.modules > 1 then run.net:remove(random(#run.net.modules)) run.gradOutput = nil forward() end
   end},
   {'insert', function() run.net:insert(pick(LAYERS)():type(run.net:type()), random(#run.net.modules)) run.gradOutput = nil forward() end},
   {'hook', function()
      local module = some_module()
      local old = module.updateOutput
      function module:updateOutput(input) return old(self, input) end
   end},
   {'hook back', function()
      local module = some_module()
      local old = module.updateGradInput
      function module:updateGradInput(input, gradOutput) return old(self, input, gradOutput) end
   end},
   {'frozen', function() some_module().accGradParameters = function() end end},
   {'save', function() run.net = torch.deserialize(torch.serialize(run.net)) run.gradOutput = nil forward() end},
}

return function(seed, steps)
   state = seed * 48271 % 2147483647 + 1
   for _ = 1, 5 do random(10) end
   torch.manualSeed(seed)
   nn.Module.write = nil -- the original's clone leaves one if it fails
   run = {net = net_of(2), kept = {}}
   print('net ' .. tostring(run.net):gsub('\n', ' '))
   new_input()
   for i = 1, steps do
      local step = i == 1 and STEPS[1] or i == 2 and STEPS[4] or pick(STEPS)
      print(('step %d %s'):format(i, step[1]))
      torch.manualSeed(seed + i)
      local before = results(run.net)
      local ok, message = pcall(step[2])
      if not ok then
         print('failed')
         io.stderr:write('seed ', seed, ' ', step[1], ': ', tostring(message), '\n')
         return
      end
      show(run.net, run.kept, before)
   end
end
