-- x[…] of tensors and storages: reading and writing elements and parts.
local t7 = ...
local getfenv, getmetatable, setmetatable, type, select = debug.getfenv, getmetatable, setmetatable, type, select
local floor, ceil = math.floor, math.ceil
local argerror, fail = t7.argerror, t7.error
local class_of_kind, as_kind, wrap, state = t7.class_of_kind, t7.as_kind, t7.wrap, t7.state
local copy_list, longs_of, is_long_storage = t7.copy_list, t7.longs_of, t7.is_long_storage


local trunc = function(x) return x >= 0 and floor(x) or ceil(x) end

-- x[{…}]: a state like that of a tensor, or the offset of one element.
local function indexed(s, t)
   local n = s.n
   t = t7.plain(t)
   if #t > n then argerror(2, 'too many indices provided') end
   local sz, st, off = copy_list(s.sz, n), copy_list(s.st, n), s.off
   local m, c = n, 1 -- dimensions left, and the current one
   for d = 1, n do
      local v = t[d]
      if type(v) == 'string' then v = tonumber(v) end
      if type(v) == 'number' then
         local z = trunc(v) - 1
         if z < 0 then z = sz[c] + z + 1 end
         if not (z >= 0 and z < sz[c]) then argerror(2, 'index out of bound') end
         off = off + z * st[c]
         if m == 1 then return nil, off end
         for e = c, m - 1 do sz[e], st[e] = sz[e + 1], st[e + 1] end
         sz[m], st[m] = nil, nil
         m = m - 1
      elseif type(v) == 'table' then
         local first, last = 0, sz[c] - 1
         local a, b = v[1], v[2]
         if tonumber(a) then first = trunc(tonumber(a)) - 1; last = first end
         if first < 0 then first = sz[c] + first + 1 end
         if not (first >= 0 and first < sz[c]) then argerror(2, 'start index out of bound') end
         if tonumber(b) then last = trunc(tonumber(b)) - 1 end
         if last < 0 then last = sz[c] + last + 1 end
         if not (last >= 0 and last < sz[c]) then argerror(2, 'end index out of bound') end
         if last < first then argerror(2, 'end index must be greater or equal to start index') end
         off, sz[c] = off + first * st[c], last - first + 1
         c = c + 1
      else
         break
      end
   end
   return wrap(s.C, s.rec, off, m, sz, st)
end

local function offset_of(s, longs)
   local idx, n = longs_of(longs)
   if n ~= s.n then argerror(2, 'invalid size') end
   local off = s.off
   for d = 1, n do
      local z = idx[d] - 1
      if z < 0 then z = s.sz[d] + z + 1 end
      if not (z >= 0 and z < s.sz[d]) then argerror(2, 'index out of bound') end
      off = off + z * s.st[d]
   end
   return off
end

local function index_other(u, s, k)
   if type(k) == 'table' then
      local v, off = indexed(s, k)
      if v == nil then return s.C.get(s.rec, off), true end
      return v, true
   end
   local mt = getmetatable(k)
   if is_long_storage(k) then return s.C.get(s.rec, offset_of(s, k)), true end
   local mask = mt and as_kind(s.C, k, 'Byte')
   if mask and getmetatable(mask) == class_of_kind(s.C, 'Byte').mt then
      if s.C.numbers == 'Half' then fail('ByteTensor based indexing not yetsupported with half type') end
      return t7.ops.maskedSelect(s.C, nil, u, mask), true
   end
   return nil, false
end

local function write(u, s, v, n)
   if type(v) == 'string' then v = tonumber(v) or v end
   if type(v) == 'number' then return t7.ops.fill(s.C, u, s.C.cast(v)) end
   local o = state(v)
   if not o then t7.luatypeerror(n or 3, 'torch.*Tensor', 3, v) end
   return t7.copy(s, o)
end

local function newindex_other(u, s, k, v)
   local number = type(v) == 'number' and v or type(v) == 'string' and tonumber(v)
   if type(k) == 'table' then
      local view, off = indexed(s, k)
      if view == nil then
         if not number then t7.luatypeerror(3, 'number', 3, v) end
         s.C.set(s.rec, off, number)
      else
         write(view, getfenv(view), v)
      end
      return true
   end
   local mt = getmetatable(k)
   if is_long_storage(k) then
      if not number then t7.luatypeerror(3, 'number', 3, v) end
      s.C.set(s.rec, offset_of(s, k), number)
      return true
   end
   local mask = mt and as_kind(s.C, k, 'Byte')
   if mask and getmetatable(mask) == class_of_kind(s.C, 'Byte').mt then
      if s.C.numbers == 'Half' then fail('ByteTensor indexing not yet supported with half types') end
      if number then t7.ops.maskedFill(s.C, u, mask, s.C.cast(number))
      elseif getmetatable(v) == s.C.mt then t7.ops.maskedCopy(s.C, u, mask, v)
      else fail('number or ' .. s.C.name .. ' expected') end
      return true
   end
   return false
end

