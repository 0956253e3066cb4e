-- Objects of Python classes: tables without content in Lua, whose fields and methods are Python's.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local registry, exporters, to_lua, to_lua_as = t7.registry, t7.exporters, t7.to_lua, t7.to_lua_as
local held_by, table_from_python = t7.held_by, t7.table_from_python
local rawget, rawset, type, select, next, unpack, rawequal = rawget, rawset, type, select, next, unpack, rawequal
local setmetatable, collectgarbage = setmetatable, collectgarbage
local getmetatable = debug.getmetatable
local to_python = t7.to_python

local py_of = setmetatable({}, {__mode = 'k'})   -- Python's object of a table
local proxies = setmetatable({}, {__mode = 'v'}) -- table by the identity of Python's object
local class_of, mt_of, cache = {}, {}, {}        -- Python's class of a metatable; the other way; methods
local derived = {}                               -- metatables of classes that Lua made
local python_of = t7.python_of
local overrides = setmetatable({}, {__mode = 'k'}) -- methods of single objects
local objects                                    -- functions of compat.lua.objects
t7.packages = {}

-- Methods -------------------------------------------------------------------------------------------------

local function trimmed(...)
   local n = select('#', ...)
   while n > 0 and select(n, ...) == nil do n = n - 1 end
   return n
end

local send = t7.send
local function python_caller(f, is_method)
   local most, least, silent = call(objects.arity, f)
   most = most or math.huge
   local function g(...)
      if is_method and (...) == nil then t7.error_here("attempt to index local 'self' (a nil value)") end
      local n = trimmed(...)
      if n > most then n = most elseif n < least then n = least end
      return send(f, n, ...)
   end
   local h = silent and function(...) g(...) end or g
   python_of[h] = f
   return h
end
t7.python_caller = python_caller

-- Classes -------------------------------------------------------------------------------------------------

local index, newindex, root

-- Methods that differ in Lua from those of Python, of classes of Python: `converters[metatable][key]`.
local converters = {}

-- What files hold of methods that are Python's or ours: the source of a function that calls them by their names.
local sources = setmetatable({}, {__mode = 'k'})
function t7.source_of(f) return sources[f] end

local function method_of(mt, key)
   local known = cache[mt][key]
   if known ~= nil then return known or nil end
   if type(key) ~= 'string' then return nil end
   local kind, f, base = call(objects.method, class_of[mt], key)
   local here, at = mt_of[base], mt
   while at do
      local other = converters[at] and converters[at][key]
      -- What a script puts in the place of a method of ours is newer than ours.
      if other and not (at == here and kind == 'lua') then kind, f = 'ours', other break end
      if at == here then break end
      at = getmetatable(at)
      if at == root then at = nil end
   end
   -- That there is none is known, too.
   if kind == nil then f = false
   elseif kind == 'python' then f = python_caller(f, true)
   end
   if f and kind ~= 'lua' then
      sources[f] = ('return torch.getmetatable(%q)[%q](...)'):format(registry[kind == 'ours' and at or here or mt], key)
   end
   cache[mt][key] = f
   return f or nil
end

-- Gives a class of Python a method that only Lua sees.
function t7.adapt(typename, methods)
   local mt = registry[typename]
   converters[mt] = converters[mt] or {}
   for key, f in next, methods do converters[mt][key] = f end
   for other in next, cache do cache[other] = {} end
end

local function find_raw(mt, key)
   while mt and mt ~= root do
      local value = rawget(mt, key)
      if value ~= nil then return value end
      mt = getmetatable(mt)
   end
end

local function set_class_field(mt, key, value)
   if type(value) == 'function' or (value == nil and rawget(mt, key) == nil) then
      local f = value
      if value ~= nil then f = python_of[value] or call(python.make_function, value, t7.pointer(value)) end
      call(objects.set_method, class_of[mt], key, f)
      for other in next, cache do cache[other] = {} end
   else
      rawset(mt, key, value)
      if type(value) ~= 'table' then call(objects.set_class_value, class_of[mt], key, to_python(value)) end
   end
end

