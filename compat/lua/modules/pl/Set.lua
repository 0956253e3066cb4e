-- pl.Set: sets, with `+` for the union, `*` the intersection, `-` the difference and `^` what only one has.
local class = require 'pl.class'
local tablex = require 'pl.tablex'
local List = require 'pl.List'
local Map = require 'pl.Map'
local utils = require 'pl.utils'
local Set = class()
Set._name = 'Set'
local function is_set(value) return Set:class_of(value) end
-- Of the keys of a map or another set, or of the items of a list.
function Set:_init(t)
   if t == nil then return end
   if is_set(t) or Map:class_of(t) then for key in pairs(t) do self[key] = true end
   else for _, item in ipairs(t) do self[item] = true end end
end
function Set.values(self) return List(tablex.keys(self)) end
Set.len, Set.__len = tablex.size, tablex.size
function Set.isempty(self) return next(self) == nil end
function Set.map(self, f, ...)
   f = utils.function_arg(1, f)
   local result = Set()
   for item in pairs(self) do result[f(item, ...)] = true end
   return result
end
local function made(wanted)
   return function(a, b)
      if not is_set(b) then b = Set{b} end
      local result = Set()
      for item in pairs(a) do if wanted(true, b[item] == true) then result[item] = true end end
      for item in pairs(b) do if wanted(a[item] == true, true) then result[item] = true end end
      return result
   end
end
Set.union = made(function(a, b) return a or b end)
Set.intersection = made(function(a, b) return a and b end)
Set.difference = made(function(a, b) return a and not b end)
Set.symmetric_difference = made(function(a, b) return a ~= b end)
Set.__add, Set.__mul, Set.__sub, Set.__pow = Set.union, Set.intersection, Set.difference, Set.symmetric_difference
function Set.issubset(a, b)
   for item in pairs(a) do if not b[item] then return false end end
   return true
end
function Set.isdisjoint(a, b) return Set.isempty(Set.intersection(a, b)) end
Set.__lt, Set.__le = Set.issubset, Set.issubset
function Set.__eq(a, b) return Set.issubset(a, b) and Set.issubset(b, a) end
function Set:__tostring() return '[' .. Set.values(self):join(',') .. ']' end
return Set
