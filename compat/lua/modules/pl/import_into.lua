-- pl.import_into: a table, or the one given, in which Penlight's packages are loaded when first used.
local part = require 'pl.parts'
return function(target)
   local pl = target or {}
   local mt = getmetatable(pl)
   if mt and mt.__index then error('the table already has a metatable with __index', 2) end
   mt = mt or {}
   function mt.__index(t, name)
      local found = type(name) == 'string' and part(name) or nil
      if found then rawset(t, name, found) end
      return found
   end
   rawset(pl, 'utils', require 'pl.utils')
   return setmetatable(pl, mt)
end
