-- Torch7's package dpnn: the classes of compat.nn that it brings in Lua. Its methods of modules are compat's.
require 'nn'
require 'torchx'
local names = require('nn.packages').dpnn
dpnn = {version = 2}
torch._t7.bring('compat.nn', function(name) return names[name] end)
nn.NCEModule.version = 6

function dpnn.require(name)
   local found, message = pcall(require, name)
   if not found then
      print('missing package ' .. name .. ": run 'luarocks install nnx'")
      error(message)
   end
end

-- Each class says for itself what need not be in files.
local function leave_out(self, ...)
   for _, module in ipairs(self:listModules()) do
      local names = {}
      for _, list in ipairs{...} do
         for _, name in ipairs(module[list]) do names[#names + 1] = name end
      end
      module.dpnn_serialEmpty = names
   end
   return self
end

-- The fields of a module and of what is in it, as plain tables, without what need not be in files.
local function serial_state(self, states)
   states = states or {}
   local function plain(object)
      if states[object] then return states[object] end
      local state, empty = {}, {}
      states[object] = state
      local is_module = torch.isTypeOf(object, 'nn.Module')
      for _, name in ipairs(is_module and object.dpnn_serialEmpty or {}) do empty[name] = true end
      for key, value in pairs(object) do
         if empty[key] and torch.isTensor(value) then state[key] = value.new()
         elseif empty[key] and torch.type(value) == 'table' then state[key] = {}
         elseif torch.isTypeOf(value, 'nn.Module') then state[key] = value:getSerialState(states)
         elseif torch.type(value) == 'table' then state[key] = plain(value)
         else state[key] = value end
      end
      if is_module then state.dpnn_typename = torch.type(object) end
      return state
   end
   return plain(self)
end

torch._t7.adapt('nn.Module', {
   mediumSerial = function(self) return leave_out(self, 'dpnn_mediumEmpty') end,
   lightSerial = function(self) return leave_out(self, 'dpnn_mediumEmpty', 'dpnn_lightEmpty') end,
   getSerialState = serial_state,
   profile = function(self)
      for _, module in ipairs(self.modules or {}) do module:profile() end
      self.dpnn_profile = true
   end,
   outside = function(self, size)
      local input = type(size) == 'table' and torch.randn(unpack(size)) or torch.randn(size)
      return self:updateOutput(input):size()
   end,
})

-- Calls a method of a module and prints how long it took.
local function timed(module, method, ...)
   local start = torch.Timer()
   local result = module[method](module, ...)
   if cutorch then cutorch.synchronize() end
   print(torch.type(module) .. ' ' .. method .. ': ' .. start:time().real .. ' s')
   return result
end

-- Has containers of a class, once profiled, go through their modules one by one: `forward(self, input)`, and for these methods
-- `back(self, method, input, gradOutput, scale)`, call each with `timed`.
local function profiled(class, methods, forward, back)
   local profile = torch.getmetatable(class).profile
   torch._t7.adapt(class, {profile = function(self)
      function self:updateOutput(input)
         self.output = forward(self, input)
         return self.output
      end
      for _, method in ipairs(methods) do
         local accumulates = method:find('^acc')
         self[method] = function(self, input, gradOutput, scale)
            local gradInput = back(self, method, input, gradOutput, method ~= 'updateGradInput' and (scale or 1) or nil)
            if accumulates then return end
            self.gradInput = gradInput
            return gradInput
         end
      end
      profile(self)
   end})
end
local BACK = {'updateGradInput', 'accGradParameters', 'accUpdateGradParameters'}
profiled('nn.Sequential', {'backward', unpack(BACK)}, function(self, input)
   for _, module in ipairs(self.modules) do input = timed(module, 'updateOutput', input) end
   return input
end, function(self, method, input, gradOutput, scale)
   for i = #self.modules, 1, -1 do
      local module = self.modules[i]
      gradOutput = timed(module, method, i > 1 and self.modules[i - 1].output or input, gradOutput, scale) or module.gradInput
   end
   return gradOutput
end)
profiled('nn.ParallelTable', BACK, function(self, input)
   local output = {}
   for i, module in ipairs(self.modules) do output[i] = timed(module, 'updateOutput', input[i]) end
   return output
end, function(self, method, input, gradOutput, scale)
   local gradInput = {}
   for i, module in ipairs(self.modules) do
      gradInput[i] = timed(module, method, input[i], gradOutput[i], scale) or module.gradInput
   end
   return gradInput
end)

-- What classes that Lua derives extend.
local Module = nn.Module
Module.dpnn_parameters = {'weight', 'bias'}
Module.dpnn_gradParameters = {'gradWeight', 'gradBias'}
Module.dpnn_mediumEmpty = {'output', 'gradInput', 'momGradParams', 'dpnn_input'}
Module.dpnn_lightEmpty = Module.dpnn_gradParameters
return dpnn
