-- Values on their way between Lua and Python.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local type, getmetatable, select, unpack, pcall = type, getmetatable, select, unpack, pcall
local getfenv = debug.getfenv

-- Python functions behind functions of Lua, and the other way round.
local python_of = setmetatable({}, {__mode = 'k'})
t7.python_of = python_of

-- Ways to Python for objects of classes: `exporters[metatable] = function(object)`; and back, in Runtime.
local exporters = t7.exporters

function t7.storage_to_python(v) return t7.export_storage(v) end

local table_to_python = t7.table_to_python

local function to_python(v)
   local kind = type(v)
   if kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'nil' then return v end
   local mt = getmetatable(v)
   if kind == 'userdata' then
      if mt then
         if t7.tensor_classes[mt] then return t7.export_tensor(v) end
         if t7.storage_classes[mt] then return t7.storage_to_python(v) end
         if mt == t7.Generator then return getfenv(v).py end
      end
      return call(python.make_object, v)
   end
   if mt and exporters[mt] then return exporters[mt](v) end
   if kind == 'table' then
      if t7.is_table(v) then return table_to_python(v) end
      local m = mt
      while m do
         if exporters[m] then return exporters[m](v) end
         m = getmetatable(m)
      end
      return call(python.make_table, v, t7.pointer(v))
   end
   if kind == 'thread' then return call(python.make_thread, {v}) end
   if kind == 'function' then return python_of[v] or call(python.make_function, v, t7.pointer(v)) end
   return call(python.make_object, v)
end
t7.to_python = to_python

local to_lua
local function wrap_python(f)
   local watched
   local function g(...)
      if not watched then watched = call(python.watched, f) end
      return t7.from_python_call(watched, ...)
   end
   python_of[g] = f
   return g
end

-- `v` is of a kind that Python tells with it; none for what both languages have.
local function to_lua_as(v, kind, id)
   if kind == nil then return v
   elseif kind == 'tensor' then return t7.import_tensor(v)
   elseif kind == 'seen' then return t7.known_tensor(id) or t7.import_tensor(v)
   elseif kind == 'table' then return t7.table_from_python(v, id)
   elseif kind == 'fresh' then return t7.take_table(v)
   elseif kind == 'known' then return t7.known_instance(v, id)
   elseif kind == 'instance' then return t7.instance(v)
   elseif kind == 'storage' then return t7.import_storage(call(python.storage_tensor, v))
   elseif kind == 'generator' then return t7.make_generator(v)
   elseif kind == 'key' then return to_lua(call(python.value_of_key, v))
   elseif kind == 'items' then
      return t7.content(v)
   elseif kind == 'bytes' then return type(v) == 'string' and v or call(python.text_of, v)
   elseif kind == 'handle' then return call(python.handle, v)
   elseif kind == 'thread' then return call(python.handle, v)[1]
   elseif kind == 'class' then return t7.class_table(v)
   elseif kind == 'represented' then return to_lua(call(python.represent, v))
   elseif kind == 'callable' then return wrap_python(v)
   end
   return v
end
t7.to_lua_as = to_lua_as

local function is_of_python(v)
   return type(v) == 'userdata' and not (getmetatable(v) and t7.registry[getmetatable(v)])
end
function to_lua(v)
   if not is_of_python(v) then return v end
   return to_lua_as(v, call(python.classify, v))
end
t7.to_lua = to_lua

t7.begin_tables()

local function map(f, n, ...)
   if n == 0 then return end
   if n == 1 then return f((...)) end
   if n == 2 then
      local a, b = ...
      return f(a), f(b)
   end
   local args = {...}
   for i = 1, n do args[i] = f(args[i]) end
   return unpack(args, 1, n)
end

-- Calls a function of Python that works on Python's values.
function t7.from_python_call(f, ...) return t7.send(f, select('#', ...), ...) end
t7.wrap_python = wrap_python

-- Python calls Lua ----------------------------------------------------------------------------------------

local traceback, run_protected = debug.traceback, xpcall
local sethook = debug.sethook
-- After Ctrl-C: the hook has done its work; see interruption.py.
function t7.unhook(e)
   if type(e) == 'string' and (e:sub(-1) == '\3' or e:sub(-12) == 'interrupted!') then sethook() end
end
local function handler(e)
   t7.unhook(e)
   return {e, traceback('', 2):gsub('^\n', '')}
end
local function answer(before, ok, ...)
   t7.leave(before, ok)
   if ok then return true, ... end
   local e, stack = (...)[1], (...)[2]
   local message
   if type(e) == 'userdata' and not t7.typename(e) then
      -- What Python raised, where no function of ours took it.
      local _, text, kept = call(python.describe_error, e)
      message = text
      if kept == nil then e = text end
   elseif type(e) == 'string' or type(e) == 'number' then message = tostring(e)
   else
      local mt = getmetatable(e)
      message = mt and mt.__tostring and tostring(e) or '(error object is not a string)'
   end
   return false, message, stack, t7.keep_error(e)
