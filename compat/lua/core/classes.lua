-- Errors as C functions of Torch7 raise them, and its system of classes.
-- Everything in a chunk called "(torch)" poses as a C function: the place in an error is its caller's.
local t7 = ...
local torch = t7.torch
local getinfo, getmetatable, setmetatable, type = debug.getinfo, getmetatable, setmetatable, type
-- Those of Lua: later ones look whether a table is one of Python's.
local rawget, rawset = rawget, rawset
local pcall0 = pcall

-- Functions whose errors name no place, because in Torch7 another C function calls them.
local placeless = setmetatable({}, {__mode = 'k'})
t7.placeless = placeless

-- The level of the function of ours that the user's code has called, seen from the caller of this.
local function api_level()
   local level = 2
   while true do
      local info = getinfo(level + 1, 'S')
      if not info or info.source ~= '=(torch)' and not info.source:find('tail call') then return level - 1 end
      level = level + 1
   end
end

local function place(level)
   local api, caller = getinfo(level + 1, 'f'), getinfo(level + 2, 'Sl')
   if placeless[api.func] or not caller or caller.currentline <= 0 then return '' end
   return caller.short_src .. ':' .. caller.currentline .. ': '
end

function t7.error(message)
   local level = api_level()
   error(place(level) .. message, 0)
end

-- The same where the function names its place although others of its kind do not.
function t7.error_here(message)
   local caller = getinfo(api_level() + 1, 'Sl')
   error((caller and caller.currentline > 0 and caller.short_src .. ':' .. caller.currentline .. ': ' or '') .. message, 0)
end

function t7.argerror(n, message)
   local level = api_level()
   local api = getinfo(level, 'nf')
   local name = not placeless[api.func] and api.name or '?'
   if name == 'pcall' or name == 'xpcall' or name == '' then name = '?' end
   if name ~= '?' and api.namewhat == 'method' then
      n = n - 1
      if n == 0 then
         error(place(level) .. "calling '" .. name .. "' on bad self (" .. message .. ')', 0)
      end
   end
   error(place(level) .. 'bad argument #' .. n .. " to '" .. name .. "' (" .. message .. ')', 0)
end

-- Calls a Python function; what it raises comes out as an error of the function that called.
local lua_error_value
local function finish(ok, ...)
   if ok then return ... end
   t7.return_lent()
   local kind, text, value = t7.python.describe_error((...))
   if kind == 'lua' then error(lua_error_value(value, text), 0) end
   if kind == 'net' then
      return t7.net_error((...), text, value and lua_error_value(value, text))
   end
   if kind == 'argument' then return t7.argerror(value, text) end
   return t7.error(text)
end
function t7.call(f, ...) return finish(pcall0(f, ...)) end

-- Errors of Lua that pass through Python keep their value.
local kept, nkept = {}, 0
function t7.keep_error(value) nkept = nkept + 1; kept[nkept] = {value}; return nkept end
function lua_error_value(id, text)
   local box = kept[id]
   kept[id] = nil
   if box then return box[1] end
   return text
end
t7.drop_error = function(id) kept[id] = nil end

-- How Torch7 calls what it was given in place of a userdata: by the type that has the argument's number.
local QUIRK = {'boolean', 'userdata', 'number', 'string', 'table', 'function', 'userdata', 'thread'}

-- Classes stand where Torch7 has them: scripts ask `debug.getregistry()[x]` whether x is a class.
local registry = debug.getregistry()
t7.registry = registry

local function typename(x)
   local mt = getmetatable(x)
   if mt == nil then return nil end
   if type(x) == 'table' then mt = debug.getmetatable(x) end
   return registry[mt]
end
t7.typename = typename

function t7.typerror(n, expected, value)
   return t7.argerror(n, expected .. ' expected, got ' .. (typename(value) or QUIRK[n] or 'unknown object'))
end

local function luatypeerror(n, expected, narg, value)
   return t7.argerror(n, expected .. ' expected, got ' .. (n > narg and 'no value' or type(value)))
end
t7.luatypeerror = luatypeerror

local floor, ceil = math.floor, math.ceil
-- luaL_checklong
-- A number as C makes a long of it; NaN and what is too large become the smallest.
local function whole(value)
   value = value + 0
   if not (value >= -2^63 and value < 2^63) then return -2^63 end
   return value >= 0 and floor(value) or ceil(value)
end
t7.whole = whole

function t7.long(value, n, narg)
   if type(value) ~= 'number' then
      value = type(value) == 'string' and tonumber(value) or luatypeerror(n, 'number', narg or n, value)
   end
   return whole(value)
