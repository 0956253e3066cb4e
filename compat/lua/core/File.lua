-- Any value of Lua in a file, and back.
local t7 = ...
local torch, call = t7.torch, t7.call
local File = torch.getmetatable('torch.File')
local getfenv = debug.getfenv
local loadstring = loadstring or load

local NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN, OLD_FUNCTION, LEGACY_FUNCTION, FUNCTION = 0, 1, 2, 3, 4, 5, 6, 7, 8

-- Functions that define a class of this name when a file holds an object of it.
t7.classes_of_files = {}

local single = t7.single_in_files
local read_int, write_int, read_double, write_double = single.Int.read, single.Int.write, single.Double.read, single.Double.write

function File:writeBool(value) self:writeInt(value and 1 or 0) end
function File:readBool() return self:readInt() == 1 end

-- What a file remembers of the objects written and read.
local function memory(self)
   local f = getfenv(self)
   if not f.memory then
      f.memory = {written = {}, kept = {}, count = 0, read = {}, names = {}, ids = {}, nids = 0, closures = {}}
   end
   return f.memory
end

function File:isWritableObject(object)
   local kind = type(object)
   local name = torch.typename(object ~= nil and object or false)
   if object == nil then return NIL end
   if name and torch.factory(name) then return TORCH end
   if kind == 'table' then return TABLE end
   if kind == 'number' then return NUMBER end
   if kind == 'string' then return STRING end
   if kind == 'boolean' then return BOOLEAN end
   if kind == 'function' and pcall(string.dump, object) then return FUNCTION end
end

function File:referenced(referenced)
   memory(self).force = not referenced
   return self
end
function File:isReferenced() return not memory(self).force end

local function hook_of(object, name)
   local mt = torch.getmetatable(torch.typename(object))
   if not mt then return nil end
   local f = mt['__' .. name] or mt[name]
   return type(f) == 'function' and f or nil
end