function index(self, key)
   local obj = py_of[self]
   if obj then
      local mt = getmetatable(self)
      local own_methods = overrides[self]
      local f = own_methods and own_methods[key] or cache[mt][key]
      if f then return f end
      if type(key) ~= 'string' then return nil end
      local value, kind, id = call(objects.field, obj, key)
      if kind == 'table' then return table_from_python(value, id, obj)
      elseif kind == 'own' then return value
      elseif kind == 'python own' then return python_caller(value)
      elseif value ~= nil then return to_lua_as(value, kind, id)
      end
      return method_of(mt, key) or find_raw(mt, key)
   end
   if class_of[self] then return method_of(self, key) or find_raw(getmetatable(self), key) end
end

function newindex(self, key, value)
   local obj = py_of[self]
   if not obj then
      if class_of[self] then return set_class_field(self, key, value) end
      return rawset(self, key, value)
   end
   if type(key) ~= 'string' then return rawset(self, key, value) end
   local own_methods = overrides[self]
   if type(value) == 'function' then
      if not own_methods then own_methods = {}; overrides[self] = own_methods end
      own_methods[key] = value
      call(objects.set_field, obj, key, python_of[value] or call(python.make_function, value, t7.pointer(value)))
      return
   end
   if own_methods then own_methods[key] = nil end
   call(objects.set_field, obj, key, t7.as_field(value))
   held_by(value, obj)
end

root = {__index = function(self, key) return class_of[self] and method_of(self, key) end,
              __newindex = function(self, key, value)
                 if class_of[self] then return set_class_field(self, key, value) end
                 rawset(self, key, value)
              end,
              __metatable = false}   -- Torch7's have none: scripts that go up the parents end here

local define

local function new_table(obj, id, mt)
   local self = setmetatable({}, mt)
   py_of[self], proxies[id] = obj, self
   return self
end

-- The table for an object.
local function instance(obj)
   local id, class_id, cls, own_names = call(objects.describe, obj)
   local self, mt = proxies[id], mt_of[class_id] or define(cls)
   if self then
      -- Python may have made it an object of another class.
      if getmetatable(self) ~= mt then debug.setmetatable(self, mt) end
      return self
   end
   self = new_table(obj, id, mt)
   if own_names then
      local own_methods = {}
      for _, name in ipairs(own_names) do own_methods[name] = call(objects.field, obj, name) end
      overrides[self] = own_methods
   end
   return self
end
t7.instance = instance
-- The same for one of the identity and class that it had when it was described.
function t7.known_instance(obj, id) return proxies[id] or instance(obj) end

local function export(self)
   local mt = getmetatable(self)
   local class = rawget(mt, '__metatable')
   -- What constructs objects of a class stands for it.
   local obj = py_of[self] or not rawequal(mt, class) and class_of[class]
   if not obj then t7.error('an object without content') end
   return obj
end

local fields_of
local function pairs_of(self)
   if py_of[self] then return next, fields_of(self), nil end
   return next, self, nil
end

local function prepare(mt, cls, class_id)
   class_of[mt], mt_of[class_id], cache[mt] = cls, mt, {}
   mt.__index, mt.__newindex = index, newindex
   rawset(mt, '__pairs', pairs_of)
   if not getmetatable(mt) then debug.setmetatable(mt, root) end
   exporters[mt] = export
end

local function bare(mt)
   local obj, id = call(objects.bare, class_of[mt])
   return new_table(obj, id, mt)
end

local function package_of(name)
   local package = name:match('^(.-)%.')
   if not package then return _G end
   local place = t7.packages[package] or rawget(_G, package)
   if not place then
      place = {}
      t7.packages[package] = place
   end
   return place
end

-- Layers count with strings, as Lua does: '40' is 40.
local function numbers(value, ...)
   if type(value) == 'string' then value = tonumber(value) or value end
   if select('#', ...) == 0 then return value end
   return value, numbers(...)
end

