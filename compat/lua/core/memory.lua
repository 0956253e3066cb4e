-- Where numbers lie. The record of a storage is {C, n, ptr, base, mem, o, ver, known}: the number of elements and the
-- pointer to the first, false where that is on an accelerator, whose memory nobody reads but PyTorch; a torch.Tensor that keeps the memory and where in PyTorch's storage the first element is, or `mem`,
-- an array of LuaJIT: few numbers stay there until PyTorch has to compute with them, for to ask it for memory takes
-- longer than to compute. `ver` grows when torch.Tensors over the record look at other memory than it; `known` is whether
-- Python's code may hold one of them, and is to notice what is written.
local t7 = ...
local python, call, ffi, fail = t7.python, t7.call, t7.ffi, t7.error

-- Lua sees little of what PyTorch's tensors take, so bytes are counted, and garbage is collected after many.
local COLLECT_AFTER = 192 * 2^20
local allocated = 0
local collect = collectgarbage
local function count(bytes)
   allocated = allocated + bytes
   if allocated > COLLECT_AFTER then
      allocated = 0
      collect()
   end
end
t7.count_bytes = count

local function pointer(C, address)
   if address == nil then return false end
   if C.ctype then return ffi.cast(C.ctype, ffi.cast('uintptr_t', address)) end
   return address
end
t7.address_pointer = pointer

-- A number as it was read from memory. LuaJIT keeps its values' types in the bits of NaNs: memory that holds such bits, as a
-- file may, would be taken for a string or a table. Compiled code sees a NaN, the interpreter something else than a number.
local NAN = 0 / 0
function t7.sound(v)
   if v ~= v or type(v) ~= 'number' then return NAN end
   return v
end

local BITS = {Byte = 256, Char = 256, Short = 65536, Int = 2^32}
-- A number as C converts it to the elements' type: first to an int, unless that is long.
function t7.caster(C)
   if not C.integer then return function(v) return v + 0 end end
   local modulus = BITS[C.numbers]
   if not modulus then return t7.whole end
   local signed = C.numbers ~= 'Byte'
   return function(v)
      v = t7.whole(v)
      if not (v >= -2^31 and v < 2^31) then v = -2^31 end
      v = v % modulus
      if signed and v >= modulus / 2 then v = v - modulus end
      return v
   end
end

-- The pointer to an element of a record, counted from 0.
local function shifted(rec, i)
   if rec.C.ctype then return rec.ptr and rec.ptr + i end
   return 0
end
t7.shifted = shifted

-- As many numbers are few: kept in Lua, and computed with there where that is possible.
local FEW = 1024
t7.FEW = FEW

-- Sizes of more bytes than there are addresses, and such below 0, would be wrapped around on their way to the allocator.
local function check_size(C, n)
   if not (n >= 0 and n * C.esize < 2^47) then fail('$ Torch: invalid memory size -- maybe an overflow?') end
end

-- A record of n numbers, not set, of which PyTorch knows nothing yet, if they are few.
local function new_record(C, n)
   check_size(C, n)
   if n == 0 then return {C = C, n = 0, o = 0, ver = 0, ptr = pointer(C, 0)} end
   if C.array and n <= FEW then
      local mem = C.array(n)
      return {C = C, n = n, o = 0, ver = 0, ptr = ffi.cast(C.ctype, mem), mem = mem}
   end
   count(n * C.esize)
   local base, address = call(C.empty, n)
   return {C = C, n = n, o = 0, ver = 0, ptr = pointer(C, address), base = base}
end
t7.new_record = new_record

-- A record of the memory of a new torch.Tensor, n contiguous numbers.
function t7.record_of(C, base, address, n)
   count(n * C.esize)
   return {C = C, n = n, o = 0, ver = 0, ptr = pointer(C, address), base = base}
end

-- The torch.Tensor that keeps the memory; nil where there is none.
local function base_of(rec)
   local base = rec.base
   if not base and rec.mem then
      local C = rec.C
      local address
      base, address = call(C.empty, rec.n)
      local ptr = pointer(C, address)
      ffi.copy(ptr, rec.ptr, rec.n * C.esize)
      rec.base, rec.ptr, rec.mem = base, ptr, nil
   end
   return base
end
t7.base_of = base_of

-- Notes the identity of PyTorch's storage behind a record, under which it is found as long as it keeps that.
local function register(rec, cdata)
   local records = rec.C.records
   if rec.cdata and records[rec.cdata] == rec then records[rec.cdata] = nil end
   rec.cdata = cdata
   if cdata then records[cdata] = rec end
end
t7.register = register

local function resize_record(rec, n)
   if n == rec.n then return end
   local C = rec.C
   check_size(C, n)
   if rec.view then fail('Trying to resize a storage that is not resizable') end
   if rec.shared then
      -- Other threads look at this memory: they keep it, and this one goes on with a copy.
      local kept = call(python.view1, rec.base, rec.o, math.min(n, rec.n), 1)
      count(n * C.esize)
      local base, address = call(C.empty, n)
      call(python.copy_elements, base, kept)
      rec.base, rec.ptr, rec.o, rec.shared, rec.ver = base, pointer(C, address), 0, nil, rec.ver + 1
      register(rec, nil)
   elseif rec.base then
      count(n * C.esize)
      local address, base, cdata = call(python.resize_storage, rec.base, n * C.esize)
      rec.ptr = pointer(C, address)
      if base then
         -- Other memory: whatever torch.Tensor looks at the old is moved when it is next used.
         rec.base, rec.ver = base, rec.ver + 1
         register(rec, cdata)
      end
   else
      local new = new_record(C, n)
      if rec.mem and n > 0 then ffi.copy(new.ptr, rec.ptr, math.min(n, rec.n) * C.esize) end
      rec.base, rec.ptr, rec.mem = new.base, new.ptr, new.mem
   end
   -- What lay beyond the new end is found when it is used: torch.Tensors are made again, with checks.
   if n < rec.n then rec.ver = rec.ver + 1 end
   rec.n = n
   if rec.parts then
      for part in pairs(rec.parts) do
         part.ptr, part.base, part.ver = shifted(rec, part.o - rec.o), rec.base, part.ver + 1
         part.n = math.max(0, math.min(part.n, n - (part.o - rec.o)))
      end
   end
end
t7.resize_record = resize_record

-- Has Python notice what was written to memory that it knows.
function t7.note_written(rec) call(python.note_written, rec.base) end

-- The memory for Python's code, which may keep it.
function t7.known_base(rec)
   rec.known = true
   return base_of(rec)
end
