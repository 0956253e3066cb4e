-- Torch7's package rnn: the classes of compat.nn that it brings in Lua.
require 'dpnn'
local names = require('nn.packages').rnn
rnn = require 'rnn.recursive'
rnn.version = 2.7
nn.rnn = rnn
torch._t7.bring('compat.nn', function(name) return names[name] end)
local functions = torch._t7.functions('compat.rnn')

local function returning_self(f)
   return function(self, ...) f(self, ...) return self end
end

torch._t7.adapt('nn.Module', {
   stepClone = function(self) return functions.step_clone(self) end,
   forget = returning_self(functions.forget),
   remember = returning_self(functions.remember),
   maxBPTTstep = returning_self(functions.max_bptt_step),
   getHiddenState = functions.get_hidden_state,
   setHiddenState = functions.set_hidden_state,
   getGradHiddenState = functions.get_grad_hidden_state,
   setGradHiddenState = functions.set_grad_hidden_state,
})

local recursive = {}
for name, f in pairs(rnn) do
   if name:find('^recursive') then recursive[name] = f end
end
torch._t7.adapt('nn.AbstractRecurrent', recursive)

-- Its nn.Dropout takes `lazy` and `mono` last, and tells whether it is lazy, also where Python prints a container.
local dropout = debug.getmetatable(nn.Dropout)
local new = dropout.__new
function dropout.__new(p, v1, inplace, lazy, mono) return new(p, v1, inplace, false, lazy, mono) end
function nn.Dropout:__tostring__()
   return string.format('%s(%.1f, %s)', torch.type(self), self.p, self.lazy and 'lazy' or 'busy')
end
return rnn