end
local function encoded(before, ok, ...)
   if not ok or select('#', ...) == 0 then return answer(before, ok, ...) end
   local n, values = select('#', ...), {...}
   return answer(before, run_protected(function() return t7.encoded(unpack(values, 1, n)) end, handler))
end
function t7.invoke(told, is_called, f, ...)
   local n = select('#', ...)
   local args = {...}
   return encoded(t7.enter(told, is_called), run_protected(function()
      return f(map(to_lua, n, unpack(args, 1, n)))
   end, handler))
end

local function load_script(path)
   local f, message = loadfile(path)
   if not f then error(message, 0) end
   return f
end
t7.access = {
   get = function(t, k) return t[k] end,
   has = function(t, k) return rawget(t, k) ~= nil end,
   set = function(t, k, v) t[k] = v end,
   length = t7.length,
   call = function(t, ...) return t(...) end,
   same = rawequal,
   keys = function(t) local keys = {} for k in pairs(t) do keys[#keys + 1] = k end return keys end,
   entries = function(t)
      if torch.typename(t) then return {} end
      local found = {}
      for i = 1, rawlen(t) do found[i] = rawget(t, i) end
      return found
   end,
   -- Puts `f(v)` in the place of each tensor and object in a table, and in the tables in it: what nn.utils.recursiveType
   -- converts. An object of a class is none of these tables.
   each = function(t, f)
      local seen, waiting = {}, {t}
      while #waiting > 0 do
         local v = table.remove(waiting)
         if not seen[v] and not torch.typename(v) then
            seen[v] = true
            for key, item in next, v do
               if torch.typename(item) then rawset(v, key, f(item))
               elseif type(item) == 'table' then waiting[#waiting + 1] = item end
            end
         end
      end
   end,
   tostring = tostring,
   require = require,
   execute = function(code, name, ...)
      local f, message = loadstring(code, name)
      if not f then error(message, 0) end
      return f(...)
   end,
   run = function(path, ...)
      -- Without _G it is a local variable of any function with ... in Lua 5.1.
      _G.arg = {[-1] = 'luajit', [0] = path, ...}
      return load_script(path)(...)
   end,
}

-- Lua's own -----------------------------------------------------------------------------------------------

package.loaded.torch = torch
for _, place in ipairs{'./?.lua', './?/init.lua'} do
   if not (';' .. package.path .. ';'):find(';' .. place .. ';', 1, true) then package.path = package.path .. ';' .. place end
end
package.preload.torch = function() return torch end
-- What is a file of its own in Torch7's packages, nn.Linear for one, has come with the package.
table.insert(package.loaders, function(name)
   local package, part = name:match('^(nn)%.([%w_]+)$')
   if not package then package, part = name:match('^(optim)%.([%w_]+)$') end
   local place = package and t7.packages[package]
   if place and place[part] ~= nil then return function() return true end end
end)
local real_exit = os.exit
function os.exit(code)
   if code == nil or code == true then code = 0 elseif code == false then code = 1 end
   io.stdout:flush()
   call(python.exit, code)
end

function torch.tic() return call(python.now) end
function torch.toc(...)
   local start = tonumber((...)) or t7.luatypeerror(1, 'number', select('#', ...), (...))
   return call(python.now) - start
end
function torch.setheaptracking(on)
   if type(on) ~= 'boolean' then t7.typerror(1, 'boolean', on) end
   torch._heaptracking = on
end
function torch.isatty(file)
   if not io.type(file) then t7.typerror(1, 'FILE*', file) end
   return call(python.isatty, file == io.stderr and 2 or file == io.stdin and 0 or 1)
end
function torch.getnumthreads() return call(python.get_threads) end
function torch.setnumthreads(...) call(python.set_threads, t7.long((...), 1, select('#', ...))) end
function torch.getnumcores() return call(python.processor_count) end

-- A Python module, or any object of Python, whose functions take and give Lua's values.
local function face(object)
   local watched
   return setmetatable({}, {
      __index = function(_, name) return to_lua(call(python.attribute, object, name)) end,
      __newindex = function(_, name, value) call(python.set_attribute, object, name, to_python(value)) end,
      __call = function(_, ...)
         if not watched then watched = call(python.watched, object) end
         return t7.from_python_call(watched, ...)
      end,
      __metatable = 'python',
   })
end
t7.face = face
function t7.import(name) return face(call(python.import_module, name)) end
-- The functions of a Python module as they are, for t7.call.
function t7.raw_import(name)
   local module = call(python.import_module, name)
   return setmetatable({}, {__index = function(self, key)
      local value = call(python.attribute, module, key)
      rawset(self, key, value)
      return value
   end})
end
-- Behind the table: who goes through torch's functions sees Torch7's.
setmetatable(torch, {__index = {_t7 = t7}})

-- Tensors that Python moved: what Lua knows of them is made new.
t7.refresh = t7.import_tensor
