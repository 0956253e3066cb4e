-- Penlight, as far as training scripts use it. `require 'pl'` makes its packages global names, loaded when first used.
local part = require 'pl.parts'
local packages = {}
for name in ([[List class dir file func lapp path pretty seq stringx tablex text types utils OrderedMap Map Set app lexer
   stringio sip input config data operator array2d comprehension xml test MultiMap Date]]):gmatch('%S+') do
   packages[name] = true
end
local mt = getmetatable(_G)
if not mt then
   mt = {}
   setmetatable(_G, mt)
end
local index = mt.__index
mt.__index = function(t, name)
   if packages[name] then
      local found = part(name)
      packages[name] = found ~= nil
      rawset(_G, name, found)
      return found
   end
   if type(index) == 'function' then return index(t, name) end
   return index and index[name]
end
return {utils = require 'pl.utils'}