-- The metatable for a class of Python, made with its parents. `name` if it is not the class's own.
function define(cls)
   local class_id, name, parent, version = call(objects.describe_class, cls)
   if mt_of[class_id] then return mt_of[class_id] end
   local parent_mt = parent and (mt_of[(call(objects.describe_class, parent))] or define(parent))
   local mt
   local most, is_layer = call(objects.arity, cls) or math.huge, name:find('^nn%.')
   local function constructor(...)
      if call(objects.method, cls, '__init') == 'lua' then
         local self = bare(mt)
         self:__init(...)
         return self
      end
      local n = trimmed(...)
      if n > most then n = most end
      if is_layer then return send(objects.construct, n + 1, cls, numbers(...)) end
      return send(objects.construct, n + 1, cls, ...)
   end
   if registry[name] then name = name .. '#' .. class_id end
   mt = torch.newmetatable(name, parent_mt and registry[parent_mt], constructor, nil,
                           function() return bare(mt) end, package_of(name))
   prepare(mt, cls, class_id)
   mt.__version = version
   if not parent_mt then
      -- Methods of these names that a class has itself, as a file does, are no hooks of torch.save.
      local mark = call(objects.method, cls, 'write') and '__' or ''
      converters[mt] = {[mark .. 'write'] = t7.object_files.write, [mark .. 'read'] = t7.object_files.read}
   end
   return mt
end
t7.define_class = define

-- Storages are sizes in calls, and stay storages in fields.
local as_fields = false
function t7.storage_to_python(v)
   local flat = t7.export_storage(v, as_fields)
   if not objects then return flat end
   if as_fields then return call(objects.storage, flat) end
   if torch.typename(v) == 'torch.LongStorage' then return call(objects.numbers, flat) end
   return flat
end
local function with_storages(f, ...)
   local before = as_fields
   as_fields = true
   local ok, result = pcall(f, ...)
   as_fields = before
   if not ok then error(result, 0) end
   return result
end
local function as_field(v)
   local kind = type(v)
   if kind == 'userdata' and not t7.storage_classes[getmetatable(v)] or kind ~= 'userdata' and not t7.is_table(v) then
      return to_python(v)
   end
   return with_storages(to_python, v)
end

t7.as_field = as_field

-- Has an object become what a file says: `fields` is nobody's afterwards.
local function restore(obj, fields, version)
   with_storages(t7.give_content, objects.restore, obj, version or 1, fields)
end

-- Files
local WRITERS = {
   OBJECT = function(file, v) file:writeObject(to_lua(v)) end,
   BOOL = function(file, v) file:writeBool(v) end,
   SHORT = function(file, v) file:writeShort(v) end,
   INT = function(file, v) file:writeInt(v) end,
   LONG = function(file, v) file:writeLong(v) end,
   FLOAT = function(file, v) file:writeFloat(v) end,
   DOUBLE = function(file, v) file:writeDouble(v) end,
   bytes = function(file, v)
      v = to_lua(v)
      if #v > 0 then file:writeChar(torch.CharStorage():string(v)) end
   end,
}
local READERS = {
   OBJECT = function(file) return as_field(file:readObject()) end,
   BOOL = function(file) return file:readBool() end,
   SHORT = function(file) return file:readShort() end,
   INT = function(file) return file:readInt() end,
   LONG = function(file) return file:readLong() end,
   FLOAT = function(file) return file:readFloat() end,
   DOUBLE = function(file) return file:readDouble() end,
   bytes = function(file, n) return n > 0 and file:readChar(n):string() or '' end,
}
WRITERS.FIELDS, READERS.FIELDS = WRITERS.OBJECT, READERS.OBJECT

-- Whether a class has ways of its own to be read from a file, and written.
local ways = setmetatable({}, {__index = function(self, mt)
   local found = {call(objects.hooks, class_of[mt])}
   self[mt] = found
   return found
end})

local hidden = {}
function hidden.write(self, file)
   local obj = py_of[self]
   if not ways[getmetatable(self)][2] then return file:writeObject(send(objects.saved_fields, 1, self)) end
   local kinds, values, n = call(objects.written, obj)
   for i = 1, n do WRITERS[kinds[i]](file, values[i]) end
end
function hidden.read(self, file, version)
   local obj = py_of[self]
   if not ways[getmetatable(self)][1] then return restore(obj, file:readObject(), version) end
   local reader = call(objects.reading, obj, version or 1)
   local kind, count = call(objects.next_request, reader)
   while kind do kind, count = call(objects.next_request, reader, READERS[kind](file, count), kind) end
end
t7.object_files = hidden

