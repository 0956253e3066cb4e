-- `colorize.red(text)`.
local colors = require 'trepl.colors'
return setmetatable({}, {__index = function(_, name)
   return function(text) return (colors[name] or '') .. tostring(text) .. (colors.none or '') end
end})
