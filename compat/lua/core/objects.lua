-- Objects of Python classes: tables without content in Lua, whose fields and methods are Python's.
-- Plain tables in their fields are Lua tables beside Python's lists and dicts, brought into agreement
-- whenever one side calls the other.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local registry, exporters, to_lua = t7.registry, t7.exporters, t7.to_lua
local rawget, rawset, type, select, next, unpack, rawequal = rawget, rawset, type, select, next, unpack, rawequal
local setmetatable, collectgarbage = setmetatable, collectgarbage
local getmetatable = debug.getmetatable
local to_python = t7.to_python

local py_of = setmetatable({}, {__mode = 'k'})   -- Python's object of a table
local tables = setmetatable({}, {__mode = 'v'})  -- table by the identity of Python's object
local class_of, mt_of, cache = {}, {}, {}        -- Python's class of a metatable; the other way; methods
local derived = {}                               -- metatables of classes that Lua made
local python_of = t7.python_of
local overrides = setmetatable({}, {__mode = 'k'}) -- methods of single objects
local objects                                    -- functions of compat.lua.objects
t7.packages = {}

-- Plain tables --------------------------------------------------------------------------------------------

local records = setmetatable({}, {__mode = 'k'}) -- of each table that Python has too
local twins = setmetatable({}, {__mode = 'v'})   -- table by the identity of Python's list or dict
local owned = setmetatable({}, {__mode = 'k'})   -- records of tables that lie in fields of objects
local touched = {}                               -- kept until the next agreement

local function is_plain(v) return type(v) == 'table' and getmetatable(v) == nil end

local twin

local function differs(t, rec)
   local snap, subs, count = rec.snap, rec.subs, 0
   for k, v in next, t do
      count = count + 1
      if not rawequal(snap[k], v) then return true end
      if subs[k] then
         local sub = records[v]
         if not sub or sub.id ~= subs[k] then return true end
      end
   end
   return count ~= rec.count
end

local function note(t, rec)
   local snap, subs, count = {}, {}, 0
   for k, v in next, t do
      count = count + 1
      snap[k] = v
      local sub = is_plain(v) and records[v]
      if sub then
         subs[k] = sub.id
         if owned[t] then owned[v] = sub end
      end
   end
   rec.snap, rec.subs, rec.count = snap, subs, count
end

local function renew(t, rec, kind)
   rec.kind = kind
   rec.py, rec.id, rec.known = call(objects.make, kind)
   twins[rec.id] = t
   if rec.owner then call(objects.set_field, py_of[rec.owner], rec.key, rec.py) end
end

-- Python's list or dict gets what the table holds.
local function push(t, rec)
   if rec.busy then return end
   rec.busy = true
   for k, v in next, t do if is_plain(v) then twin(v) end end
   if differs(t, rec) then
      local n, count = #t, 0
      for _ in next, t do count = count + 1 end
      if rec.kind == 'list' and count ~= n then renew(t, rec, 'dict') end
      local items, m = {}, 0
      if rec.kind == 'list' then
         for i = 1, n do items[i] = to_python(t[i]) end
         rec.known = call(objects.list_assign, rec.py, unpack(items, 1, n))
      else
         for k, v in next, t do
            items[m + 1], items[m + 2] = to_python(k), to_python(v)
            m = m + 2
         end
         rec.known = call(objects.dict_assign, rec.py, unpack(items, 1, m))
      end
      note(t, rec)
   end
   rec.busy = false
end

-- The table gets what Python's list or dict holds.
local function pull(t, rec)
   local keys, values, n, known = call(objects.changed_contents, rec.py, rec.known)
   if n == nil then return end
   rec.known = known
   for k in next, t do t[k] = nil end
   for i = 1, n do t[keys and to_lua(keys[i]) or i] = to_lua(values[i]) end
   note(t, rec)
end

