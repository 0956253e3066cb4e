-- Values on their way between Lua and Python.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local type, getmetatable, select, unpack, pcall = type, getmetatable, select, unpack, pcall
local getfenv = debug.getfenv

-- Python functions behind functions of Lua, and the other way round.
local python_of = setmetatable({}, {__mode = 'k'})
t7.python_of = python_of

-- Ways to Python for objects of classes: `exporters[metatable] = function(object)`; and back, in Runtime.
local exporters = {}
t7.exporters = exporters

function t7.storage_to_python(v) return t7.export_storage(v) end

local to_python

local function table_to_python(t, seen)
   if seen[t] then return seen[t] end
   local n = #t
   local count = 0
   for _ in pairs(t) do count = count + 1 end
   local items = {}
   if count == n then
      local list = call(python.make_list)
      seen[t] = list
      local extend = python.list_extend
      for i = 1, n do items[i] = to_python(t[i], seen) end
      call(extend, list, unpack(items, 1, n))
      return list
   end
   local dict = call(python.make_dict)
   seen[t] = dict
   local m = 0
   for key, value in pairs(t) do
      items[m + 1], items[m + 2] = to_python(key, seen), to_python(value, seen)
      m = m + 2
   end
   call(python.dict_update, dict, unpack(items, 1, m))
   return dict
end

function to_python(v, seen)
   local kind = type(v)
   if kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'nil' then return v end
   local mt = getmetatable(v)
   if kind == 'userdata' then
      if mt then
         if t7.tensor_classes[mt] then return t7.export_tensor(v) end
         if t7.storage_classes[mt] then return t7.storage_to_python(v) end
         if mt == t7.Generator then return getfenv(v).py end
      end
      return v
   end
   if mt and exporters[mt] then return exporters[mt](v) end
   if kind == 'table' then
      if mt then
         local m = mt
         while m do
            if exporters[m] then return exporters[m](v) end
            m = getmetatable(m)
         end
         return call(python.make_table, v)
      end
      return not seen and t7.table_twin(v) or table_to_python(v, seen or {})
   end
   if kind == 'function' then return python_of[v] or call(python.make_function, v) end
   return v
end
t7.to_python = to_python

local to_lua
local function wrap_python(f)
   local function g(...) return t7.from_python_call(f, ...) end
   python_of[g] = f
   return g
end

function to_lua(v)
   if type(v) ~= 'userdata' or getmetatable(v) and t7.registry[getmetatable(v)] then return v end
   local kind, id = call(python.classify, v)
   if kind == 'tensor' then return t7.import_tensor(v)
   elseif kind == 'seen' then return t7.known_tensor(id) or t7.import_tensor(v)
   elseif kind == 'storage' then
      local flat = t7.import_tensor(call(python.storage_tensor, v))
      return flat:storage() or getfenv(flat).C.new_storage() -- a tensor of no elements may have none
   elseif kind == 'key' then return to_lua(call(python.value_of_key, v))
   elseif kind == 'instance' then return t7.instance(v)
   elseif kind == 'twin' then return t7.table_of_twin(v, id)
   elseif kind == 'items' then
      local keys, values, n = call(python.items_of, v)
      local t = {}
      for i = 1, n do t[keys and to_lua(keys[i]) or i] = to_lua(values[i]) end
      return t
   elseif kind == 'bytes' then return call(python.text_of, v)
   elseif kind == 'handle' then return call(python.handle, v)
   elseif kind == 'represented' then return to_lua(call(python.represent, v))
   elseif kind == 'callable' then return wrap_python(v)
   end
   return v
end
t7.to_lua = to_lua

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

local function results(...) return map(to_lua, select('#', ...), ...) end
-- Calls a function of Python that works on Python's values.
function t7.from_python_call(f, ...)
   return results(call(f, map(to_python, select('#', ...), ...)))
end
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
local function answer(ok, ...)
   if ok then
      t7.agree()
      return true, map(to_python, select('#', ...), ...)
   end
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
function t7.invoke(f, ...)
   local n = select('#', ...)
   local args = {...}
   return answer(run_protected(function()
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
   set = function(t, k, v) t[k] = v end,
   length = function(t) return #t end,
   call = function(t, ...) return t(...) end,
   same = rawequal,
   keys = function(t) local keys = {} for k in pairs(t) do keys[#keys + 1] = k end return keys end,
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
local real_exit = os.exit
function os.exit(code)
   if code == nil or code == true then code = 0 elseif code == false then code = 1 end
   io.stdout:flush()
   call(python.exit, code)
end

function torch.tic() return call(python.now) end
function torch.toc(start) return call(python.now) - start end
function torch.isatty(file) return call(python.isatty, file == io.stderr and 2 or file == io.stdin and 0 or 1) end
function torch.getnumthreads() return call(python.get_threads) end
function torch.setnumthreads(...) call(python.set_threads, t7.long((...), 1, select('#', ...))) end
function torch.getnumcores() return call(python.processor_count) end

-- A Python module, or any object of Python, whose functions take and give Lua's values.
local function face(object)
   return setmetatable({}, {
      __index = function(_, name) return to_lua(call(python.attribute, object, name)) end,
      __newindex = function(_, name, value) call(python.set_attribute, object, name, to_python(value)) end,
      __call = function(_, ...) return t7.from_python_call(object, ...) end,
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