end
function t7.string(value, n, narg)
   if type(value) == 'number' then return tostring(value) end
   if type(value) ~= 'string' then luatypeerror(n, 'string', narg or n, value) end
   return value
end

-- Metatables ----------------------------------------------------------------------------------------------

-- A class may be its own ancestor.
local MOST_ANCESTORS = 200
local function find(mt, key)
   for _ = 1, MOST_ANCESTORS do
      if not mt then return nil end
      local value = rawget(mt, key)
      if value ~= nil then return value end
      mt = getmetatable(mt)
   end
   error('stack overflow', 0)
end

local function mt_index(self, key)
   local mt = getmetatable(self)
   local index = find(mt, '__index__')
   if index ~= nil then
      if type(index) ~= 'function' then t7.error('internal error: __index__ is not a function') end
      local value, found = index(self, key)
      if found then return value end
   end
   return find(mt, key)
end

local function mt_newindex(self, key, value)
   local mt = debug.getmetatable(self)
   local newindex = mt.__newindex__
   if type(newindex) == 'function' then
      if newindex(self, key, value) then return end
   elseif newindex ~= nil then
      t7.error('internal error: __newindex__ is not a function')
   end
   if type(self) == 'table' then rawset(self, key, value)
   else t7.error('the class ' .. tostring(typename(self)) .. ' cannot be indexed') end
end

local function unary(name, otherwise)
   local field = '__' .. name .. '__'
   return function(self, ...)
      local handler = debug.getmetatable(self)[field]
      if handler == nil then return otherwise(self) end
      if type(handler) == 'function' then return handler(self, ...) end
   end
end

local function binary(name, words, otherwise)
   local field = '__' .. name .. '__'
   return function(a, b)
      local mt = debug.getmetatable(a) or debug.getmetatable(b)
      local handler = mt[field]
      if handler == nil then
         if otherwise then return otherwise(a, b) end
         t7.error('both ' .. (typename(a) or '(null)') .. ' and ' .. (typename(b) or '(null)') ..
                  ' have no ' .. words .. ' operator')
      end
      if type(handler) == 'function' then return handler(a, b) end
   end
end

-- The address behind a userdata: tensors and storages that are one have one.
local function identity(x) return t7.identity(x) end

function torch.isequal(a, b)
   if type(a) == 'userdata' and type(b) == 'userdata' then return identity(a) == identity(b) end
   return type(a) == 'table' and type(b) == 'table' and rawequal(a, b)
end

local operators = {
   __add = binary('add', 'addition'), __sub = binary('sub', 'substraction'),
   __mul = binary('mul', 'multiplication'), __div = binary('div', 'division'),
   __mod = binary('mod', 'modulo'), __pow = binary('pow', 'power'),
   __concat = binary('concat', 'concat'), __lt = binary('lt', 'less-than'),
   __le = binary('le', 'less-equal'), __eq = binary('eq', '', torch.isequal),
   __tostring = unary('tostring', function(x) return typename(x) end),
   __call = unary('call', function(x) t7.error(typename(x) .. ' has no call operator') end),
   __unm = unary('unm', function(x) t7.error(typename(x) .. ' has no negation operator') end),
   __len = unary('len', function(x) t7.error(typename(x) .. ' has no length operator') end),
}

local function constructor_call(self, ...)
   local new = rawget(debug.getmetatable(self), '__new')
   if not new then t7.error_here('no constructor available') end
   -- What errors say of their place is that of this call: none.
   local function results(...) return ... end
   return results(new(...))
end
placeless[constructor_call] = true
local function constructor_newindex(self, key, value)
   local mt = debug.getmetatable(self).__metatable
   if not t7.class_written(mt, key, value) then rawset(mt, key, value) end
end

-- The table that a class lies in, and its name there.
local function module_of(name)
   local path, root = name:match('^(.*)%.([^.]*)$')
   if not path then return _G, name end
   local place, done = _G, nil
   for part in path:gmatch('[^.]+') do
      done = done and done .. '.' .. part or part
      place = place[part]
      if type(place) ~= 'table' then
         t7.error('while creating metatable ' .. name .. ': bad argument #1 (' .. done ..
                  ' is an invalid module name)')
      end
   end
   return place, root
end