function twin(t, kind)
   local rec = records[t]
   if not rec then
      local count = 0
      for _ in next, t do count = count + 1 end
      rec = {snap = {}, subs = {}, count = 0}
      records[t] = rec
      renew(t, rec, kind or (count == #t and 'list' or 'dict'))
   elseif kind and kind ~= rec.kind then
      renew(t, rec, kind)
      rec.snap, rec.subs, rec.count = {}, {}, 0
   end
   push(t, rec)
   return rec.py
end
t7.twin = twin

-- The same for the tables in it.
local function pull_all(t, seen)
   seen[t] = true
   pull(t, records[t])
   for _, v in next, t do
      if is_plain(v) and records[v] and not seen[v] then pull_all(v, seen) end
   end
end

local function from_twin(py, id)
   local t = twins[id]
   if t and records[t] and records[t].id == id then
      pull_all(t, {})
      return t
   end
   t = {}
   local rec = {snap = {}, subs = {}, count = 0, py = py, id = id}
   records[t], twins[id] = rec, t
   local keys, values, n, known = call(objects.contents, py)
   rec.kind = keys and 'dict' or 'list'
   for i = 1, n do t[keys and to_lua(keys[i]) or i] = to_lua(values[i]) end
   note(t, rec)
   rec.known = known
   return t
end

local function own(t, owner, key)
   local rec = records[t]
   rec.owner, rec.key = owner, key
   owned[t], touched[#touched + 1] = rec, t
   for _, v in next, t do
      if is_plain(v) and records[v] and not owned[v] then own(v) end
   end
end

-- Tables that nobody has any more go when garbage is collected. Each agreement looks at all that are left, so that is
-- done when they have become twice as many: graphs of nodes make thousands.
local FEWEST = 64
local collect_at = FEWEST
local function let_go()
   collectgarbage()
   local left = 0
   for _ in next, owned do left = left + 1 end
   collect_at = math.max(FEWEST, 2 * left)
end

-- Before Python runs, and before it goes on.
local function agree()
   local dirty
   local count = 0
   for t, rec in next, owned do
      count = count + 1
      if differs(t, rec) then
         dirty = dirty or {}
         dirty[#dirty + 1] = t
      else
         for k, v in next, t do
            if is_plain(v) and not records[v] then dirty = dirty or {}; dirty[#dirty + 1] = t break end
         end
      end
   end
   if dirty then
      for i = 1, #dirty do push(dirty[i], records[dirty[i]]) note(dirty[i], records[dirty[i]]) end
   end
   if #touched > 0 then touched = {} end
   if count > collect_at then let_go() end
end
t7.agree = agree

local function refresh_owned()
   local all = {}
   for t, rec in next, owned do all[#all + 1] = t end
   for i = 1, #all do pull(all[i], records[all[i]]) end
end

-- Methods -------------------------------------------------------------------------------------------------

local function trimmed(...)
   local n = select('#', ...)
   while n > 0 and select(n, ...) == nil do n = n - 1 end
   return n
end

local function results(n, ...)
   if n == 0 then return end
   if n == 1 then return to_lua((...)) end
   local all = {...}
   for i = 1, n do all[i] = to_lua(all[i]) end
   return unpack(all, 1, n)
end
local function all_results(...) return results(select('#', ...), ...) end

local QUIET = {forward = true, updateOutput = true, backward = true, updateGradInput = true,
               accGradParameters = true, zeroGradParameters = true, updateParameters = true, parameters = true}

-- What a method of an object gives, or a function of a tensor: its tensors are of that one's type.
local function typed(self, ...)
   if t7.tells_types and self then
      local owner = py_of[self] or t7.state(self) and t7.export_tensor(self)
      if owner then call(objects.tell_types, owner, ...) end
   end
   return ...
end

local function finish(args, n, quiet, ...)
   if not quiet then
      for i = 1, n do
         local t = args[i]
         if type(t) == 'table' and records[t] then pull(t, records[t]) end
      end
      refresh_owned()
   end
   return all_results(...)
end

local function python_caller(f, key)
   local quiet = QUIET[key]
   local most, least, silent = call(objects.arity, f)
   most = most or math.huge
   local function g(...)
      agree()
      local n = trimmed(...)
      if n > most then n = most elseif n < least then n = least end
      if quiet then
         if n == 2 then
            local a, b = ...
            return finish(nil, 0, true, typed(a, call(f, to_python(a), to_python(b))))
         elseif n == 3 then
            local a, b, c = ...
            return finish(nil, 0, true, typed(a, call(f, to_python(a), to_python(b), to_python(c))))
         end
      end
      local args, given = {...}, {...}
      for i = 1, n do args[i] = to_python(args[i]) end
      return finish(given, n, quiet, typed(given[1], call(f, unpack(args, 1, n))))
   end
   local h = silent and function(...) g(...) end or g
   python_of[h] = f
   return h
end
t7.python_caller = python_caller

-- Classes -------------------------------------------------------------------------------------------------

local index, newindex, root

-- Methods that differ in Lua from those of Python, of classes of Python: `adapted[metatable][key]`.
local adapted = {}

local function method_of(mt, key)
   local known = cache[mt][key]
   if known then return known end
   if type(key) ~= 'string' then return nil end
   local kind, f, base = call(objects.method, class_of[mt], key)
   local here, at = mt_of[base], mt
   while at do
      local other = adapted[at] and adapted[at][key]
      -- What a script puts in the place of a method of ours is newer than ours.
      if other and not (at == here and kind == 'lua') then kind, f = 'lua', other break end
      if at == here then break end
      at = getmetatable(at)
      if at == root then at = nil end
   end
   if kind == nil then return nil end
   if kind == 'python' then f = python_caller(f, key) end
   cache[mt][key] = f
   return f
end

-- Gives a class of Python a method that only Lua sees.
function t7.adapt(typename, methods)
   local mt = registry[typename]
   adapted[mt] = adapted[mt] or {}
   for key, f in next, methods do adapted[mt][key] = f end
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
      if value ~= nil then f = python_of[value] or call(python.make_function, value) end
      call(objects.set_method, class_of[mt], key, f)
      for other in next, cache do cache[other] = {} end
   else
      rawset(mt, key, value)
      call(objects.set_class_value, class_of[mt], key, to_python(value))
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
      local kind, value = call(objects.field, obj, key)
      if kind == 'value' then
         value = to_lua(value)
         if is_plain(value) and records[value] then own(value, self, key) end
         return value
      elseif kind == 'own' then return value
      elseif kind == 'python own' then return python_caller(value, key)
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
      call(objects.set_field, obj, key, python_of[value] or call(python.make_function, value))
      return
   end
   if own_methods then own_methods[key] = nil end
   call(objects.set_field, obj, key, t7.as_field(value))
   if is_plain(value) and records[value] then own(value, self, key) end
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
   py_of[self], tables[id] = obj, self
   return self
end

-- The table for an object.
local function instance(obj)
   local id, class_id, cls, own_names = call(objects.describe, obj)
   local self, mt = tables[id], mt_of[class_id] or define(cls)
   if self then
      -- Python may have made it an object of another class.
      if getmetatable(self) ~= mt then debug.setmetatable(self, mt) end
      return self
   end
   self = new_table(obj, id, mt)
   if own_names then
      local own_methods = {}
      for _, name in ipairs(own_names) do own_methods[name] = select(2, call(objects.field, obj, name)) end
      overrides[self] = own_methods
   end
   return self
end
t7.instance = instance

local function export(self)
   local mt = getmetatable(self)
   local class = rawget(mt, '__metatable')
   -- What constructs objects of a class stands for it.
   local obj = py_of[self] or not rawequal(mt, class) and class_of[class]
   if not obj then t7.error('an object without content') end
   return obj
end

local function prepare(mt, cls, class_id)
   class_of[mt], mt_of[class_id], cache[mt] = cls, mt, {}
   mt.__index, mt.__newindex = index, newindex
   if not getmetatable(mt) then debug.setmetatable(mt, root) end
   exporters[mt] = export
end

local function bare(mt)
   local obj = call(objects.bare, class_of[mt])
   return new_table(obj, call(python.address, obj), mt)
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

-- The metatable for a class of Python, made with its parents. `name` if it is not the class's own.
function define(cls)
   local class_id, name, parent, version = call(objects.describe_class, cls)
   if mt_of[class_id] then return mt_of[class_id] end
   local parent_mt = parent and (mt_of[(call(objects.describe_class, parent))] or define(parent))
   local mt
   local most = call(objects.arity, cls) or math.huge
   local function constructor(...)
      agree()
      if call(objects.method, cls, '__init') == 'lua' then
         local self = bare(mt)
         self:__init(...)
         return self
      end
      local n = trimmed(...)
      if n > most then n = most end
      local args, given = {...}, {...}
      for i = 1, n do args[i] = to_python(args[i]) end
      return finish(given, n, false, call(objects.construct, cls, unpack(args, 1, n)))
   end
   if registry[name] then name = name .. '#' .. class_id end
   mt = torch.newmetatable(name, parent_mt and registry[parent_mt], constructor, nil,
                           function() return bare(mt) end, package_of(name))
   prepare(mt, cls, class_id)
   mt.__version = version
   if not parent_mt then
      -- Methods of these names that a class has itself, as a file does, are no hooks of torch.save.
      local mark = call(objects.method, cls, 'write') and '__' or ''
      adapted[mt] = {[mark .. 'write'] = t7.object_files.write, [mark .. 'read'] = t7.object_files.read}
   end
   return mt
end
t7.define_class = define

-- Storages are sizes in calls, and stay storages in fields.
local as_fields = false
function t7.storage_to_python(v)
   local flat = t7.export_storage(v)
   if not objects then return flat end
   if as_fields then return call(objects.storage, flat) end
   if torch.typename(v) == 'torch.LongStorage' then return call(objects.numbers, flat) end
   return flat
end
local function as_field(v)
   local before = as_fields
   as_fields = true
   local ok, result = pcall(to_python, v)
   as_fields = before
   if not ok then error(result, 0) end
   return result
end

t7.as_field = as_field

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

local hidden = {}
function hidden.write(self, file)
   agree()
   local obj = py_of[self]
   if not select(2, call(objects.hooks, obj)) then return file:writeObject(to_lua(call(objects.saved_fields, obj))) end
   local kinds, values, n = call(objects.written, obj)
   for i = 1, n do WRITERS[kinds[i]](file, values[i]) end
end
function hidden.read(self, file, version)
   local obj = py_of[self]
   if not (call(objects.hooks, obj)) then
      return call(objects.restore, obj, as_field(file:readObject()), version or 1)
   end
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
local function fields_of(self)
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

local real_pairs = pairs
function pairs(t)
   if type(t) == 'table' and py_of[t] then return next, fields_of(t), nil end
   return real_pairs(t)
end

-- A plain table that gets the metatable of a class of Python becomes an object of it, with what the
-- table held as its fields, as if it were read from a file. The tensors of the object are others over
-- the same memory: one that is converted must not convert that of a net that has it too.
local function adopt(t, mt)
   local fields = {}
   for k, v in next, t do
      fields[k] = t7.state(v) and v.new(v) or v
      t[k] = nil
   end
   local obj = call(objects.bare, class_of[mt])
   py_of[t], tables[call(python.address, obj)] = obj, t
   debug.setmetatable(t, mt)
   call(objects.restore, obj, as_field(fields), mt.__version or 1)
   return t
end

local function belongs(t, mt)
   return mt and class_of[mt] and type(t) == 'table' and not py_of[t] and not class_of[t]
end

function _G.setmetatable(t, mt)
   if belongs(t, mt) then return adopt(t, mt) end
   return setmetatable(t, mt)
end
local torch_setmetatable = torch.setmetatable
function torch.setmetatable(t, name)
   local mt = registry[name]
   if belongs(t, mt) then adopt(t, mt) return name end
   return torch_setmetatable(t, name)
end

local real_rawget = rawget
function _G.rawget(t, key)
   local obj = type(t) == 'table' and py_of[t]
   if obj and type(key) == 'string' then
      if call(objects.has_field, obj, key) then return t[key] end
      return nil
   end
   return real_rawget(t, key)
end

-- Called by modules that bring classes.
function t7.load_classes()
   if objects then return objects end
   objects = call(python.install_objects)
   t7.objects = objects
   return objects
end

-- Tables of calls of Python's functions, when there are objects.
function t7.table_twin(t) return objects and twin(t) end
function t7.table_of_twin(py, id) return objects and from_twin(py, id) end

-- Defines the classes of a Python module, or those named.
function t7.bring(module, is_wanted)
   t7.load_classes()
   local found, classes, n = call(objects.class_names, module)
   for i = 1, n do
      if not is_wanted or is_wanted(found[i]) then define(classes[i]) end
   end
end

-- A function of Python whose tables are the caller's.
function t7.function_of(f) return python_caller(f) end

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
      f = python_caller(f, key)
      rawset(self, key, f)
      return f
   end})
end

-- A method of Python's that takes the object, for a class of Lua.
function t7.method(module, name) return python_caller(call(python.attribute, call(python.import_module, module), name)) end
