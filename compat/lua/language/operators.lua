-- What the operators that rewrite.lua changes do.
local jit, ffi = ...
local type, rawget, getmetatable, error = type, rawget, debug.getmetatable, error

local function handler(x, event)
   local mt = getmetatable(x)
   return mt and rawget(mt, event)
end

-- The operator # asks this in place of a table with __len: what handles an event of a userdata poses as called there.
local waiting
local asked = newproxy(true)
getmetatable(asked).__len = function()
   local t = waiting
   waiting = nil
   return handler(t, '__len')(t, t)
end

-- What # is to be applied to; nothing where it fails, unless x was written only once.
local function measurable(x, once)
   local kind = type(x)
   if kind == 'table' then
      local mt = getmetatable(x)
      if mt and rawget(mt, '__len') ~= nil then
         waiting = x
         return asked
      end
      return x
   end
   if once or kind == 'string' or kind == 'userdata' or kind == 'cdata' then return x end
end

-- x < y, or x <= y: the first one's handler, else the second's.
local function compare(x, y, or_equal)
   local kind, other = type(x), type(y)
   if kind == other and (kind == 'number' or kind == 'string') or kind == 'cdata' or other == 'cdata' then
      if or_equal then return x <= y end
      return x < y
   end
   local event = or_equal and '__le' or '__lt'
   local h = handler(x, event) or handler(y, event)
   if h then return h(x, y) end
   if or_equal then
      h = handler(y, '__lt') or handler(x, '__lt')
      if h then return not h(y, x) end
      kind, other = other, kind
   end
   if kind == other then return error('attempt to compare two ' .. kind .. ' values') end
   return error('attempt to compare ' .. kind .. ' with ' .. other)
end

if jit then
   ffi.metatype('complex', {__call = function(_, x, how, y)
      if how == nil or how == 1 then return measurable(x, how) end
      if how > 3 then return compare(y, x, how == 5) end
      return compare(x, y, how == 3)
   end})
else
   -- true ^ x where x is written twice, false ^ x where it is not.
   debug.setmetatable(true, {__metatable = false, __pow = function(repeated, x) return measurable(x, not repeated) end})
end
