-- pl.tablex
local utils = require 'pl.utils'
local callable = utils.function_arg
local tablex = {}

-- Gives a result the class of `t`, else that of Penlight's name, if there is one.
local function like(t, result, class)
   return setmetatable(result, getmetatable(t) or class and require('pl.' .. class))
end
local function of_class(class, result) return setmetatable(result, require('pl.' .. class)) end

function tablex.update(a, b)
   for key, value in pairs(b) do a[key] = value end
   return a
end
function tablex.size(t)
   local n = 0
   for _ in pairs(t) do n = n + 1 end
   return n
end
function tablex.copy(t) return tablex.update({}, t) end
function tablex.deepcopy(t, seen)
   if type(t) ~= 'table' then return t end
   seen = seen or {}
   if seen[t] then return seen[t] end
   local copy = {}
   seen[t] = copy
   for key, value in pairs(t) do copy[tablex.deepcopy(key, seen)] = tablex.deepcopy(value, seen) end
   return like(t, copy)
end
function tablex.deepcompare(a, b, ignore_mt, eps)
   if type(a) ~= type(b) then return false end
   if type(a) ~= 'table' then
      if eps and type(a) == 'number' then return math.abs(a - b) < eps end
      return a == b
   end
   local mt = getmetatable(a)
   if not ignore_mt and mt and mt.__eq then return a == b end
   for key, value in pairs(a) do
      if b[key] == nil or not tablex.deepcompare(value, b[key], ignore_mt, eps) then return false end
   end
   for key in pairs(b) do if a[key] == nil then return false end end
   return true
end
function tablex.compare(a, b, same)
   if #a ~= #b then return false end
   same = callable(3, same or '==')
   for i = 1, #a do if not same(a[i], b[i]) then return false end end
   return true
end
function tablex.compare_no_order(a, b)
   if #a ~= #b then return false end
   local counts = {}
   for _, value in ipairs(a) do counts[value] = (counts[value] or 0) + 1 end
   for _, value in ipairs(b) do
      if not counts[value] or counts[value] == 0 then return false end
      counts[value] = counts[value] - 1
   end
   return true
end

function tablex.find(t, value, from)
   from = from or 1
   for i = from < 0 and #t + from + 1 or from, #t do if t[i] == value then return i end end
   return nil
end
function tablex.rfind(t, value, from)
   from = from or #t
   for i = from < 0 and #t + from + 1 or from, 1, -1 do if t[i] == value then return i end end
   return nil
end
function tablex.search(t, value, excluded)
   local function walk(t, path, seen)
      for key, item in pairs(t) do
         if item == value then return path .. tostring(key) end
      end
      seen[t] = true
      for key, item in pairs(t) do
         if type(item) == 'table' and not seen[item] and not tablex.find(excluded or {}, item) then
            local found = walk(item, path .. tostring(key) .. '.', seen)
            if found then return found end
         end
      end
   end
   return walk(t, '', {})
end
function tablex.find_if(t, test, argument)
   test = callable(2, test)
   for key, value in pairs(t) do
      local found = test(value, argument)
      if found then return key, found end
   end
   return nil
end

function tablex.map(f, t, ...)
   f = callable(1, f)
   local result = {}
   for key, value in pairs(t) do result[key] = f(value, ...) end
   return like(t, result)
end
function tablex.imap(f, t, ...)
   f = callable(1, f)
   local result = {}
   for i = 1, #t do
      local value = f(t[i], ...)
      result[i] = value == nil and false or value
   end
   return like(t, result, 'List')
end
function tablex.map_named_method(name, t, ...)
   local result = {}
   for i = 1, #t do result[i] = t[i][name](t[i], ...) end
   return like(t, result, 'List')
end
function tablex.transform(f, t, ...)
   f = callable(1, f)
   for key, value in pairs(t) do t[key] = f(value, ...) end
