-- Tensors and storages: geometry in Lua, numbers through the FFI, PyTorch's tensors where an operation needs one.
--
-- A storage is a userdata whose environment is its record; see memory.lua. A tensor is a userdata whose environment is its state {C, rec, off, n, sz, st, k, py}: offset (from 0), number of
-- dimensions, sizes and strides; `k` is the torch.Tensor that kernels get, made when one is needed and dropped when the
-- geometry changes; `py` is the torch.Tensor that Python code knows it by, which lives as long as the state.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local ffi = t7.ffi
local getfenv, getmetatable, setmetatable, type, select, unpack =
   debug.getfenv, getmetatable, setmetatable, type, select, unpack
local floor, ceil = math.floor, math.ceil
local argerror, typerror, long, fail = t7.argerror, t7.typerror, t7.long, t7.error

local classes = {}      -- by metatable of tensors
local storage_classes = {}
t7.tensor_classes, t7.storage_classes = classes, storage_classes
local class_named = {}  -- by 'Double'
t7.class_named = class_named
-- The class of another kind of numbers, such as 'Long', on the same side: a GPU's for a GPU's.
local function class_of_kind(C, kind)
   return C.cuda and class_named[kind == 'Float' and 'Cuda' or 'Cuda' .. kind] or class_named[kind]
end
t7.class_of_kind = class_of_kind
-- A tensor of indices ('Long') or a mask ('Byte') as those of a class are, or what it is. cutorch took various ones over the
-- years: those of its tensors' own type, and the CPU's.
local function as_kind(C, u, kind)
   local mt, K = getmetatable(u), C.cuda and class_of_kind(C, kind)
   return K and (mt == C.mt or mt == K.host.mt) and mt ~= K.mt and u:type(K.name) or u
end
t7.as_kind = as_kind
local new_record, resize_record, base_of, known_base = t7.new_record, t7.resize_record, t7.base_of, t7.known_base
local pointer = t7.address_pointer

-- Tensors -------------------------------------------------------------------------------------------------

local function wrap(C, rec, off, n, sz, st)
   return C.make{C = C, rec = rec, off = off, n = n, sz = sz, st = st, k = false, ver = 0, py = false}
end
t7.wrap = wrap

local function contiguous_strides(n, sz)
   local st, z = {}, 1
   for d = n, 1, -1 do
      st[d] = z
      z = z * sz[d]
   end
   return st, z
end

-- A new tensor, its numbers not set.
local function alloc(C, n, sz)
   if n == 0 then return wrap(C, nil, 0, 0, sz, {}) end
   local st, elements = contiguous_strides(n, sz)
   if elements <= t7.FEW and C.array then return wrap(C, new_record(C, elements), 0, n, sz, st) end
   local base, address
   if n == 1 then base, address = call(C.empty, sz[1])
   elseif n == 2 then base, address = call(C.empty, sz[1], sz[2])
   else base, address = call(C.empty, unpack(sz, 1, n)) end
   local rec = t7.record_of(C, base, address, elements)
   return C.make{C = C, rec = rec, off = 0, n = n, sz = sz, st = st, k = base, ver = 0, py = false}
end
t7.alloc = alloc

local function copy_list(list, n)
   local new = {}
   for d = 1, n do new[d] = list[d] end
   return new
end
t7.copy_list = copy_list

local function numel(s)
   local n = s.n
   if n == 0 then return 0 end
   local sz = s.sz
   local z = sz[1]
   for d = 2, n do z = z * sz[d] end
   return z
end
t7.numel = numel

local function is_contiguous(s)
   local z = 1
   local sz, st = s.sz, s.st
   for d = s.n, 1, -1 do
      if sz[d] ~= 1 then
         if st[d] ~= z then return false end
         z = z * sz[d]
      end
   end
   return true
end
t7.is_contiguous = is_contiguous

local function same_size(a, b)
   if a.n ~= b.n then return false end
   for d = 1, a.n do if a.sz[d] ~= b.sz[d] then return false end end
   return true
