-- Tensors and storages: geometry in Lua, numbers through the FFI, PyTorch's tensors where an operation needs one.
--
-- A storage is a userdata whose environment is its record; see memory.lua. A tensor is a userdata whose environment is its
-- state {C, rec, off, n, sz, st, k, py}: class, record, offset (from 0), number of dimensions, sizes and strides; `k` is the torch.Tensor that kernels get, made when one is needed and dropped when the
-- geometry changes; `py` is the torch.Tensor that Python code knows it by, which lives as long as the state.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local getfenv, getmetatable, setmetatable, type, select, unpack =
   debug.getfenv, getmetatable, setmetatable, type, select, unpack
local argerror, long, fail = t7.argerror, t7.long, t7.error

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
local new_record, resize_record, base_of = t7.new_record, t7.resize_record, t7.base_of
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
   if rec.n == 0 then return rec.base or call(rec.C.nothing) end
   return call(python.view1, base_of(rec), rec.o, rec.n, 1)
end
-- Storages cross as flat tensors. One that Python keeps stays itself, if nothing is in it, too.
function t7.export_storage(u, is_kept)
   local rec = getfenv(u)
   rec.known = true
   local py = flat(rec)
   if is_kept and rec.n == 0 then
      rec.base = py
      t7.register(rec, call(python.storage_identity, py))
   end
   if t7.tells_types then call(python.identify, py, storage_classes[getmetatable(u)].name) end
   return py
end

-- The storage that Python keeps as a tensor.
function t7.import_storage(py)
   local u = t7.import_tensor(py)
   local C, rec = getfenv(u).C, getfenv(u).rec
   if not rec then -- nothing is in it
      local identity = call(python.storage_identity, py)
      rec = C.records[identity] or t7.new_record(C, 0)
      rec.base = rec.base or call(python.base_of, py)
      t7.register(rec, identity)
   end
   return C.make_storage(rec)
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
t7.from_table, t7.set_from, t7.read_size_stride, t7.flat = from_table, set_from, read_size_stride, flat
function t7.set_long_storage(mt) LongStorage = mt end
