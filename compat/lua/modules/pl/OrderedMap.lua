-- pl.OrderedMap: a map that remembers in which order its keys came.
local class = require 'pl.class'
local List = require 'pl.List'
local Map = require 'pl.Map'
local OrderedMap = class(Map)
OrderedMap._name = 'OrderedMap'
function OrderedMap:_init(t)
   rawset(self, '_keys', List())
   if t then self:update(t) end
end
-- A new key goes to the end; nil takes one away.
function OrderedMap:set(key, value)
   local i = self._keys:index(key)
   if value == nil then
      if i then self._keys:remove(i) end
   elseif not i then self._keys:append(key) end
   rawset(self, key, value)
   return self
end
OrderedMap.__newindex = OrderedMap.set
-- From another ordered map, a table, or a list of {key = value}.
function OrderedMap:update(t)
   if OrderedMap:class_of(t) then
      for key, value in t:iter() do self:set(key, value) end
   elseif #t > 0 then
      for _, pair in ipairs(t) do
         if type(pair) == 'table' then self:set(next(pair)) else return nil, 'cannot use a list of such values' end
      end
   else
      for key, value in pairs(t) do self:set(key, value) end
   end
   return self
end
function OrderedMap:insert(i, key, value)
   local at = self._keys:index(key)
   if at then self._keys:remove(at) end
   self._keys:insert(i, key)
   if value ~= nil then rawset(self, key, value) end
   return self
end
function OrderedMap:keys() return self._keys end
function OrderedMap:values() return self:getvalues(self._keys) end
function OrderedMap:len() return #self._keys end
function OrderedMap:sort(compare)
   self._keys:sort(compare)
   return self
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
function OrderedMap:__tostring()
   local parts = List()
   for key, value in self:iter() do
      parts:append(tostring(key) .. '=' .. (type(value) == 'string' and ('%q'):format(value) or tostring(value)))
   end
   return '{' .. parts:join(',') .. '}'
end
return OrderedMap
