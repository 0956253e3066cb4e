-- Torch7's package dpnn: the classes of compat.nn that it brings in Lua.
require 'nn'
local names = require('nn.packages').dpnn
dpnn = {}
torch._t7.bring('compat.nn', function(name) return names[name] end)
return dpnn