local UPVALUES = {} -- a name that is not shown
local function place(names)
   local parts = {}
   for i, name in ipairs(names) do
      if name ~= UPVALUES and names[i - 1] ~= UPVALUES then parts[#parts + 1] = name end
   end
   return table.concat(parts, '.')
end

local function write_text(f, text)
   write_int(f, #text)
   single.Text.write(f, text)
end
local function read_text(f) return single.Text.read(f, read_int(f)) end

local function same(object) return object end

-- What string.dump gave for functions that came from files, for they go back as they came.
local dumped = setmetatable({}, {__mode = 'k'})

function File:writeObject(object, name, hook)
   hook = hook or t7.leave_out or same
   local memory, f = memory(self), getfenv(self)
   if not (f.open and f.writable) then self:writeInt(NIL) end -- says why not
   local original = object
   object = hook(object)
   if object == nil then
      write_int(f, NIL)
      return
   end
   local names = memory.names
   names[#names + 1] = name or '<?>'
   local kind = self:isWritableObject(object)
   if not kind then
      local where = place(names)
      memory.names = {}
      error(string.format('Unwritable object <%s> at %s', type(object), where))
   end
   write_int(f, kind)
   if kind == NUMBER then write_double(f, object)
   elseif kind == BOOLEAN then write_int(f, object and 1 or 0)
   elseif kind == STRING then write_text(f, object)
   else
      local pointer = torch.pointer(original)
      local index = memory.written[pointer]
      if index and not memory.force then
         write_int(f, index)
      else
         index = memory.count + 1
         if not memory.force then
            memory.written[pointer] = index
            memory.kept[#memory.kept + 1] = original
            -- Two userdata may stand for one storage: the record is what must live.
            if type(original) == 'userdata' then memory.kept[#memory.kept + 1] = getfenv(original) end
         end
         write_int(f, index)
         memory.count = index
         if kind == FUNCTION then
            local upvalues = {}
            local i = 1
            local source = t7.source_of(object)
            local origin = source and {text = string.dump(loadstring(source)), upvalues = 0} or dumped[object]
            while not origin or i <= origin.upvalues do
               local key, value = debug.getupvalue(object, i)
               if not key then break end
               if key == '_ENV' then value = nil end
               local id
               if debug.upvalueid then
                  local ref = debug.upvalueid(object, i)
                  if not memory.ids[ref] then
                     memory.nids = memory.nids + 1
                     memory.ids[ref] = memory.nids
                  end
                  id = memory.ids[ref]
               end
               upvalues[i] = {name = key, id = id, value = value}
               i = i + 1
            end
            write_text(f, origin and origin.text or string.dump(object))
            self:writeObject(upvalues, UPVALUES, hook)
         elseif kind == TORCH then
            local class = torch.typename(object)
            write_text(f, 'V ' .. torch.version(object))
            write_text(f, class)
            local write = hook_of(object, 'write')
            if write then write(object, self)
            elseif type(object) == 'table' then
               local fields = {}
               for key, value in pairs(object) do
                  if self:isWritableObject(value) then fields[key] = value
                  else
                     print(string.format('$ Warning: cannot write object field <%s> of <%s> %s', key, class, place(names)))
                  end
               end
               self:writeObject(fields, class, hook)
            else
               error(string.format('<%s> is a non-serializable Torch object %s', class, place(names)))
            end
         else
            local size = 0
            for _ in pairs(object) do size = size + 1 end
            write_int(f, size)
            for key, value in pairs(object) do
               self:writeObject(key, nil, hook)
               local label = (type(key) == 'string' or type(key) == 'number') and tostring(key) or nil
               if names[#names - 1] == UPVALUES and label == 'value' and type(object.name) == 'string' then
                  label = object.name
               end
               self:writeObject(value, label, hook)
            end
         end
      end
   end
   names[#names] = nil
end

local left_out = false

-- A function of a file. Bytecode could do anything to this process: its source is written anew, and compiled.
local function load_function(text, trusted)
   if t7.without_code then
      if not left_out then io.stderr:write('Warning: functions in files are left out (--no-code)\n') end
      left_out = true
      return nil
   end
   local f, message, source, name, upvalues
   if text:sub(1, 3) == '\27LJ' and not trusted then
      source, name, upvalues = call(t7.raw_import('compat.lua.bytecode').try_source_of, text)
      if upvalues then f, message = loadstring(source, name) else message = source end
      if f then
         f = f()
         dumped[f] = {text = text, upvalues = upvalues}
      end
   else
      f, message = loadstring(text)
   end
   if not f then
      io.stderr:write(string.format('Warning: Failed to load function from bytecode: %s\n', message))
   end
   return f
end

-- `again`: what a script has put in the place of File.readObject, for objects within objects.
local read_object
local function read_inner(self, f, memory, again)
   if again then return again(self) end
   return read_object(self, f, memory)
end
function read_object(self, f, memory, again)
   local kind = read_int(f)
   if kind == NIL then return nil
   elseif kind == NUMBER then return read_double(f)
   elseif kind == BOOLEAN then return read_int(f) == 1
   elseif kind == STRING then return read_text(f)
   elseif kind == OLD_FUNCTION then
      local loaded = load_function(read_text(f), f.trusted)
      local upvalues = read_inner(self, f, memory, again)
      if loaded then for i, value in ipairs(upvalues) do debug.setupvalue(loaded, i, value) end end
      return loaded
   elseif kind ~= TABLE and kind ~= TORCH and kind ~= FUNCTION and kind ~= LEGACY_FUNCTION then
      error('unknown object')
   end
   local index = read_int(f)
   -- Without references every object is one of its own.
   local known = memory.force and {} or memory.read
   if known[index] ~= nil then return known[index] end
   if kind == FUNCTION or kind == LEGACY_FUNCTION then
      local loaded = load_function(read_text(f), f.trusted)
      known[index] = loaded
      local upvalues = read_inner(self, f, memory, again)
      if not loaded then return loaded end
      for i, upvalue in ipairs(upvalues) do
         if kind == LEGACY_FUNCTION then debug.setupvalue(loaded, i, upvalue)
         elseif upvalue.name == '_ENV' then debug.setupvalue(loaded, i, _G)
         else
            debug.setupvalue(loaded, i, upvalue.value)
            if debug.upvaluejoin and upvalue.id then
               local other = memory.closures[upvalue.id]
               if other then debug.upvaluejoin(loaded, i, other.f, other.i)
               else memory.closures[upvalue.id] = {f = loaded, i = i} end
            end
         end
      end
      return loaded
   elseif kind == TORCH then
      local version = read_text(f)
      local number = tonumber(version:match('^V (.*)$'))
      local class = number and read_text(f) or version
      local define = t7.classes_of_files[class]
      if define and not torch.factory(class) then define(class) end
      local factory = torch.factory(class)
      if not factory then error(string.format('unknown Torch class <%s>', tostring(class))) end
      local object = factory(self)
      known[index] = object
      local read = hook_of(object, 'read')
      if read then
         local replaced = read(object, self, number or 0)
         if t7.read_result and replaced ~= nil then object, known[index] = replaced, replaced end
      elseif type(object) == 'table' then
         for key, value in pairs(read_inner(self, f, memory, again)) do object[key] = value end
      else
         error(string.format('Cannot load object class <%s>', tostring(class)))
      end
      return object
   end
   local size = read_int(f)
   local object = {}
   known[index] = object
   for _ = 1, size do
      local key = read_inner(self, f, memory, again)
      object[key] = read_inner(self, f, memory, again)
   end
   return object
end

local read_one
function read_one(self)
   local f = getfenv(self)
   if not (f.open and f.readable) then self:readInt() end -- says why not
   local again = self.readObject
   return read_object(self, f, memory(self), again ~= read_one and again or nil)
end
File.readObject = read_one

local function check_flags(mode, referenced, modes, words)
   assert(mode == nil or modes[mode], words)
   assert(referenced == nil or referenced == true or referenced == false, 'true or false (or nil) expected for referenced')
   return referenced ~= false
end

function torch.save(filename, object, mode, referenced)
   referenced = check_flags(mode, referenced, {binary = true, ascii = true}, '"binary" or "ascii" (or nil) expected for mode')
   local file = torch.DiskFile(filename, 'w')
   file[mode or 'binary'](file)
   file:referenced(referenced)
   file:writeObject(object)
   file:close()
end

function torch.load(filename, mode, referenced)
   referenced = check_flags(mode, referenced, {binary = true, ascii = true, b32 = true, b64 = true},
                            '"binary", "b32", "b64" or "ascii" (or nil) expected for mode')
   local long_size = ({b32 = 4, b64 = 8})[mode]
   local file = torch.DiskFile(filename, 'r')
   if mode == 'ascii' then file:ascii() else file:binary() end
   file:referenced(referenced)
   if long_size then file:longSize(long_size) end
   local object = file:readObject()
   file:close()
   return object
end

function torch.serializeToStorage(object, mode)
   mode = mode or 'binary'
   local file = torch.MemoryFile()
   file = file[mode](file)
   file:writeObject(object)
   local storage = file:storage()
   storage:resize(storage:size() - 1)
   file:close()
   return storage
end
function torch.serialize(object, mode)
   local storage = torch.serializeToStorage(object, mode)
   return storage:string()
end
function torch.deserializeFromStorage(storage, mode)
   mode = mode or 'binary'
   local bytes = torch.CharTensor(storage)
   local n = bytes:size(1)
   local ended = torch.CharTensor(n + 1):zero()
   ended:narrow(1, 1, n):copy(bytes)
   local file = torch.MemoryFile(ended:storage())
   file = file[mode](file)
   local object = file:readObject()
   file:close()
   return object
end
function torch.deserialize(text, mode)
   return torch.deserializeFromStorage(torch.CharStorage():string(text), mode)
end
torch.saveobj, torch.loadobj = torch.save, torch.load
