-- Package class: classes with single inheritance, by name, outside of torch's.
local env = require 'argcheck.env'
local class, metatables, by_ctype = {}, {}, {}

function class.new(name, parentname, ctype)
   assert(type(name) == 'string', 'the name of a class is a string')
   assert(not metatables[name], ('class <%s> already exists'):format(name))
   local parent = metatables[parentname]
   assert(parent or not parentname, ('parent class <%s> does not exist'):format(tostring(parentname)))
   local methods = {__typename = name, __init = function() end}  -- which no class inherits
   methods.__index = methods
   function methods.__factory() return setmetatable({}, methods) end
   function methods.new(...)
      local object = methods.__factory()
      object:__init(...)
      return object
   end
   if parent then setmetatable(methods, parent) end
   if ctype then by_ctype[tonumber(ctype)] = name end
   metatables[name] = methods
   local constructor = setmetatable({}, {
      __index = methods, __newindex = methods, __metatable = methods,
      __call = function(_, ...) return methods.new(...) end,
   })
   return constructor, parent
end

function class.factory(name)
   return assert(metatables[name], ('unknown class <%s>'):format(tostring(name))).__factory()
end

function class.metatable(name) return metatables[name] end

local function typename(object)
   local kind = type(object)
   if kind == 'cdata' then return by_ctype[tonumber(require('ffi').typeof(object))] end
   local methods = (kind == 'table' or kind == 'userdata') and getmetatable(object)
   return type(methods) == 'table' and rawget(methods, '__typename') or nil
end

function class.type(object) return typename(object) or type(object) end

function class.istype(object, name)
   local own = typename(object)
   if not own or not metatables[name] then return class.type(object) == name end
   local methods = metatables[own]
   while methods and methods ~= metatables[name] do methods = getmetatable(methods) end
   return methods ~= nil
end

env.istype = class.istype
return setmetatable(class, {__call = function(_, ...) return class.new(...) end})
