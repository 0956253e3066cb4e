-- Torch7's package rnn: the classes of compat.nn that it brings in Lua.
require 'dpnn'
local names = require('nn.packages').rnn
rnn = {version = 2.7}
nn.rnn = rnn
torch._t7.bring('compat.nn', function(name) return names[name] end)
local functions = torch._t7.functions('compat.rnn')
torch._t7.adapt('nn.Module', {
   forget = function(self) functions.forget(self) return self end,
   remember = function(self, when) functions.remember(self, when) return self end,
})
return rnn
