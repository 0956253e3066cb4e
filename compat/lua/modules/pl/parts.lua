-- A package of Penlight by its name, ours or that of an installation; nil if there is none.
return function(name)
   local found, package = pcall(require, 'pl.' .. name)
   if found then return package end
   if not tostring(package):find("module 'pl." .. name .. "' not found", 1, true) then error(package, 0) end
end