end
function tablex.range(first, last, step)
   local result = {}
   for i = first, last, step or (first > last and -1 or 1) do result[#result + 1] = i end
   return of_class('List', result)
end
function tablex.map2(f, a, b, ...)
   f = callable(1, f)
   local result = {}
   for key, value in pairs(a) do result[key] = f(value, b[key], ...) end
   return like(a, result)
end
function tablex.imap2(f, a, b, ...)
   f = callable(1, f)
   local result = {}
   for i = 1, math.min(#a, #b) do result[i] = f(a[i], b[i], ...) end
   return like(a, result, 'List')
end
function tablex.mapn(f, ...)
   f = callable(1, f)
   local lists, result, shortest = {...}, {}, math.huge
   for _, list in ipairs(lists) do shortest = math.min(shortest, #list) end
   for i = 1, shortest do
      local arguments = {}
      for k, list in ipairs(lists) do arguments[k] = list[i] end
      result[i] = f(unpack(arguments, 1, #lists))
   end
   return result
end
function tablex.pairmap(f, t, ...)
   f = callable(1, f)
   local result = {}
   for key, value in pairs(t) do
      local item, name = f(key, value, ...)
      if name then
         if result[name] then result[name] = {result[name], item} else result[name] = item end
      else result[#result + 1] = item end
   end
   return result
end
function tablex.reduce(f, t, first)
   f = callable(1, f)
   local from = 1
   if first == nil then first, from = t[1], 2 end
   for i = from, #t do first = f(first, t[i]) end
   return first
end
function tablex.foreach(t, f, ...)
   f = callable(2, f)
   for key, value in pairs(t) do f(value, key, ...) end
end
function tablex.foreachi(t, f, ...)
   f = callable(2, f)
   for i = 1, #t do f(t[i], i, ...) end
end
function tablex.filter(t, test, argument)
   test = callable(2, test)
   local result = {}
   for i = 1, #t do if test(t[i], argument) then result[#result + 1] = t[i] end end
   return like(t, result, 'List')
end
function tablex.zip(...)
   return tablex.mapn(function(...) return {...} end, ...)
end

function tablex.keys(t)
   local result = {}
   for key in pairs(t) do result[#result + 1] = key end
   return of_class('List', result)
end
function tablex.values(t)
   local result = {}
   for _, value in pairs(t) do result[#result + 1] = value end
   return of_class('List', result)
end
function tablex.index_by(t, indices)
   local result = {}
   for _, index in ipairs(indices) do result[#result + 1] = t[index] end
   return like(t, result, 'List')
end
function tablex.index_map(t)
   local result = {}
   for i = 1, #t do result[t[i]] = i end
   return of_class('Map', result)
end
function tablex.makeset(t)
   local result = {}
   for i = 1, #t do result[t[i]] = true end
   return of_class('Set', result)
end
function tablex.merge(a, b, union)
   local result = {}
   for key, value in pairs(a) do if union or b[key] ~= nil then result[key] = value end end
   if union then for key, value in pairs(b) do result[key] = value end end
   return like(a, result, 'Map')
end
function tablex.union(a, b) return tablex.merge(a, b, true) end
function tablex.intersection(a, b) return tablex.merge(a, b, false) end
function tablex.difference(a, b, symmetric)
   local result = {}
   for key, value in pairs(a) do if b[key] == nil then result[key] = value end end
   if symmetric then for key, value in pairs(b) do if a[key] == nil then result[key] = value end end end
   return like(a, result, 'Map')
end
function tablex.count_map(t)
   local counts = {}
   for i = 1, #t do counts[t[i]] = (counts[t[i]] or 0) + 1 end
   return of_class('Map', counts)
end

local function place(t, i, default)
   i = i or default
   return i < 0 and #t + i + 1 or i
end
function tablex.sub(t, first, last)
   local result = {}
   for i = place(t, first, 1), math.min(place(t, last, -1), #t) do result[#result + 1] = t[i] end
   return like(t, result, 'List')
end
function tablex.set(t, value, first, last)
   for i = first or 1, last or #t do t[i] = value end
end
function tablex.new(n, value)
   local result = {}
   for i = 1, n do result[i] = value end
   return result
end
function tablex.clear(t, first)
   for i = #t, first or 1, -1 do t[i] = nil end
end
function tablex.removevalues(t, first, last)
   first, last = place(t, first, 1), math.min(place(t, last, #t), #t)
   for _ = first, last do table.remove(t, first) end
   return t
end
function tablex.insertvalues(t, position, values)
   if values == nil then position, values = #t + 1, position end
   for i = #values, 1, -1 do table.insert(t, position, values[i]) end
   return t
end
function tablex.icopy(target, source, at, first, n)
   at, first = at or 1, first or 1
   for i = 0, math.min(n or #source, #source - first + 1) - 1 do target[at + i] = source[first + i] end
   -- The target ends with what was copied.
   for i = #target, at + math.min(n or #source, #source - first + 1), -1 do target[i] = nil end
   return target
end
function tablex.move(target, source, at, first, n)
   at, first, source = at or 1, first or 1, tablex.copy(source)
   for i = 0, math.min(n or #source, #source - first + 1) - 1 do target[at + i] = source[first + i] end
   return target
end

local function order(compare)
   if compare then compare = callable(2, compare) end
   return compare or function(a, b) return a < b end
end
function tablex.sort(t, compare)
   local keys = tablex.keys(t)
   table.sort(keys, compare and callable(2, compare))
   local i = 0
   return function()
      i = i + 1
      if keys[i] ~= nil then return keys[i], t[keys[i]] end
   end
end
function tablex.sortv(t, compare)
   compare = order(compare)
   local keys = tablex.keys(t)
   table.sort(keys, function(a, b) return compare(t[a], t[b]) end)
   local i = 0
   return function()
      i = i + 1
      if keys[i] ~= nil then return keys[i], t[keys[i]] end
   end
end
function tablex.readonly(t)
   return setmetatable({}, {__index = t, __newindex = function() error('Attempt to modify read-only table', 2) end})
end
return tablex
