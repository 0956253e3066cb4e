-- MemoryFile: a file over the memory of a CharStorage.
local t7 = ...
local argerror = t7.argerror
local files = t7.files
local opened, long_size, mode_text = files.opened, files.long_size, files.mode_text
local call, python = t7.call, t7.python
local ffi = t7.ffi
local getfenv, getmetatable = debug.getfenv, debug.getmetatable

-- `rec` is a CharStorage's record with room for a NUL behind the text; `length` is that of the text.
local function over_memory(f, rec, length)
   local C = t7.class_named.Char
   local position = 0
   f.rec = rec
   local function reserve(size)
      if size + 1 > f.rec.n then t7.resize_record(f.rec, math.max(size + 1, 2 * f.rec.n)) end
   end
   local function bytes_at(start, n)
      if n <= 0 then return '' end
      if ffi then return ffi.string(f.rec.ptr + start, n) end
      return call(python.storage_bytes, f.rec.base, f.rec.o + start, n)
   end
   function f.read(n)
      if n > length - position then n = length - position end
      local text = bytes_at(position, n)
      position = position + #text
      return text
   end
   function f.back(c) position = position - #c end
   function f.write(text)
      local n = #text
      if n == 0 then return end
      reserve(position + n)
      if ffi then ffi.copy(f.rec.ptr + position, text, n)
      else call(python.set_storage_bytes, f.rec.base, f.rec.o + position, text) end
      position = position + n
      if position > length then length = position end
   end
   function f.tell() return position end
   function f.seek(p)
      if p > length then return false end
      position = p
      return true
   end
   function f.size() return length end
   function f.storage()
      t7.resize_record(f.rec, length + 1)
      C.set(f.rec, length, 0)
      return C.make_storage(f.rec)
   end
   if ffi then
      -- Where so many bytes are; nothing if there are fewer.
      function f.take(n)
         if position + n > length then return nil end
         position = position + n
         return f.rec.ptr + (position - n)
      end
      function f.read_into(ptr, size, n)
         local got = math.min(n, math.floor((length - position) / size))
         if got > 0 then
            ffi.copy(ptr, f.rec.ptr + position, got * size)
            position = position + got * size
         end
         return got
      end
      function f.write_from(ptr, size, n)
         local bytes = n * size
         reserve(position + bytes)
         ffi.copy(f.rec.ptr + position, ptr, bytes)
         position = position + bytes
         if position > length then length = position end
      end
   end
end

local memory_mt, make_memory = t7.userdata_class('torch.MemoryFile', 'torch.File', function(a, b)
   local C = t7.class_named.Char
   local rec, mode
   if getmetatable(a) == C.smt then rec, mode = getfenv(a), b else mode = a end
   mode = mode == nil and 'rw' or t7.string(mode, rec and 2 or 1)
   local words = "file mode should be 'r','w' or 'rw'"
   if not ({r = true, w = true, rw = true})[mode] then argerror(2, words) end
   local f = {open = true, readable = mode:find('r') and true or false, writable = mode:find('w') and true or false,
              quiet = false, spacing = true, binary = false, error = false, swapped = false, long_size = 0}
   local length = 0
   if rec then
      if rec.n == 0 or C.get(rec, rec.n - 1) ~= 0 then
         argerror(1, 'provided CharStorage must be terminated by 0')
      end
      length = rec.n - 1
   else
      rec = t7.new_record(C, 1)
      C.set(rec, 0, 0)
   end
   over_memory(f, rec, length)
   return t7.make_memory_file(f)
end)
t7.make_memory_file = make_memory
local function in_memory(u)
   if getmetatable(u) ~= memory_mt then t7.typerror(1, 'torch.MemoryFile', u) end
   return getfenv(u)
end
function memory_mt.storage(u) return opened(in_memory(u)).storage() end
function memory_mt.longSize(u, size) long_size(in_memory(u), size) return u end
function memory_mt.__tostring__(u) return 'torch.MemoryFile ' .. mode_text(in_memory(u), ':') end
