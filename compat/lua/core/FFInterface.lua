-- Functions of Lua applied to every element, and what the FFI sees of tensors and storages.
local t7 = ...
local torch, ffi = t7.torch, t7.ffi
local getfenv, getmetatable, tonumber, type = debug.getfenv, getmetatable, tonumber, type

local function check(condition, fn, n, message, level)
   if not condition then
      error('bad argument #' .. n .. " to '" .. fn .. "' (" .. message .. ')', (level or 2) + 1)
   end
end
-- As the FFI converts.
local function number(C, value)
   if value == true then return 1 end
   if type(value) ~= 'number' then
      error("cannot convert '" .. type(value) .. "' to '" .. (C.real == 'long' and 'int64_t' or C.real) .. "'", 2)
   end
   return value
end
local function check_type(expected, actual, fn, n)
   check(expected == actual, fn, n, expected .. ' expected, got ' .. actual, 3)
end

-- Contiguous tensors are looped over here, others by the functions that pose as C.
function t7.element_functions(C)
   local mt, get, set = C.mt, C.get, C.set
   local apply, map, map2 = mt.apply, mt.map, mt.map2
   if not apply then return end

   rawset(mt, 'apply', function(self, func)
      if not self:isContiguous() then return apply(self, func) end
      local s = getfenv(self)
      for i = s.off, s.off + self:nElement() - 1 do
         local result = func(get(s.rec, i))
         if result then set(s.rec, i, number(C, result)) end
      end
      return self
   end)

   rawset(mt, 'map', function(self, src, func)
      check(torch.isTensor(src), 'map', 1, 'tensor expected')
      check_type(self:type(), src:type(), 'map', 1)
      if not (self:isContiguous() and src:isContiguous()) then return map(self, src, func) end
      assert(src:nElement() == self:nElement(), 'size mismatch')
      local s, o = getfenv(self), getfenv(src)
      for i = 0, self:nElement() - 1 do
         local result = func(get(s.rec, s.off + i), get(o.rec, o.off + i))
         if result then set(s.rec, s.off + i, number(C, result)) end
      end
      return self
   end)

   rawset(mt, 'map2', function(self, src1, src2, func)
      check(torch.isTensor(src1), 'map', 1, 'tensor expected')
      check(torch.isTensor(src2), 'map', 2, 'tensor expected')
      check_type(self:type(), src1:type(), 'map', 1)
      check_type(self:type(), src2:type(), 'map', 2)
      if not (self:isContiguous() and src1:isContiguous() and src2:isContiguous()) then
         return map2(self, src1, src2, func)
      end
      assert(src1:nElement() == self:nElement(), 'size mismatch')
      assert(src2:nElement() == self:nElement(), 'size mismatch')
      local s, o, p = getfenv(self), getfenv(src1), getfenv(src2)
      for i = 0, self:nElement() - 1 do
         local result = func(get(s.rec, s.off + i), get(o.rec, o.off + i), get(p.rec, p.off + i))
         if result then set(s.rec, s.off + i, number(C, result)) end
      end
      return self
   end)
end

-- What C code of Torch7 knows of a tensor: structures in memory, of which each call of cdata() gives the present one.
if ffi then
   ffi.cdef[[
      typedef struct THAllocator {
         void* (*malloc)(void*, ptrdiff_t);
         void* (*realloc)(void*, void*, ptrdiff_t);
         void (*free)(void*, void*);
      } THAllocator;
      typedef struct {unsigned short x;} THHalf;
   ]]
end
local STRUCTURES = [[
   typedef struct TH%sStorage {
      %s *data;
      ptrdiff_t size;
      int refcount;
      char flag;
      THAllocator *allocator;
      void *allocatorContext;
   } TH%sStorage;
   typedef struct TH%sTensor {
      long *size;
      long *stride;
      int nDimension;
      TH%sStorage *storage;
      ptrdiff_t storageOffset;
      int refcount;
      char flag;
   } TH%sTensor;
]]

-- The userdata of tensors and the records of storages by the addresses of their structures.
local owners = setmetatable({}, {__mode = 'v'})
-- Tensors that nobody may hold but who has just asked for their structures.
local recent, nrecent = {}, 0
local RECENT = 32

local function address_of(cdata) return tonumber(ffi.cast('intptr_t', cdata)) end

