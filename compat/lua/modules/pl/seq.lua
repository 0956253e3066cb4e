-- pl.seq: iterators over sequences.
local utils = require 'pl.utils'
local callable = utils.function_arg
local seq = {}
function seq.list(t)
   if type(t) == 'function' then return t end
   local i = 0
   return function()
      i = i + 1
      return t[i]
   end
end
function seq.copy(iterator)
   local result = {}
   for value in seq.list(iterator) do result[#result + 1] = value end
   return setmetatable(result, require 'pl.List')
end
function seq.range(first, last)
   if not last then first, last = 1, first end
   local i = first - 1
   return function()
      i = i + 1
      if i <= last then return i end
   end
end
function seq.map(f, iterator, ...)
   f = callable(1, f)
   local more, next_value = {...}, seq.list(iterator)
   return function()
      local value = next_value()
      if value ~= nil then return f(value, unpack(more)) end
   end
end
function seq.filter(iterator, test, argument)
   test = callable(2, test)
   local next_value = seq.list(iterator)
   return function()
      local value
      repeat value = next_value() until value == nil or test(value, argument)
      return value
   end
end
function seq.reduce(f, iterator, first)
   f = callable(1, f)
   for value in seq.list(iterator) do if first == nil then first = value else first = f(first, value) end end
   return first
end
function seq.sum(iterator, f)
   local total, n = 0, 0
   for value in seq.list(iterator) do
      total, n = total + (f and f(value) or value), n + 1
   end
   return total, n
end
function seq.minmax(iterator)
   local least, most = math.huge, -math.huge
   for value in seq.list(iterator) do least, most = math.min(least, value), math.max(most, value) end
   return least, most
end
-- The pairs that it gives.
function seq.copy2(iterator, state, control)
   local found = {}
   for first, second in iterator, state, control do found[#found + 1] = {first, second} end
   return found
end
function seq.count(iterator, test, argument) return #seq.copy(test and seq.filter(iterator, test, argument) or iterator) end
function seq.take(iterator, n)
   local i, next_value = 0, seq.list(iterator)
   return function()
      i = i + 1
      if i <= n then return next_value() end
   end
end
function seq.zip(a, b)
   a, b = seq.list(a), seq.list(b)
   return function() return a(), b() end
end
function seq.unique(iterator, as_list)
   local seen, found = {}, {}
   for value in seq.list(iterator) do
      if not seen[value] then seen[value], found[#found + 1] = true, value end
   end
   return as_list and setmetatable(found, require 'pl.List') or seq.list(found)
end
function seq.count_map(iterator)
   local counts = {}
   for value in seq.list(iterator) do counts[value] = (counts[value] or 0) + 1 end
   return require 'pl.Map'(counts)
end
function seq.skip(iterator, n)
   local next_value = seq.list(iterator)
   for _ = 1, n do if next_value() == nil then return function() end end end
   return next_value
end
function seq.enum(iterator)
   local i, next_value = 0, seq.list(iterator)
   return function()
      local value = next_value()
      i = i + 1
      if value ~= nil then return i, value end
   end
end
function seq.sort(iterator, compare)
   local values = seq.copy(iterator)
   return seq.list(values:sort(compare))
end
function seq.foreach(iterator, f)
   f = callable(1, f)
   for value in seq.list(iterator) do f(value) end
end
function seq.last(iterator)
   local next_value = seq.list(iterator)
   local previous = next_value()
   return function()
      local value = next_value()
      if value == nil then return nil end
      local before = previous
      previous = value
      return value, before
   end
end
seq.keys = function(t) return seq.list(require('pl.tablex').keys(t)) end
function seq.printall(iterator, separator, width, format)
   local values = seq.copy(iterator):map(format or tostring)
   io.write(values:join(separator or ' '), '\n')
end

-- `seq(list):map(f):filter(g):copy()`: the functions as methods, each of which gives such an object again.
local Chain = {}
Chain.__index = function(_, name)
   local f = seq[name]
   return f and function(self, ...)
      local given = {...}
      local results
      if name == 'map' or name == 'reduce' then results = {f(given[1], self.iterator, unpack(given, 2))}
      else results = {f(self.iterator, ...)} end
      if type(results[1]) == 'function' then return seq(results[1]) end
      return unpack(results)
   end
end
Chain.__call = function(self) return self.iterator() end
return setmetatable(seq, {__call = function(_, source) return setmetatable({iterator = seq.list(source)}, Chain) end})