-- One set of accessors for each type, compiled from a text so that each is fast for its own pointers.
local ACCESS = [[
local t7, C, MT, SMT = ...
local getfenv, type, floor, ceil, tonumber = debug.getfenv, type, math.floor, math.ceil, tonumber
local argerror, get_item, set_item = t7.argerror, t7.python.get_item, t7.python.set_item
local wrap, call = t7.wrap, t7.call
local index_other, newindex_other, selected, write = t7.index_other, t7.newindex_other, t7.selected, t7.write
local narrow, state, sound = t7.narrowed, t7.state, t7.sound

local function beyond() t7.error('the storage is too small for the tensor') end
function C.get(rec, i)
   if i >= rec.n then beyond() end
   return GET
end
function C.set(rec, i, v)
   if i >= rec.n then beyond() end
   SET
end

local function element(u, k)
   local s = getfenv(u)
   local z = (k >= 0 and floor(k) or ceil(k)) - 1
   if s.n == 0 then argerror(1, 'empty tensor') end
   local size = s.sz[1]
   if z < 0 then z = size + z + 1 end
   if not (z >= 0 and z < size) then argerror(2, 'out of range') end
   if s.n == 1 then
      local rec, i = s.rec, s.off + z * s.st[1]
      if i >= rec.n then beyond() end
      return GET
   end
   return selected(s, 1, z)
end

local function set_element(u, k, v)
   local s = getfenv(u)
   if s.n == 0 then argerror(1, 'empty tensor') end
   local z = (k >= 0 and floor(k) or ceil(k)) - 1
   local size = s.sz[1]
   if z < 0 then z = size + z + 1 end
   if s.n == 1 and type(v) == 'number' then
      if not (z >= 0 and z < size) then argerror(2, 'out of range') end
      local rec, i = s.rec, s.off + z * s.st[1]
      if i >= rec.n then beyond() end
      SET
      return
   end
   if type(v) == 'string' and tonumber(v) then return set_element(u, k, tonumber(v)) end
   if type(v) ~= 'number' and not state(v) then t7.luatypeerror(3, 'torch.*Tensor', 3, v) end
   if not (z >= 0 and z < size) then argerror(3, 'out of range') end
   local view = narrow(s, 1, z + 1, 1)
   write(view, getfenv(view), v)
end

function MT.__index__(u, k)
   if type(k) == 'number' then return element(u, k), true end
   local number = type(k) == 'string' and tonumber(k)
   if number then return element(u, number), true end
   return index_other(u, getfenv(u), k)
end
function MT.__newindex__(u, k, v)
   local number = tonumber(k)
   if number then set_element(u, number, v) return true end
   return newindex_other(u, getfenv(u), k, v)
end
MT.__index = function(u, k)
   if type(k) == 'number' then return element(u, k) end
   local v = MT[k]
   if v ~= nil then return v end
   return (MT.__index__(u, k))
end
MT.__newindex = function(u, k, v)
   if type(k) == 'number' then return set_element(u, k, v) end
   if not MT.__newindex__(u, k, v) then
      t7.error_here('the class ' .. C.name .. ' cannot be indexed')
   end
end

local function storage_element(u, k)
   local rec = getfenv(u)
   local i = (k >= 0 and floor(k) or ceil(k)) - 1
   if not (i >= 0 and i < rec.n) then argerror(2, 'out of bounds') end
   return GET
end
local function set_storage_element(u, k, v)
   local rec = getfenv(u)
   local i = (k >= 0 and floor(k) or ceil(k)) - 1
   if type(v) ~= 'number' then
      v = type(v) == 'string' and tonumber(v) or t7.luatypeerror(3, 'number', 3, v)
   end
   if not (i >= 0 and i < rec.n) then argerror(2, 'out of bounds') end
   SET
end
function SMT.__index__(u, k)
   local number = tonumber(k)
   if number then return storage_element(u, number), true end
   return nil, false
end
function SMT.__newindex__(u, k, v)
   local number = tonumber(k)
   if number then set_storage_element(u, number, v) return true end
   return false
end
SMT.__index = function(u, k)
   if type(k) == 'number' then return storage_element(u, k) end
   local v = SMT[k]
   if v ~= nil then return v end
   return (SMT.__index__(u, k))
end
SMT.__newindex = function(u, k, v)
   if not SMT.__newindex__(u, k, v) then
      t7.error_here('the class ' .. C.sname .. ' cannot be indexed')
   end
end
for _, f in pairs{MT.__index, MT.__newindex, SMT.__index, SMT.__newindex, element, set_element, storage_element,
                   set_storage_element} do t7.placeless[f] = true end
]]
t7.index_other, t7.newindex_other, t7.write = index_other, newindex_other, write

local function accessors(C)
   local get, set
   local through_python, into_python = 'call(get_item, rec.base, rec.o + i)', 'call(set_item, rec.base, rec.o + i, v)'
   -- As C converts: the fraction goes, and so do the bits that are too many.
   local from_memory = C.integer and (C.numbers == 'Long' and 'tonumber(rec.ptr[i])' or 'rec.ptr[i]') or 'sound(rec.ptr[i])'
   -- What is no int, or no long, is the lowest of them.
   local to_memory = 'rec.ptr[i] = v'
   if C.integer then
      local most = C.numbers == 'Long' and '2^63' or '2^31'
      to_memory = ('if v >= -%s and v < %s then rec.ptr[i] = v else rec.ptr[i] = -%s end'):format(most, most, most)
   end
   if not C.ctype then
      get, set = through_python, into_python
   elseif C.cuda then
      get = ('(rec.ptr and %s or %s)'):format(from_memory, through_python)
      set = ('if rec.ptr then %s else %s end'):format(to_memory, into_python)
   else
      get, set = from_memory, to_memory
   end
   local text = ACCESS:gsub('GET', get):gsub('SET', set)
   assert(loadstring(text, '=(torch)'))(t7, C, C.mt, C.smt)
end
t7.accessors = accessors
