-- Functions of the standard library as Lua 5.2 has them.
local t7 = ...
local type, rawget, select, unpack, error, getmetatable = type, rawget, select, unpack, error, debug.getmetatable

local function handler_of(x, event)
   local mt = getmetatable(x)
   return mt and rawget(mt, event)
end
local pairs, ipairs = pairs, ipairs
function _G.pairs(t)
   local handler = handler_of(t, '__pairs')
   if handler ~= nil then return handler(t) end
   return pairs(t)
end
function _G.ipairs(t)
   local handler = handler_of(t, '__ipairs')
   if handler ~= nil then return handler(t) end
   return ipairs(t)
end

_G.rawlen = rawlen or function(...)
   local x = ...
   if type(x) == 'table' then return #t7.plain(x) end
   if type(x) == 'string' then return #x end
   -- A tail call: errors are then those of the caller's call, here and below.
   local given = select('#', ...) == 0 and 'no value' or type(x)
   return error("bad argument #1 to 'rawlen' (table expected, got " .. given .. ')')
end
table.unpack = table.unpack or unpack
table.pack = table.pack or function(...) return {n = select('#', ...), ...} end
math.mod, string.gfind = nil, nil

-- Nothing is found behind a string's end, not even nothing.
for _, name in ipairs{'find', 'match'} do
   local search = string[name]
   string[name] = function(s, pattern, init, plain)
      if init == nil and plain == nil then return search(s, pattern) end
      if type(init) == 'number' and type(s) == 'string' and type(pattern) == 'string' and init > #s + 1 then return nil end
      return search(s, pattern, init, plain)
   end
end

local main, running = debug.getregistry()['compat.lua.main'], coroutine.running
function coroutine.running()
   local found = running()
   if found then return found, false end
   return main, true
end

local setmetatable = debug.setmetatable
function debug.setmetatable(...)
   local x, mt = ...
   if type(mt) ~= 'table' and mt ~= nil or select('#', ...) < 2 then return setmetatable(...) end
   setmetatable(x, mt)
   return x
end
local getfenv, setfenv = debug.getfenv, debug.setfenv
function debug.getuservalue(x)
   return type(x) == 'userdata' and getfenv(x) or nil
end
function debug.setuservalue(x, t)
   if type(x) ~= 'userdata' then
      return error("bad argument #1 to 'setuservalue' (userdata expected, got " .. type(x) .. ')')
   elseif type(t) ~= 'table' then
      return error("bad argument #2 to 'setuservalue' (table expected, got " .. type(t) .. ')')
   end
   return setfenv(x, t)
end

-- The original sets the environment of who calls it, which is not the user's function.
local module, loaded, set_environment = module, package.loaded, _G.setfenv
function _G.module(name, ...)
   if type(name) ~= 'string' then return module(name, ...) end
   module(name, ...)
   set_environment(2, loaded[name])
   return loaded[name]
end

-- Files and commands --------------------------------------------------------------------------------------

local methods, io_type = getmetatable(io.stdout).__index, io.type
local function writable(...)
   for i = 1, select('#', ...) do
      local kind = type((select(i, ...)))
      if kind ~= 'string' and kind ~= 'number' then return false end
   end
   return true
end
local write = methods.write
function methods.write(file, ...)
   if io_type(file) ~= 'file' or not writable(...) then return write(file, ...) end
   local ok, message, code = write(file, ...)
   if ok then return file end
   return ok, message, code
end
local write_out, output = io.write, io.output
function io.write(...)
   if not writable(...) then return write_out(...) end
   local ok, message, code = write_out(...)
   if ok then return output() end
   return ok, message, code
end

-- How a command ended, from the status that C's wait gives.
local function ended(status)
   local signal = status % 128
   if signal > 0 then return nil, 'signal', signal end
   local code = (status - status % 256) / 256
   return code == 0 or nil, 'exit', code
end
function os.execute(command)
   if command == nil then return true end
   if type(command) ~= 'string' and type(command) ~= 'number' then
      return error("bad argument #1 to 'execute' (string expected, got " .. type(command) .. ')')
   end
   return ended(t7.call(t7.python.execute, tostring(command)))
end

-- Lua's own close drops how a pipe's command ended.
local ffi = t7.ffi
if ffi and ffi.os ~= 'Windows' then
   ffi.cdef 'int dptable_pclose(void *) __asm__("pclose");'
   local STATE, PIPE = ffi.typeof 'struct {void *stream; uint32_t kind;} *', 1
   local tostring, tonumber, cast, null, C = tostring, tonumber, ffi.cast, ffi.NULL, ffi.C
   local function pipe_of(file)
      local mt = getmetatable(file)
      setmetatable(file, nil)
      local address = tostring(file)
      setmetatable(file, mt)
      local state = cast(STATE, cast('uintptr_t', tonumber(address:match('0x%x+'))))
      return state.kind % 4 == PIPE and state.stream == cast('void *', file) and state
   end
   local function closing(close, default)
      return function(...)
         local file = ...
         if select('#', ...) == 0 and default then file = default() end
         local pipe = io_type(file) == 'file' and pipe_of(file)
         if not pipe then return close(...) end
         local stream = pipe.stream
         pipe.stream = null
         return ended(C.dptable_pclose(stream))
      end
   end
   methods.close, io.close = closing(methods.close), closing(io.close, output)
end