-- torch.class('nn.Mine', 'nn.Linear')
function t7.class_hook(name, parent, constructor, factory)
   local parent_mt = registry[parent]
   if not parent_mt or not class_of[parent_mt] then return constructor, factory end
   local function new() return bare(registry[name]) end
   return function(...)
      local self = new()
      if self.__init then self:__init(...) end
      return self
   end, new, function(mt)
      if class_of[mt] then return end
      local cls = call(objects.derive, name, class_of[parent_mt])
      derived[mt] = true
      prepare(mt, cls, (call(objects.describe_class, cls)))
   end
end

function t7.class_written(mt, key, value)
   if class_of[mt] then set_class_field(mt, key, value) return true end
end

-- The fields of an object, as a table.
function fields_of(self)
   local t = {}
   local names = call(objects.names, py_of[self])
   for _, name in ipairs(names) do t[name] = self[name] end
   for k, v in next, self do t[k] = v end
   return t
end
t7.fields_of = fields_of

-- The names of the methods that an object has from Python; none for other tables.
function t7.method_names(self)
   return py_of[self] and call(python.method_names, py_of[self]) or {}
end


-- A plain table that gets the metatable of a class of Python becomes an object of it, with what the
-- table held as its fields, as if it were read from a file. The tensors of the object are others over
-- the same memory: one that is converted must not convert that of a net that has it too.
local function adopt(t, mt)
   t7.give_back(t)
   local fields = {}
   for k, v in next, t do
      fields[k] = t7.state(v) and v.new(v) or v
      t[k] = nil
   end
   local obj, id = call(objects.bare, class_of[mt])
   py_of[t], proxies[id] = obj, t
   debug.setmetatable(t, mt)
   restore(obj, fields, mt.__version)
   return t
end

local function belongs(t, mt)
   return mt and class_of[mt] and type(t) == 'table' and not py_of[t] and not class_of[t]
end

-- Lua's functions tell nil from no argument.
function _G.setmetatable(...)
   local t, mt = ...
   if belongs(t, mt) then return adopt(t, mt) end
   return setmetatable(...)
end
local torch_setmetatable = torch.setmetatable
function torch.setmetatable(t, name)
   local mt = registry[name]
   if belongs(t, mt) then adopt(t, mt) return name end
   return torch_setmetatable(t, name)
end

local real_rawget = rawget
function _G.rawget(...)
   local t, key = ...
   local obj = type(t) == 'table' and py_of[t]
   if obj and type(key) == 'string' then
      if call(objects.has_field, obj, key) then return t[key] end
      return nil
   end
   return real_rawget(...)
end

-- Fields are looked up once for each walk, which begins without a key.
local plain_next, walks = _G.next, setmetatable({}, {__mode = 'k'})
function _G.next(...)
   local t, key = ...
   if type(t) ~= 'table' or not py_of[t] then return plain_next(...) end
   if key == nil or not walks[t] then walks[t] = fields_of(t) end
   return next(walks[t], key)
end

-- Called by modules that bring classes.
function t7.load_classes()
   if objects then return objects end
   objects = call(python.install_objects)
   t7.objects = objects
   return objects
end

-- What constructs objects of a class stands for it.
function t7.class_table(cls)
   local mt = mt_of[call(python.address, cls)] or define(cls)
   return rawget(mt, '__constructor')
end

-- Defines the classes of a Python module, or those named.
function t7.bring(module, is_wanted)
   t7.load_classes()
   local found, classes, n = call(objects.class_names, module)
   for i = 1, n do
      if not is_wanted or is_wanted(found[i]) then define(classes[i]) end
   end
end

-- The functions of a Python module, or of something in it, by name; tables given are the caller's.
function t7.functions(module, name)
   local place = call(python.import_module, module)
   if name then
      local found
      found, place = pcall(python.attribute, place, name)
      if not found then return nil end
   end
   return setmetatable({}, {__index = function(self, key)
      local found, f = pcall(python.attribute, place, key)
      if not found or type(key) ~= 'string' then return nil end
      f = python_caller(f)
      rawset(self, key, f)
      return f
   end})
end

-- A method of Python's that takes the object, for a class of Lua.
function t7.method(module, name) return python_caller(call(python.attribute, call(python.import_module, module), name)) end