end
t7.same_size = same_size

-- The torch.Tensor over what a state describes.
local function view(s)
   local n, rec = s.n, s.rec
   local base = n > 0 and rec and base_of(rec)
   if not base then return call(s.C.nothing) end
   local sz, st = s.sz, s.st
   local off = rec.o + s.off
   if n == 1 then return call(python.view1, base, off, sz[1], st[1])
   elseif n == 2 then return call(python.view2, base, off, sz[1], sz[2], st[1], st[2]) end
   local args = {}
   for d = 1, n do args[d], args[n + d] = sz[d], st[d] end
   return call(python.view, base, off, n, unpack(args, 1, 2 * n))
end

-- The torch.Tensor that kernels get: one that never requires grad.
local function kernel_tensor(s)
   local k, rec = s.k, s.rec
   if k and (not rec or s.ver == rec.ver) then return k end
   k = view(s)
   if s.py and rec and s.ver ~= rec.ver then call(python.move, s.py, k) end
   s.k, s.ver = k, rec and rec.ver or 0
   return k
end
t7.kernel_tensor = kernel_tensor

-- A state gets another geometry, and with it the torch.Tensor that Python knows.
local function set_geometry(s, rec, off, n, sz, st)
   s.rec, s.off, s.n, s.sz, s.st, s.k, s.ver = rec, off, n, sz, st, false, rec and rec.ver or 0
   if s.py then call(python.move, s.py, view(s)) end
end
t7.set_geometry = set_geometry

-- Gives a tensor m dimensions in a storage, which grows if need be. Strides left out are those of a contiguous tensor.
local function lay_out(s, rec, off, m, sz, st)
   local size, stride, total = {}, {}, 1
   for d = m, 1, -1 do
      size[d] = sz[d]
      if st and st[d] and st[d] >= 0 then stride[d] = st[d]
      elseif d == m then stride[d] = 1
      else stride[d] = size[d + 1] * stride[d + 1] end
      total = total + (size[d] - 1) * stride[d]
   end
   if not rec then
      rec = new_record(s.C, total + off)
   elseif total + off > rec.n then
      resize_record(rec, total + off)
   end
   set_geometry(s, rec, off, m, size, stride)
end

-- THTensor_resizeNd: a size that is not positive ends the list; strides below 0 follow from the sizes.
local function resize(s, n, sz, st)
   local m = 0
   local same = true
   for d = 1, n do
      if not (sz[d] > 0) then break end
      m = d
      if s.n >= d and sz[d] ~= s.sz[d] then same = false end
      if s.n >= d and st and st[d] and st[d] >= 0 and st[d] ~= s.st[d] then same = false end
   end
   if m ~= s.n then same = false end
   if same then return end
   if m == 0 then return set_geometry(s, s.rec, s.off, 0, {}, {}) end
   lay_out(s, s.rec, s.off, m, sz, st)
end
t7.resize = resize

local function resize_as(s, other)
   if not same_size(s, other) then resize(s, other.n, other.sz) end
end
t7.resize_as = resize_as

-- THTensor_setStorage
local function set_storage(s, rec, off, n, sz, st)
   if off < 0 then fail('Tensor: invalid storage offset') end
   local m = 0
   for d = 1, n do if sz[d] > 0 then m = d else break end end
   if m == 0 then return set_geometry(s, rec, off, 0, {}, {}) end
   lay_out(s, rec, off, m, sz, st)
end
t7.set_storage = set_storage

-- Views that are new tensors
local function narrowed(s, d, first, size)
   if d < 1 or d > s.n then argerror(2, 'out of range') end
   if first < 1 or first > s.sz[d] then argerror(3, 'out of range') end
   if size <= 0 or first - 1 + size > s.sz[d] then argerror(4, 'out of range') end
   local sz = copy_list(s.sz, s.n)
   sz[d] = size
   return wrap(s.C, s.rec, s.off + (first - 1) * s.st[d], s.n, sz, copy_list(s.st, s.n))
end
t7.narrowed = narrowed

