-- What Torch7's classes do with arguments that they do not take, until they fail: so come its error texts
-- about. `refuse(typename, method, object, ...)` raises them, and returns where nothing is wrong.
-- nn/refusals/NAME.lua is a class, a table of functions by method; THNN, Containers and gmodule are several.
local refuse

local function find(typename, method)
   local name = typename:match('[^.]*$')
   for _, several in ipairs{'THNN', 'Containers', 'gmodule'} do
      local known = require('nn.refusals.' .. several)[name]
      if known and known[method] then return known[method] end
   end
   local file = 'nn.refusals.' .. name
   local known = package.preload[file] and require(file)
   return known and known[method]
end

function refuse(typename, method, object, ...)
   local mt = torch.getmetatable(typename)
   while mt and mt.__typename do
      local f = find(mt.__typename, method)
      if f then return f(object, ...) end
      mt = debug.getmetatable(mt)
   end
end

return refuse
