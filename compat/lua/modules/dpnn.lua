-- Torch7's package dpnn: the classes of compat.nn that it brings in Lua. Its methods of modules are compat's.
require 'nn'
local names = require('nn.packages').dpnn
dpnn = {version = 2}
torch._t7.bring('compat.nn', function(name) return names[name] end)
nn.NCEModule.version = 6
-- torchx's, which NCEModule has in its files.
torch._t7.bring('compat.random', function(name) return name == 'AliasMultinomial' end)

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

torch._t7.adapt('nn.Module', {
   mediumSerial = function(self) return leave_out(self, 'dpnn_mediumEmpty') end,
   lightSerial = function(self) return leave_out(self, 'dpnn_mediumEmpty', 'dpnn_lightEmpty') end,
   outside = function(self, size)
      local input = type(size) == 'table' and torch.randn(unpack(size)) or torch.randn(size)
      return self:updateOutput(input):size()
   end,
})

-- What classes that Lua derives extend.
local Module = nn.Module
Module.dpnn_parameters = {'weight', 'bias'}
Module.dpnn_gradParameters = {'gradWeight', 'gradBias'}
Module.dpnn_mediumEmpty = {'output', 'gradInput', 'momGradParams', 'dpnn_input'}
Module.dpnn_lightEmpty = Module.dpnn_gradParameters
return dpnn
