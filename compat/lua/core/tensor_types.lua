-- The classes of tensors and storages, two for each type of numbers.
local t7 = ...
local python, call, ffi = t7.python, t7.call, t7.ffi
local getfenv, getmetatable, setmetatable, type, select = debug.getfenv, getmetatable, setmetatable, type, select
local argerror, typerror, long, fail = t7.argerror, t7.typerror, t7.long, t7.error
local classes, storage_classes, class_named = t7.tensor_classes, t7.storage_classes, t7.class_named
local alloc, from_table, set_from, flat = t7.alloc, t7.from_table, t7.set_from, t7.flat
local accessors, storage_record = t7.accessors, t7.storage_record
local new_record, resize_record, base_of, known_base = t7.new_record, t7.resize_record, t7.base_of, t7.known_base
local pointer = t7.address_pointer


local methods, storage_methods = {}, {}
t7.methods, t7.storage_methods = methods, storage_methods

local function tensor_arg(C, u, n)
   if getmetatable(u) ~= C.mt then typerror(n, C.name, u) end
   return getfenv(u)
end
t7.tensor_arg = tensor_arg

-- Whoever holds an address may write there at any time: the numbers stay where they are from then on.
local function address(C, rec, off)
   base_of(rec)
   if rec.ptr == false then fail('the numbers of this ' .. C.name .. ' are on a device, where PyTorch alone addresses them') end
   return C.ctype and rec.ptr + off or nil
end
t7.address = address

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
   if kind == 'Long' then t7.set_long_storage(smt) end
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