local function selected(s, d, i) -- i from 0, checked by the caller
   local sz, st, m = {}, {}, 0
   for e = 1, s.n do
      if e ~= d then
         m = m + 1
         sz[m], st[m] = s.sz[e], s.st[e]
      end
   end
   return wrap(s.C, s.rec, s.off + i * s.st[d], m, sz, st)
end
t7.selected = selected

-- Python's tensors in Lua, and Lua's in Python ------------------------------------------------------------

local known = setmetatable({}, {__mode = 'v'}) -- userdata by the id of their torch.Tensor

local function record_for(C, cdata, base, n, address)
   local rec = C.records[cdata]
   if rec then
      if n < rec.n then rec.ver = rec.ver + 1 end
      rec.n, rec.ptr, rec.known = n, pointer(C, address), true
      return rec
   end
   rec = {C = C, n = n, o = 0, ver = 0, ptr = pointer(C, address), base = call(python.base_of, base), known = true}
   t7.register(rec, cdata)
   return rec
end

local function geometry_of(n, ...)
   local sz, st = {}, {}
   for d = 1, n do sz[d], st[d] = select(d, ...), (select(n + d, ...)) end
   return sz, st
end

-- The class of a type of Python's tensors: those of GPUs are cutorch's.
local function class_of(type_name)
   local mt = t7.registry[type_name]
   if not mt then
      require 'cutorch'
      mt = t7.registry[type_name]
   end
   return classes[mt]
end

local function imported(t, id, type_name, cdata, elements, address, off, n, ...)
   local C = class_of(type_name)
   local sz, st = geometry_of(n, ...)
   local rec = cdata ~= 0 and record_for(C, cdata, t, elements, address) or nil
   local u = known[id]
   if u and getfenv(u).C ~= C then
      -- Converted in place: who holds the Lua tensor keeps what it was, as in Torch7.
      getfenv(u).py = nil
      u = nil
   end
   if u then
      local s = getfenv(u)
      local same = s.rec == rec and s.off == off and s.n == n
      for d = 1, n do same = same and s.sz[d] == sz[d] and s.st[d] == st[d] end
      if s.C ~= C then debug.setmetatable(u, C.mt) end
      if not same or s.C ~= C then
         s.C, s.rec, s.off, s.n, s.sz, s.st, s.k, s.ver = C, rec, off, n, sz, st, false, rec and rec.ver or 0
      end
      return u
   end
   u = C.make{C = C, rec = rec, off = off, n = n, sz = sz, st = st, k = false, ver = rec and rec.ver or 0, py = t}
   known[id] = u
   return u
end
-- The Lua tensor for a torch.Tensor: always the same while there is one.
function t7.import_tensor(t) return imported(t, call(python.describe_tensor, t)) end

function t7.known_tensor(id) return known[id] end
function t7.knows_tensor(id) return known[id] ~= nil end

-- The torch.Tensor for a Lua tensor, for Python code that may keep it.
function t7.export_tensor(u)
   local s = getfenv(u)
   local py = s.py
   if py then
      kernel_tensor(s) -- refuses what lies beyond the end of its storage
      return py
   end
   -- Not the kernels' tensor, which may be the one that the record keeps its memory by: Python may
   -- move what it is given.
   if s.rec then s.rec.known = true end
   py = view(s)
   s.py, s.k, s.ver = py, false, s.rec and s.rec.ver or 0
   local id, cdata = call(python.identify, py, t7.tells_types and s.C.name)
   known[id] = u
   if s.rec and cdata ~= 0 and not s.rec.view then t7.register(s.rec, cdata) end
   return py
end

-- A storage as a flat tensor of Lua.
function t7.tensor_of(u)
   local rec = getfenv(u)
   return wrap(storage_classes[getmetatable(u)], rec, 0, 1, {rec.n}, {1})
end

-- What a record holds as a flat torch.Tensor.
local function flat(rec)
   if rec.n == 0 then return call(rec.C.nothing) end
   return call(python.view1, base_of(rec), rec.o, rec.n, 1)
