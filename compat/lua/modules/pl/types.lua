-- pl.types
local utils = require 'pl.utils'
local types = {is_callable = utils.is_callable, is_type = utils.is_type}
function types.type(value)
   local mt = getmetatable(value)
   return type(mt) == 'table' and mt._name or io.type(value) and 'file' or type(value)
end
function types.is_integer(x) return math.ceil(x) == x end
function types.is_empty(value, ignore_spaces)
   if value == nil then return true end
   if type(value) == 'table' then return next(value) == nil end
   if type(value) ~= 'string' then return true end
   return value == '' or ignore_spaces == true and value:find('^%s+$') ~= nil
end
function types.is_indexable(value) return type(value) == 'table' end
function types.is_iterable(value) return type(value) == 'table' end
function types.is_writeable(value) return type(value) == 'table' end
function types.to_bool(value, words)
   if type(value) == 'boolean' then return value end
   if type(value) == 'number' then return value ~= 0 end
   local text = tostring(value):lower()
   for _, word in ipairs{'yes', 'y', 'true', 't', '1', unpack(words or {})} do if text == word then return true end end
   return false
end
return types
