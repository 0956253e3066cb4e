-- pl.Map: a table with the methods of Python's dict.
local class = require 'pl.class'
local tablex = require 'pl.tablex'
local pretty = require 'pl.pretty'
local List = require 'pl.List'
local Map = class()
Map._name = 'Map'
function Map:_init(t)
   if t then self:update(t) end
end
Map.update, Map.len = tablex.update, tablex.size
function Map:keys() return List(tablex.keys(self)) end
function Map:values() return List(tablex.values(self)) end
function Map:iter() return pairs(self) end
function Map:items()
   local items = List()
   for key, value in self:iter() do items:append(List{key, value}) end
   items:sort(function(a, b) return a[1] < b[1] end)
   return items
end
function Map:set(key, value) self[key] = value end
function Map:get(key) return rawget(self, key) end
function Map:setdefault(key, default)
   if self[key] == nil then self:set(key, default) end
   return self[key]
end
function Map:getvalues(keys)
   local values = List()
   for _, key in ipairs(keys) do values:append(self[key]) end
   return values
end
function Map.__eq(a, b) return tablex.deepcompare(a, b, true) end
function Map:__tostring() return (pretty.write(self, '')) end
return Map