end
-- Storages cross as flat tensors.
function t7.export_storage(u)
   local rec = getfenv(u)
   rec.known = true
   local py = flat(rec)
   if t7.tells_types then call(python.identify, py, storage_classes[getmetatable(u)].name) end
   return py
end

local function state(u)
   local mt = getmetatable(u)
   if mt and classes[mt] then return getfenv(u) end
end
t7.state = state
local function storage_record(u)
   local mt = getmetatable(u)
   if mt and storage_classes[mt] then return getfenv(u) end
end
t7.storage_record = storage_record

-- A number that tells objects apart: tensors, records, anything with an environment of its own.
function t7.identity(u)
   return t7.pointer(getfenv(u))
end

-- Sizes given as numbers or as a LongStorage --------------------------------------------------------------

local LongStorage -- metatable, set below

local function longs_of(u)
   local rec = getfenv(u)
   local list = {}
   local get = rec.C.get
   for i = 1, rec.n do list[i] = get(rec, i - 1) end
   return list, rec.n
end
t7.longs_of = longs_of

local function is_long_storage(u) return getmetatable(u) == LongStorage end
t7.is_long_storage = is_long_storage

local function new_long_storage(list, n)
   local C = class_named.Long
   local rec = new_record(C, n)
   local set = C.set
   for i = 1, n do set(rec, i - 1, list[i]) end
   return C.make_storage(rec)
end
t7.new_long_storage = new_long_storage

-- c_readSizeStride: `first` is the number of the argument that `...` begins with.
local function read_size_stride(first, allow_stride, ...)
   local narg = select('#', ...)
   local a, b = ...
   if is_long_storage(a) then
      local sz, n = longs_of(a)
      local st
      if narg > 1 and b ~= nil then
         if not is_long_storage(b) then argerror(first + 1, 'torch.LongStorage expected') end
         local m
         st, m = longs_of(b)
         if m ~= n then argerror(first + 1, 'provided stride and size are inconsistent') end
      end
      return n, sz, st
   end
   local sz, st, n = {}, nil, 0
   if allow_stride then
      st = {}
      for i = 0, 7 do
         if 2 * i + 1 > narg then break end
         n = n + 1
         sz[n] = long((select(2 * i + 1, ...)), first + 2 * i, narg + first - 1)
         if 2 * i + 2 > narg then break end
         st[n] = long((select(2 * i + 2, ...)), first + 2 * i + 1, narg + first - 1)
      end
   else
      for i = 1, narg < 8 and narg or 8 do
         n = n + 1
         sz[n] = long((select(i, ...)), first + i - 1, narg + first - 1)
      end
   end
   return n, sz, st
end

-- Nested tables of numbers
local function from_table(C, t)
   local sz, n, level = {}, 0, t
   while type(level) == 'table' and #level > 0 do
      n = n + 1
      sz[n] = #level
      level = level[1]
   end
   if n == 0 then return alloc(C, 0, {}) end
   local u = alloc(C, n, sz)
   local rec, i = getfenv(u).rec, 0
   local set = C.set
   local function fill(t, d)
      if type(t) ~= 'table' then fail('invalid tensor definition') end
      if #t ~= sz[d] then fail('invalid tensor sizes') end
      for j = 1, sz[d] do
         local v = t[j]
         if d < n then fill(v, d + 1)
         else
            if type(v) ~= 'number' then
               v = type(v) == 'string' and tonumber(v) or fail('invalid element (not a number)')
            end
            set(rec, i, v)
            i = i + 1
         end
      end
   end
   fill(t, 1)
   return u
end