local function storage_structure(rec)
   local structure = rec.structure
   if not structure then
      structure = ffi.new('TH' .. rec.C.kind .. 'Storage')
      rec.structure = structure
      rec.cdata = ffi.cast('TH' .. rec.C.kind .. 'Storage*', structure)
      owners[address_of(rec.cdata)] = rec
      structure.refcount, structure.flag = 1, 7
   end
   structure.data, structure.size = ffi.cast('void*', rec.ptr or nil), rec.n
   return rec.cdata
end

local function tensor_structure(u)
   local s = getfenv(u)
   local structure = s.structure
   if not structure then
      structure = ffi.new('TH' .. s.C.kind .. 'Tensor')
      s.structure = structure
      s.cdata = ffi.cast('TH' .. s.C.kind .. 'Tensor*', structure)
      owners[address_of(s.cdata)] = u
      structure.refcount, structure.flag = 1, 1
   end
   local n = s.n
   if not s.dims or s.dims < n then
      s.dims, s.size_list, s.stride_list = n, ffi.new('long[?]', n), ffi.new('long[?]', n)
      structure.size, structure.stride = s.size_list, s.stride_list
   end
   for d = 1, n do s.size_list[d - 1], s.stride_list[d - 1] = s.sz[d], s.st[d] end
   structure.nDimension, structure.storageOffset = n, s.off
   -- The storage may be one of the same numbers of another class.
   structure.storage = s.rec and ffi.cast('void*', storage_structure(s.rec)) or nil
   nrecent = nrecent % RECENT + 1
   recent[nrecent] = u
   return s.cdata
end

-- The tensor that a value is: itself, or what its cdata belongs to.
function t7.tensor_of_cdata(value)
   if type(value) == 'userdata' then
      return t7.tensor_classes[getmetatable(value)] and value or nil
   end
   if type(value) ~= 'cdata' then return nil end
   local owner = owners[address_of(value)]
   return type(owner) == 'userdata' and owner or nil
end
-- The record of a storage, likewise.
function t7.record_of_cdata(value)
   if type(value) == 'userdata' then return t7.storage_record(value) end
   local owner = type(value) == 'cdata' and owners[address_of(value)]
   return type(owner) == 'table' and owner or nil
end
function t7.is_null(value) return type(value) == 'cdata' and address_of(value) == 0 end
-- Forgets who asked for structures: their use is over.
function t7.release_cdata()
   for i = 1, RECENT do recent[i] = nil end
   nrecent = 0
end

-- The number that tells objects apart, also where C code was given their structures.
local pointer = torch.pointer
function torch.pointer(x)
   if type(x) == 'cdata' then
      local owner = owners[address_of(x)]
      if type(owner) == 'userdata' then return pointer(owner) end
      if owner then return t7.pointer(owner) end
   end
   return pointer(x)
end

-- The object of a type at an address, as torch.cdata(x, true) and x:cdata() give it.
function torch.pushudata(place, name)
   local owner = (type(place) == 'number' or type(place) == 'cdata') and ffi and
      owners[type(place) == 'number' and place or address_of(place)]
   if not owner then t7.error('no object of type ' .. tostring(name) .. ' is at this address') end
   local u = type(owner) == 'userdata' and owner or owner.C.make_storage(owner)
   if torch.typename(u) ~= name then
      t7.error(tostring(name) .. ' expected, but a ' .. torch.typename(u) .. ' is at this address')
   end
   return u
end

function t7.structures(C)
   -- Without FFI a tensor is its own.
   local real = C.numbers == 'Half' and 'THHalf' or C.ctype and C.real
   if not ffi or not real then return end
   local k = C.kind
   ffi.cdef(STRUCTURES:format(k, real, k, k, k, k))
   rawset(C.mt, 'cdata', function(self) return self and tensor_structure(self) or nil end)
   rawset(C.smt, 'cdata', function(self) return storage_structure(getfenv(self)) end)
end

if ffi then
   function torch.data(self, asnumber)
      if not self then return nil end
      local data = self:data()
      return asnumber and ffi.cast('intptr_t', data) or data
   end
   function torch.cdata(self, asnumber)
      if not self then return nil end
      local cdata = self:cdata()
      return asnumber and ffi.cast('intptr_t', cdata) or cdata
   end
end
