-- pl.List: lists as Python's, counting from 1.
local utils = require 'pl.utils'
local tablex = require 'pl.tablex'
local callable = utils.function_arg
local List = {_name = 'List'}
List.__index = List
List._class = List

local function make(t) return setmetatable(t, List) end
setmetatable(List, {__call = function(_, source)
   local list = make{}
   if type(source) == 'table' then for _, value in ipairs(source) do list[#list + 1] = value end
   elseif type(source) == 'function' then for value in source do list[#list + 1] = value end
   elseif source ~= nil then for value in List.iterate(source) do list[#list + 1] = value end end
   return list
end})
function List.new(source) return List(source) end
function List:_init(source) return self:extend(List(source)) end
function List.is_a(_, class) return class == List end
function List:class_of(object) return getmetatable(object) == List end
function List:clone()
   local list = make{}
   return list:extend(self)
end
function List:append(value)
   self[#self + 1] = value
   return self
end
List.push = table.insert
function List:extend(other)
   for i = 1, #other do self[#self + 1] = other[i] end
   return self
end
function List:insert(i, value)
   table.insert(self, i, value)
   return self
end
function List:put(value) return self:insert(1, value) end
function List:remove(i)
   table.remove(self, i)
   return self
end
function List:remove_value(value)
   local i = tablex.find(self, value)
   if i then table.remove(self, i) end
   return self
end
function List:pop(i) return table.remove(self, i and i < 0 and #self + i + 1 or i) end
List.get = List.pop
List.index, List.contains = tablex.find, function(self, value) return tablex.find(self, value) ~= nil end
function List:count(value)
   local n = 0
   for i = 1, #self do if self[i] == value then n = n + 1 end end
   return n
end
function List:sort(compare)
   table.sort(self, compare and callable(1, compare))
   return self
end
function List:sorted(compare) return List(self):sort(compare) end
function List:reverse()
   local n = #self
   for i = 1, math.floor(n / 2) do self[i], self[n - i + 1] = self[n - i + 1], self[i] end
   return self
end
function List:minmax()
   local least, most = math.huge, -math.huge
   for i = 1, #self do least, most = math.min(least, self[i]), math.max(most, self[i]) end
   return least, most
end
function List:slice(first, last) return tablex.sub(self, first, last) end
function List:clear()
   for i = #self, 1, -1 do self[i] = nil end
   return self
end
function List.range(first, last, step)
   if not last then first, last = 1, first end
   return make(tablex.range(first, last, step))
end
function List:len() return #self end
function List:chop(first, last) return tablex.removevalues(self, first, last) end
function List:splice(i, list) return tablex.insertvalues(self, i, list) end
function List:slice_assign(first, last, values)
   tablex.removevalues(self, first, last)
   return tablex.insertvalues(self, first, values)
end
function List.__concat(a, b) return List(a):extend(List(b)) end
function List.__eq(a, b) return tablex.compare(a, b) end
function List:join(separator)
   return table.concat(tablex.imap(tostring, self), separator or '')
end
List.concat = table.concat
function List:__tostring()
   return '{' .. self:join(',') .. '}'
end
function List:foreach(f, ...)
   f = callable(1, f)
   for i = 1, #self do f(self[i], ...) end
end
function List:foreachm(name, ...)
   for i = 1, #self do self[i][name](self[i], ...) end
end
function List:filter(test, argument) return make(tablex.filter(self, test, argument)) end
function List:map(f, ...) return make(tablex.imap(f, self, ...)) end
function List:transform(f, ...)
   tablex.transform(f, self, ...)
   return self
end
function List:map2(f, other, ...) return make(tablex.imap2(f, self, other, ...)) end
function List:mapm(name, ...) return make(tablex.map_named_method(name, self, ...)) end
function List:reduce(f, first) return tablex.reduce(f, self, first) end
function List:partition(classify, ...)
   classify = callable(1, classify)
   local result = {}
   for i = 1, #self do
      local class = classify(self[i], ...)
      if class == nil then class = '<nil>' end
      result[class] = (result[class] or make{}):append(self[i])
   end
   return result
end
function List:iter()
   local i = 0
   return function()
      i = i + 1
      return self[i]
   end
end
function List.iterate(source)
   if type(source) == 'string' then return source:gmatch('.') end
   if type(source) ~= 'table' then error('cannot iterate over a ' .. type(source), 2) end
   return List.iter(source)
end
function List.split(text, separator) return make(utils.split(text, separator)) end
return List
