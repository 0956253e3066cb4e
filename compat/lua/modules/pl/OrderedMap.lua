-- pl.OrderedMap: a map that remembers in which order its keys came.
local OrderedMap = {_name = 'OrderedMap'}
OrderedMap.__index = OrderedMap
setmetatable(OrderedMap, {__call = function(_, t)
   local map = setmetatable({_keys = {}}, OrderedMap)
   return t and map:update(t) or map
end})
local function place(self, key)
   for i, name in ipairs(self._keys) do if name == key then return i end end
end
function OrderedMap:set(key, value)
   local i = place(self, key)
   if value == nil then
      if i then table.remove(self._keys, i) end
   elseif not i then table.insert(self._keys, key) end
   rawset(self, key, value)
   return self
end
function OrderedMap:update(t)
   for key, value in pairs(t) do if key ~= '_keys' then self:set(key, value) end end
   return self
end
function OrderedMap:keys() return setmetatable({unpack(self._keys)}, require 'pl.List') end
function OrderedMap:values()
   local values = {}
   for i, key in ipairs(self._keys) do values[i] = self[key] end
   return setmetatable(values, require 'pl.List')
end
function OrderedMap:iter()
   local i = 0
   return function()
      i = i + 1
      local key = self._keys[i]
      if key ~= nil then return key, self[key] end
   end
end
OrderedMap.__pairs = OrderedMap.iter
return OrderedMap
