-- pl.class: `class.Name(Base)`, `class(Base)`, `class{_init = function(self) … end}`.
local function is_a(self, class)
   local mine = rawget(self, '_class') and self or getmetatable(self)
   if class == nil then return getmetatable(self) end
   while mine do
      if mine == class then return true end
      mine = rawget(mine, '_base')
   end
   return false
end

local function new_class(base, methods)
   local class = {}
   if base then
      for key, value in pairs(base) do class[key] = value end
   end
   if methods then for key, value in pairs(methods) do class[key] = value end end
   class._base = base
   class.__index = class
   class._class = class
   class.is_a, class.class_of = is_a, function(_, object) return type(object) == 'table' and getmetatable(object) ~= nil and is_a(object, class) end
   class.cast = function(_, object) return setmetatable(object, class) end
   -- What is to give fields that objects do not have: a function of object and name, or a table.
   class.catch = function(_, handler)
      if type(handler) == 'table' then
         local t = handler
         handler = function(_, name) return t[name] end
      end
      class.__index = function(object, name)
         local value = class[name]
         if value == nil then value = handler(object, name) end
         return value
      end
   end
   return setmetatable(class, {
      __call = function(_, ...)
         local object = setmetatable({}, class)
         -- `self:super(...)` is the constructor of the class above, at each level.
         local function construct(level, ...)
            local init = rawget(level, '_init')
            local above = level._base
            if init then
               -- Past what the class makes of new fields.
               rawset(object, 'super', above and above._init and function(_, ...)
                  local mine = rawget(object, 'super')
                  construct(above, ...)
                  rawset(object, 'super', mine)
               end or nil)
               local result = init(object, ...)
               if result then object = result end
               rawset(object, 'super', nil)
            elseif above then construct(above, ...) end
         end
         if class._create then object = setmetatable(class._create(...), class) end
         construct(class, ...)
         if class._post_init then class._post_init(object) end
         return object
      end,
      __tostring = function() return class._name or 'class' end,
   })
end

local function make(base, name)
   local methods
   if type(base) == 'table' and not rawget(base, '_class') then
      methods, base = base, rawget(base, '_base')
   end
   local class = new_class(base, methods)
   if methods then class._base = base end
   class._name = name or class._name
   return class
end

local class = setmetatable({}, {
   __call = function(_, base) return make(base) end,
   __index = function(self, name)
      return function(base)
         local made = make(base, name)
         rawset(_G, name, made)
         return made
      end
   end,
})
return class