-- c_readTensorStorageSizeStride, applied to a state
local function set_from(s, first, ...)
   local C = s.C
   local narg = select('#', ...)
   local a = ...
   if narg == 0 then return set_storage(s, nil, 0, 0, {}) end
   local mt = getmetatable(a)
   if mt == C.mt then
      local o = getfenv(a)
      return set_storage(s, o.rec, o.off, o.n, o.sz, o.st)
   elseif mt == C.smt then
      local rec = getfenv(a)
      if narg == 1 then return set_storage(s, rec, 0, 1, {rec.n}, {1}) end
      local off = long((select(2, ...)), first + 1, narg + first - 1) - 1
      return set_storage(s, rec, off, read_size_stride(first + 2, true, select(3, ...)))
   elseif type(a) == 'number' or is_long_storage(a) then
      return set_storage(s, nil, 0, read_size_stride(first, false, ...))
   end
   argerror(first, 'expecting number or ' .. C.name .. ' or ' .. C.sname)
end

-- Indexing ------------------------------------------------------------------------------------------------

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
   if mt == LongStorage then return s.C.get(s.rec, offset_of(s, k)), true end
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
   if mt == LongStorage then
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

-- Classes -------------------------------------------------------------------------------------------------

local methods, storage_methods = {}, {}
t7.methods, t7.storage_methods = methods, storage_methods

local function tensor_arg(C, u, n)
   if getmetatable(u) ~= C.mt then typerror(n, C.name, u) end
   return getfenv(u)
end

