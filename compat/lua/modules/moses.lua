-- The functions of Moses 1.6 that Torch7's packages use. Arguments of callbacks are (key, value).
local moses = {_VERSION = 'Moses 1.6'}

local function is_table(x) return type(x) == 'table' end
local function is_number(x) return type(x) == 'number' end

function moses.clone(object, shallow)
   if not is_table(object) then return object end
   local copy = {}
   for key, value in pairs(object) do
      copy[key] = shallow and value or moses.clone(value)
   end
   return copy
end

-- A callback may return (key, value) instead of a value.
function moses.map(t, f, ...)
   local found = {}
   for key, value in pairs(t) do
      local first, second = f(key, value, ...)
      if second then found[first] = second else found[key] = first end
   end
   return found
end

function moses.each(t, f, ...)
   for key, value in pairs(t) do f(key, value, ...) end
end

-- A list of the values that are kept, in the order of pairs.
function moses.select(t, f, ...)
   local found = {}
   for key, value in pairs(t) do
      if f(key, value, ...) then found[#found + 1] = value end
   end
   return found
end
moses.filter = moses.select

function moses.reject(t, f, ...)
   local extra = {...}
   return moses.select(t, function(key, value) return not f(key, value, unpack(extra)) end)
end

function moses.compact(t)
   return moses.select(t, function(_, value) return value end)
end

function moses.keys(t)
   local found = {}
   for key in pairs(t) do found[#found + 1] = key end
   return found
end

function moses.values(t)
   return moses.select(t, function() return true end)
end

-- How many entries a table has, or how many arguments there are.
function moses.size(...)
   local t = ...
   return #moses.keys(is_table(t) and t or {...})
end

function moses.indexOf(list, value)
   for i, entry in ipairs(list) do
      if entry == value then return i end
   end
end

-- value may be a function that tells whether an entry is meant. Tables with the same entries are equal.
function moses.contains(t, value)
   local is_it = type(value) == 'function' and value or function(entry) return moses.isEqual(entry, value) end
   for _, entry in pairs(t) do
      if is_it(entry) then return true end
   end
   return false
end
moses.include = moses.contains

function moses.slice(list, first, last)
   local found = {}
   for i = math.max(first or 1, 1), math.min(last or #list, #list) do found[#found + 1] = list[i] end
   return found
end

function moses.first(list, count) return moses.slice(list, 1, count or 1) end

-- The last `count` entries; without it, all but the first.
function moses.last(list, count)
   if count and count <= 0 then return end
   return moses.slice(list, count and #list - count + 1 or 2)
end

function moses.reverse(list)
   local found = {}
   for i = #list, 1, -1 do found[#found + 1] = list[i] end
   return found
end

function moses.sort(list, compare)
   table.sort(list, compare)
   return list
end

function moses.isEqual(a, b)
   if not (is_table(a) and is_table(b)) then return a == b end
   for key, value in pairs(a) do
      if not moses.isEqual(value, b[key]) then return false end
   end
   for key in pairs(b) do
      if a[key] == nil then return false end
   end
   return true
end

function moses.isEmpty(x)
   if type(x) == 'string' then return x == '' end
   return not is_table(x) or next(x) == nil
end

function moses.isNaN(x) return is_number(x) and x ~= x end

function moses.isFinite(x) return is_number(x) and x > -math.huge and x < math.huge end

return moses
