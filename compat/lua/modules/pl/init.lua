-- Penlight, as far as training scripts use it. `require 'pl'` makes its packages global names, loaded when first used.
local packages = {}
for _, name in ipairs{'List', 'class', 'dir', 'file', 'func', 'lapp', 'path', 'pretty', 'seq', 'stringx', 'tablex', 'text',
                      'types', 'utils', 'OrderedMap', 'Map', 'Set', 'app'} do
   packages[name] = package.preload['pl.' .. name] and true or nil
end
local mt = getmetatable(_G)
if not mt then
   mt = {}
   setmetatable(_G, mt)
end
local index = mt.__index
mt.__index = function(t, name)
   if packages[name] then
      local found = require('pl.' .. name)
      rawset(_G, name, found)
      return found
   end
   if type(index) == 'function' then return index(t, name) end
   return index and index[name]
end
return {utils = require 'pl.utils'}