-- `metatable` is one that exists already: that of a proxy.
local function newmetatable(name, parent, constructor, destructor, factory, module, metatable)
   name = t7.string(name, 1, name == nil and 0 or 1)
   local place, root
   if module then place, root = module, name:match('[^.]*$') else place, root = module_of(name) end
   local mt = registry[name]
   if not mt then
      mt = metatable or {}
      registry[name], registry[mt] = mt, name
      mt.__index, mt.__newindex = mt_index, mt_newindex
      mt.__typename, mt.__metatable, mt.__version = name, mt, 1
      for event, f in pairs(operators) do mt[event] = f end
      mt.__eq = function(a, b) return operators.__eq(a, b) end  -- objects of other classes differ
   end
   if parent then
      if debug.getmetatable(mt) then
         t7.error('class ' .. name .. ' has been already assigned a parent class\n')
      end
      local pmt = registry[parent]
      if not pmt then t7.error('bad argument #2 (invalid parent class name ' .. parent .. ')') end
      debug.setmetatable(mt, pmt)
   end
   if destructor then
      if rawget(mt, '__gc') then t7.error(name .. ' has been already assigned a destructor') end
      mt.__gc = destructor
   end
   if factory then
      if rawget(mt, '__factory') then t7.error(name .. ' has been already assigned a factory') end
      rawset(mt, '__factory', factory)
   end
   local ctor = rawget(mt, '__constructor')
   if not ctor then
      ctor = setmetatable({}, {__index = mt, __newindex = constructor_newindex,
                               __call = constructor_call, __metatable = mt})
      rawset(mt, '__constructor', ctor)
   end
   if constructor then
      local cmt = debug.getmetatable(ctor)
      if rawget(cmt, '__new') then t7.error(name .. ' has been already assigned a constructor') end
      cmt.__new = constructor
      rawset(mt, 'new', constructor)
   end
   place[root] = ctor
   return mt
end
torch.newmetatable = newmetatable

-- A class whose objects are userdata. Returns its metatable and a maker of objects from their state.
local newproxy, setfenv = newproxy, debug.setfenv
function t7.userdata_class(name, parent, constructor, factory, destructor)
   local proxy = newproxy(true)
   local mt = debug.getmetatable(proxy)
   newmetatable(name, parent, constructor, destructor, factory, nil, mt)
   return mt, function(state)
      local u = newproxy(proxy)
      setfenv(u, state)
      return u
   end
end

function torch.getmetatable(...)
   local mt = registry[t7.string((...), 1, select('#', ...))]
   if mt ~= nil then return mt end
end
function torch.setmetatable(object, name)
   local mt = registry[t7.string(name, 2)]
   if not mt then t7.error('unknown typename ' .. name .. '\n') end
   debug.setmetatable(object, mt)
   return name
end
function torch.metatype(name, mt) registry[name], registry[mt] = mt, name end
function torch.getconstructortable(...)
   local mt = registry[t7.string((...), 1, select('#', ...))]
   return mt and rawget(mt, '__constructor')
end
function torch.factory(...)
   local mt = registry[t7.string((...), 1, select('#', ...))]
   return mt and rawget(mt, '__factory')
end
function torch.typename(...)
   if select('#', ...) == 0 then t7.argerror(1, 'value expected') end
   local name = typename((...))
   if name then return name end
end
function torch.version(x)
   local mt = debug.getmetatable(x)
   return mt and mt.__version
end
function torch.getenv(...)
   local x = ...
   if type(x) ~= 'function' and type(x) ~= 'userdata' then
      luatypeerror(1, 'function or userdata', select('#', ...), x)
   end
   return debug.getfenv(x) or {}
end
function torch.setenv(x, env) debug.setfenv(x, env) end
function torch.pointer(x)
   local kind = type(x)
   if kind == 'userdata' then
      if not typename(x) then t7.argerror(1, 'Torch object expected') end
      return identity(x)
   elseif kind == 'cdata' then return tonumber(t7.ffi.cast('intptr_t', x))
   elseif kind == 'string' or kind == 'number' then return t7.string_pointer(tostring(x))
   elseif kind == 'table' or kind == 'thread' or kind == 'function' then return t7.pointer(x)
   end
   t7.error('Torch object, table, thread, cdata or function expected')
end
-- The address that Lua prints.
function t7.pointer(x)
   if type(x) == 'function' then return tonumber((tostring(x):gsub('^.*: (builtin#)?', '')), 16) or
      t7.string_pointer(tostring(x)) end
   if type(x) == 'table' then
      local mt = debug.getmetatable(x)
      if mt and rawget(mt, '__tostring') ~= nil then
         debug.setmetatable(x, nil)
         local text = tostring(x)
         debug.setmetatable(x, mt)
         return tonumber(text:match('0x%x+'))
      end
   end
   return tonumber(tostring(x):match('0x%x+'))
end
local strings, nstrings = {}, 0
function t7.string_pointer(s)
   if not strings[s] then nstrings = nstrings + 16; strings[s] = nstrings end
   return strings[s]
end
