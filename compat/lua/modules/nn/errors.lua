-- Errors that arose in nets, as Torch7 tells them.
local t7 = torch._t7
local call, to_lua = t7.call, t7.to_lua
local asked = t7.raw_import('compat.lua.net_errors')
local functions = call(asked.functions, t7.python.this_runtime())
local pass_on = require 'nn.Container'
local refuse = require 'nn.refusals'

-- What Torch7 says where an error came from, nil if that is not known.
local function told(e)
   local owner, method, arguments, n, classes = call(functions.origin, e)
   local args = {}
   for k, value in pairs(arguments) do args[k] = to_lua(value) end
   local ok, err = pcall(refuse, classes, method, to_lua(owner), unpack(args, 1, n))
   return not ok and err or nil
end

-- Raises an error that Python tells as `text`, with `err` where Lua raised it.
function t7.net_error(e, text, err)
   local containers, places, n, plain = call(functions.way, e)
   local stack
   if err ~= nil then
      stack = call(t7.python.attribute, e, 'traceback')
   else
      err = told(e)
      if err == nil and n == 0 then return t7.error(text) end
      err = err or plain
   end
   local around = {}
   for i = 1, n do around[i] = to_lua(containers[i]) end
   if t7.at_net_error then t7.at_net_error(around, places) end
   pass_on(err, around, places, n, stack)
end
