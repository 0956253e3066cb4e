-- What Torch7's classes do with arguments that they do not take, until they fail: so come its error texts
-- about. `refuse(typename, method, object, ...)` raises them, and returns where nothing is wrong.
-- nn/refusals/NAME.lua is a class, a table of functions by method; THNN, Container and gmodule are several.

local function find(typename, method)
   local name = typename:match('[^.]*$')
   local file = 'nn.refusals.' .. name
   local own = package.preload[file] and require(file)
   if own and own[method] then return own[method] end
   for _, several in ipairs{'THNN', 'Container', 'gmodule'} do
      local known = require('nn.refusals.' .. several)[name]
      if known and known[method] then return known[method] end
   end
end

-- `classes` are the names of those that may refuse for a method, the nearest first.
local function refuse(classes, method, object, ...)
   for _, typename in ipairs(classes) do
      local f = find(typename, method)
      if f then return f(object, ...) end
   end
end

return refuse