-- Makes the two classes of one type; `kind` is its name in Torch7, such as "Double" or "CudaLong". A type for GPUs has a
-- `host`, the class of the same numbers on the CPU. Its numbers are PyTorch's from the start, on the device that is the
-- current one then; where that is the CPU, tensors of both classes may lie in one storage.
function t7.new_type(kind, real, accreal, ctype, esize, integer, host)
   local name = 'torch.' .. kind .. 'Tensor'
   local C = {kind = kind, numbers = host and host.kind or kind, cuda = host and true or false, name = name,
              sname = 'torch.' .. kind .. 'Storage', short = kind .. 'Tensor', real = real, accreal = accreal,
              esize = esize, integer = integer, ctype = ffi and ctype and ffi.typeof(ctype .. '*'),
              array = ffi and ctype and not host and ffi.typeof(ctype .. '[?]'), host = host,
              records = host and host.records or setmetatable({}, {__mode = 'v'})}
   C.empty, C.nothing = python.allocator(name)
   C.cast = t7.caster(C)
   local smt, make_storage = t7.userdata_class(C.sname, nil, function(...) return C.new_storage(...) end,
      function() return C.make_storage(new_record(C, 0)) end)
   local mt, make = t7.userdata_class(name, nil, function(...) return C.new(...) end,
      function() return alloc(C, 0, {}) end)
   C.mt, C.smt, C.make, C.make_storage = mt, smt, make, make_storage
   classes[mt], storage_classes[smt], class_named[kind] = C, C, C
   if kind == 'Long' then LongStorage = smt end
   accessors(C)

   function C.new(...)
      local a, b = ...
      if type(a) == 'table' then return (from_table(C, t7.plain(a))) end
      if type(a) == 'number' and type(b) ~= 'table' then
         -- The usual: sizes.
         local narg = select('#', ...)
         local sz, n = {}, 0
         for i = 1, narg < 8 and narg or 8 do
            local z = long((select(i, ...)), i, narg)
            if not (z > 0) then break end
            sz[i], n = z, i
         end
         return alloc(C, n, sz)
      end
      local u = alloc(C, 0, {})
      set_from(getfenv(u), 1, ...)
      return u
   end
   function C.new_storage(...)
      local a, b, c, in_memory = ...
      if type(a) == 'table' then
         a = t7.plain(a)
         local rec = new_record(C, #a)
         for i = 1, #a do
            local v = a[i]
            if type(v) ~= 'number' then
               v = type(v) == 'string' and tonumber(v) or
                  fail('element at index ' .. i .. ' is not a number')
            end
            C.set(rec, i - 1, v)
         end
         return make_storage(rec)
      elseif type(a) == 'string' then
         -- Memory that processes share is a file, too.
         local path = in_memory and '/dev/shm/' .. a or a
         local base, address, n = call(python.map_file, path, C.name, b == true, c or 0, in_memory == true)
         if n == 0 then return make_storage(new_record(C, 0)) end
         return make_storage{C = C, n = n, o = 0, ver = 0, ptr = pointer(C, address), base = base, view = true}
      elseif type(a) == 'userdata' then
         if getmetatable(a) ~= smt then typerror(1, C.sname, a) end
         local rec = getfenv(a)
         local off = (b and long(b, 2) or 1) - 1
         if off < 0 or off >= rec.n then fail('offset out of bounds') end
         local n = c and long(c, 3) or rec.n - off
         if n < 1 or n > rec.n - off then fail('size out of bounds') end
         local part = {C = C, n = n, ver = 0, o = rec.o + off, base = known_base(rec), view = rec, known = true,
                       ptr = t7.shifted(rec, off)}
         rec.parts = rec.parts or setmetatable({}, {__mode = 'k'})
         rec.parts[part] = true
         return make_storage(part)
      end
      return make_storage(new_record(C, a and long(a, 1) or 0))
   end
   -- Methods check that they are called on a tensor of their class.
   for name, f in pairs(methods) do
      mt[name] = function(u, ...)
         if getmetatable(u) ~= mt then typerror(1, C.name, u) end
         return f(getfenv(u), u, ...)
      end
   end
   for name, f in pairs(storage_methods) do
      smt[name] = function(u, ...)
         if getmetatable(u) ~= smt then typerror(1, C.sname, u) end
         return f(getfenv(u), u, ...)
      end
   end
   if C.numbers == 'Half' then
      for _, name in ipairs{'index', 'indexCopy', 'indexAdd', 'indexFill', 'maskedSelect', 'maskedCopy', 'maskedFill', 'apply',
                            'map', 'map2'} do mt[name] = nil end
   end
   -- These look at no argument.
   function mt.elementSize() return C.esize end
   smt.elementSize = mt.elementSize
   mt.__len__ = mt.size
   mt.__len = mt.size
   smt.__len__ = smt.size
   smt.__len = smt.size
   return C
end

-- Methods of tensors --------------------------------------------------------------------------------------

local function dimension(s, d)
   d = long(d, 2)
   if d < 1 or d > s.n then
      argerror(2, 'dimension ' .. d .. ' out of range of ' .. s.n .. 'D tensor')
   end
   return d
end
function methods.size(s, u, d)
   if type(d) == 'number' then
      local z = s.sz[d]
      if z then return z end
      return s.sz[dimension(s, d)]
   end
   if type(d) == 'string' and tonumber(d) then return s.sz[dimension(s, d)] end
   return new_long_storage(s.sz, s.n)
end
function methods.stride(s, u, d)
   if tonumber(d) then return s.st[dimension(s, d)] end
   return new_long_storage(s.st, s.n)
end
function methods.nDimension(s) return s.n end
methods.dim = methods.nDimension
function methods.nElement(s) return numel(s) end
function methods.storage(s) return s.rec and s.C.make_storage(s.rec) or nil end
function methods.storageOffset(s) return s.off + 1 end
function methods.isContiguous(s) return is_contiguous(s) end
function methods.retain() end
function methods.free() end

function methods.set(s, u, ...) set_from(s, 2, ...) return u end
function methods.resize(s, u, ...) resize(s, read_size_stride(2, false, ...)) return u end
function methods.resizeAs(s, u, other)
   resize_as(s, tensor_arg(s.C, other, 2))
   return u
end

function methods.clone(s)
   local new = alloc(s.C, s.n, copy_list(s.sz, s.n))
   if s.n > 0 then t7.copy(getfenv(new), s) end
   return new
end
function methods.contiguous(s)
   if is_contiguous(s) then
      return wrap(s.C, s.rec, s.off, s.n, copy_list(s.sz, s.n), copy_list(s.st, s.n))
   end
   return methods.clone(s)
end

function methods.narrow(s, u, ...)
   local narg = select('#', ...) + 1
   local d, first, size = ...
   return narrowed(s, long(d, 2, narg), long(first, 3, narg), long(size, 4, narg))
end
function methods.select(s, u, ...)
   local narg = select('#', ...) + 1
   local d, i = ...
   d, i = long(d, 2, narg), long(i, 3, narg)
   if s.n > 1 then
      if d < 1 or d > s.n then argerror(2, 'out of range') end
      if i < 1 or i > s.sz[d] then argerror(3, 'out of range') end
      return selected(s, d, i - 1)
   end
   if s.n ~= 1 then argerror(1, 'empty Tensor') end
   if i < 1 or i > s.sz[1] then argerror(2, 'out of range') end
   return s.C.get(s.rec, s.off + (i - 1) * s.st[1])
end
function methods.sub(s, u, ...)
   local narg = select('#', ...) + 1
   local result = u
   local d = 0
   local new = s
   for arg = 2, 8, 2 do
      if arg > 2 and arg > narg then break end
      d = d + 1
      local first, last = select(arg - 1, ...)
      first, last = long(first, arg, narg), long(last, arg + 1, narg)
      if s.n < d then argerror(arg, 'invalid dimension') end
      local size = s.sz[d]
      if first < 1 then first = first + size + 1 end
      if last < 1 then last = last + size + 1 end
      if first < 1 or first > size then argerror(arg, 'out of range') end
      if last < 1 or last > size then argerror(arg + 1, 'out of range') end
      if last < first then argerror(arg + 1, 'end smaller than beginning') end
      result = narrowed(new, d, first, last - first + 1)
      new = getfenv(result)
   end
   return result
end
function methods.transpose(s, u, ...)
   local narg = select('#', ...) + 1
   local a, b = ...
   a, b = long(a, 2, narg), long(b, 3, narg)
   if a < 1 or a > s.n then argerror(1, 'out of range') end
   if b < 1 or b > s.n then argerror(2, 'out of range') end
   local sz, st = copy_list(s.sz, s.n), copy_list(s.st, s.n)
   sz[a], sz[b], st[a], st[b] = sz[b], sz[a], st[b], st[a]
   return wrap(s.C, s.rec, s.off, s.n, sz, st)
end
function methods.t(s)
   if s.n ~= 2 then argerror(1, 'Tensor must have 2 dimensions') end
   return wrap(s.C, s.rec, s.off, 2, {s.sz[2], s.sz[1]}, {s.st[2], s.st[1]})
end
function methods.unfold(s, u, ...)
   local narg = select('#', ...) + 1
   local d, size, step = ...
   d, size, step = long(d, 2, narg), long(size, 3, narg), long(step, 4, narg)
   if s.n == 0 then argerror(1, 'cannot unfold an empty tensor') end
   if d < 1 or d > s.n then argerror(2, 'out of range') end
   if size < 1 or size > s.sz[d] then argerror(3, 'out of range') end
   if step <= 0 then argerror(4, 'invalid step') end
   local n = s.n
   local sz, st = copy_list(s.sz, n), copy_list(s.st, n)
   sz[n + 1], st[n + 1] = size, st[d]
   sz[d], st[d] = floor((sz[d] - size) / step) + 1, step * st[d]
   return wrap(s.C, s.rec, s.off, n + 1, sz, st)
end
function methods.isSameSizeAs(s, u, other) return same_size(s, tensor_arg(s.C, other, 2)) end
function methods.isSize(s, u, size)
   if not is_long_storage(size) then typerror(2, 'torch.LongStorage', size) end
   local list, n = longs_of(size)
   if n ~= s.n then return false end
   for d = 1, n do if list[d] ~= s.sz[d] then return false end end
   return true
end
function methods.isSetTo(s, u, other)
   local o = tensor_arg(s.C, other, 2)
   if not s.rec or s.rec ~= o.rec or s.off ~= o.off or s.n ~= o.n then return false end
   for d = 1, s.n do if s.sz[d] ~= o.sz[d] or s.st[d] ~= o.st[d] then return false end end
   return true
end

-- Copies the numbers of one state to another, of whatever type and shape, if the counts agree.
function t7.copy(s, o)
   local n = numel(s)
   if n ~= numel(o) then t7.inconsistent({'tensor', s}, {'src', o}) end
   if n == 0 then return end
   if s.rec == o.rec and t7.tangled(s, o) then return t7.sequential('copy', s, o) end
   if t7.copy_here(s, o, n) then return end
   return call(python.kernels.copy, kernel_tensor(s), kernel_tensor(o))
end
function methods.copy(s, u, other)
   local o = state(other)
   if not o then t7.luatypeerror(2, 'torch.*Tensor', 2, other) end
   t7.copy(s, o)
   return u
end

-- Who holds an address may write there at any time: numbers stay where they are from then on.
local function address(C, rec, off)
   base_of(rec)
   if rec.ptr == false then fail('the numbers of this ' .. C.name .. ' are on a device, where PyTorch alone addresses them') end
   return C.ctype and rec.ptr + off or nil
end
function methods.data(s) return s.rec and address(s.C, s.rec, s.off) or nil end
function methods.cdata(s, u) return u end

-- The error for tensors of different counts, each given as {its name, its state}.
function t7.inconsistent(...)
   local given = {...}
   local sizes, counts = {}, {}
   for i, pair in ipairs(given) do
      sizes[i] = pair[1] .. ' [' .. table.concat(copy_list(pair[2].sz, pair[2].n), ' x ') .. ']'
      counts[i] = tostring(numel(pair[2]))
   end
   local function list(words)
      local last = table.remove(words)
      return table.concat(words, ', ') .. ' and ' .. last
   end
   fail('inconsistent tensor size, expected ' .. list(sizes) .. ' to have the same number of elements, but got ' ..
        list(counts) .. ' elements respectively')
end

-- A record whose numbers Lua can reach: the one given, or for one on a device a copy.
function t7.in_reach(rec)
   if rec.ptr ~= false then return rec end
   local copied = new_record(rec.C.host, rec.n)
   call(python.kernels.copy, flat(copied), flat(rec))
   return copied
end

-- Methods of storages -------------------------------------------------------------------------------------

function storage_methods.size(rec) return rec.n end
function storage_methods.retain() end
function storage_methods.free() end
function storage_methods.resize(rec, u, ...)
   resize_record(rec, long((...), 2, select('#', ...) + 1))
   return u
end
function storage_methods.fill(rec, u, ...)
   local v = ...
   if not tonumber(v) then t7.luatypeerror(2, 'number', select('#', ...) + 1, v) end
   v = rec.C.cast(tonumber(v))
   local set = rec.C.set
   if rec.n < 64 and rec.ptr then
      for i = 0, rec.n - 1 do set(rec, i, v) end
   else
      call(python.kernels.fill, flat(rec), v)
   end
   return u
end
function storage_methods.copy(rec, u, ...)
   local o = storage_record((...))
   if not o then t7.luatypeerror(2, 'torch.*Storage', select('#', ...) + 1, (...)) end
   if o.n ~= rec.n then argerror(2, 'size mismatch') end
   if rec.n > 0 then call(python.kernels.copy, flat(rec), flat(o)) end
   return u
end
function storage_methods.totable(rec)
   rec = t7.in_reach(rec)
   local t, get = {}, rec.C.get
   for i = 1, rec.n do t[i] = get(rec, i - 1) end
   return t
end
function storage_methods.data(rec)
   return address(rec.C, rec, 0) or rec.ptr
end
function storage_methods.cdata(rec, u) return u end
function t7.storage_string(rec)
   if rec.n == 0 then return '' end
   if ffi and rec.C.ctype then return ffi.string(rec.ptr, rec.n) end
   return call(python.storage_bytes, rec.base, rec.o, rec.n)
end
function t7.set_storage_string(rec, text)
   resize_record(rec, #text)
   if #text == 0 then return end
   if ffi and rec.C.ctype then ffi.copy(rec.ptr, text, #text)
   else call(python.set_storage_bytes, rec.base, rec.o, text) end
end
