-- Files of Torch7: DiskFile, PipeFile and MemoryFile, over Lua's files and over memory.
--
-- A file is a userdata whose environment is its state: `kind`, `read(n)` (a string of at most n bytes), `write(s)`,
-- `seek(position)`, `tell()`, `size()`; what torch.getenv shows of it is a table of its own.
local t7 = ...
local torch, fail, argerror, long = t7.torch, t7.error, t7.argerror, t7.long
local ffi = t7.ffi
local getfenv, getmetatable, rawset = debug.getfenv, debug.getmetatable, rawset
local call, python = t7.call, t7.python

local File = torch.newmetatable('torch.File')

local function state(u, n)
   local mt = getmetatable(u)
   while mt do
      if mt == File then return getfenv(u) end
      mt = getmetatable(mt)
   end
   t7.typerror(n or 1, 'torch.File', u)
end
local function opened(f)
   if not f.open then argerror(1, 'attempt to use a closed file') end
   return f
end
local function readable(f)
   opened(f)
   if not f.readable then argerror(1, 'attempt to read in a write-only file') end
   return f
end
local function writable(f)
   opened(f)
   if not f.writable then argerror(1, 'attempt to write in a read-only file') end
   return f
end
local function failed(f, message)
   f.error = true
   if not f.quiet then fail(message) end
end

for method, field in pairs{isQuiet = 'quiet', isReadable = 'readable', isWritable = 'writable', isBinary = 'binary',
                           isAutoSpacing = 'spacing', hasError = 'error'} do
   File[method] = function(u) return state(u)[field] and true or false end
end
for method, change in pairs{binary = {'binary', true}, ascii = {'binary', false}, autoSpacing = {'spacing', true},
                            noAutoSpacing = {'spacing', false}, quiet = {'quiet', true}, pedantic = {'quiet', false},
                            clearError = {'error', false}} do
   File[method] = function(u)
      state(u)[change[1]] = change[2]
      return u
   end
end
function File.synchronize(u)
   local f = opened(state(u))
   if f.flush then f.flush() end
   return u
end
function File.seek(u, position)
   local f = state(u)
   position = long(position, 2, position == nil and 1 or 2) - 1
   if position < 0 then argerror(2, 'position has to be greater than 0!') end
   opened(f)
   if not f.seek(position) then failed(f, 'unable to seek ' .. (f.rec and 'at' or 'to') .. ' position ' .. position) end
   return u
end
function File.seekEnd(u)
   local f = opened(state(u))
   local size = f.size()
   if size then f.seek(size) else failed(f, 'unable to seek at end of file') end
   return u
end
function File.position(u)
   local f = opened(state(u))
   local position = f.tell()
   if position then return position + 1 end
   if not f.quiet then fail('unable to obtain disk file offset (maybe a long overflow occurred)') end
   return 1
end
function File.close(u)
   local f = opened(state(u))
   if f.close then f.close() end
   f.open = false
   return u
end

-- Numbers as bytes: with the FFI by their memory, without it through Python.
local SIZES = {Byte = 1, Char = 1, Short = 2, Int = 4, Long = 8, Float = 4, Double = 8}
local CTYPES = {Byte = 'uint8_t', Char = 'int8_t', Short = 'int16_t', Int = 'int32_t', Long = 'int64_t', Float = 'float',
                Double = 'double'}
local FORMATS = {Short = '%d', Int = '%d', Long = '%d', Float = '%.9g', Double = '%.17g'}

local function reversed(bytes, size)
   if size == 1 then return bytes end
   local parts = {}
   for i = 1, #bytes, size do parts[#parts + 1] = bytes:sub(i, i + size - 1):reverse() end
   return table.concat(parts)
end

-- Longs of files written elsewhere may have 4 bytes.
local function narrow_longs(f, kind) return kind == 'Long' and f.long_size == 4 end

local function decode(f, kind, bytes, rec, start, n)
   local size = SIZES[kind]
   if narrow_longs(f, kind) then
      if f.swapped then bytes = reversed(bytes, 4) end
      local C = t7.class_named.Int
      local temporary = t7.new_record(C, n)
      if ffi then ffi.copy(temporary.ptr, bytes, 4 * n) else call(python.set_record_bytes, temporary.base, bytes) end
      for i = 0, n - 1 do rec.C.set(rec, start + i, C.get(temporary, i)) end
      return
   end
   if f.swapped then bytes = reversed(bytes, size) end
   if ffi then ffi.copy(rec.ptr + start, bytes, n * size)
   else call(python.set_record_bytes, rec.base, rec.o + start, bytes) end
end
local function encode(f, kind, rec, n)
   local size = SIZES[kind]
   if narrow_longs(f, kind) then
      local C = t7.class_named.Int
      local temporary = t7.new_record(C, n)
      for i = 0, n - 1 do C.set(temporary, i, rec.C.get(rec, i)) end
      local bytes = ffi and ffi.string(temporary.ptr, 4 * n) or call(python.record_bytes, temporary.base, 0, n)
      return f.swapped and reversed(bytes, 4) or bytes
   end
   local bytes
   if n == 0 then bytes = ''
   elseif ffi then bytes = ffi.string(rec.ptr, n * size)
   else bytes = call(python.record_bytes, rec.base, rec.o, n) end
   return f.swapped and reversed(bytes, size) or bytes
end

local function skip_space(f)
   while true do
      local c = f.read(1)
      if c == '' then return '' end
      if not c:find('%s') then return c end
   end
end
-- One number of a text, as scanf finds it; nil where there is none.
local function scan(f, kind)
   local c = skip_space(f)
   local text = {}
   local integer = kind ~= 'Float' and kind ~= 'Double'
   local accepted = integer and '[%d+-]' or '[%w+%-.]'
   while c ~= '' and c:find(accepted) do
      if integer and (c == '-' or c == '+') and #text > 0 then break end
      text[#text + 1] = c
      c = f.read(1)
   end
   if c ~= '' then f.back(c) end
   local word = table.concat(text)
   local v = tonumber(word)
   if v == nil and not integer then
      local w = word:lower():gsub('^[+-]', '')
      if w:find('^nan') then v = 0/0 elseif w:find('^inf') then v = 1/0 end
      if v and word:sub(1, 1) == '-' then v = -v end
   end
   if v == nil and word ~= '' then for i = #text, 1, -1 do f.back(text[i]) end end
   return v
end

local function place_in(f, position)
   return ('%s, at byte %d'):format(f.name or 'memory', position)
end
-- How many of n numbers a file may hold: what it says it holds is allocated only so far.
local MANY = 4096
local function held(f, kind, n)
   if n < 0 then fail(('%s: found a count of %d, expected one from 0'):format(place_in(f, f.tell() or 0), n)) end
   local size = n > MANY and f.size()
   if not size then return n end
   local width = not f.binary and 1 or narrow_longs(f, kind) and 4 or SIZES[kind]
   return math.min(n, math.floor((size - f.tell()) / width))
end

-- Reads n numbers, of which the record takes those that the file can hold.
local function read_record(f, kind, rec, n)
   readable(f)
   local got, most = 0, math.min(n, rec.n)
   if f.binary or kind == 'Byte' or kind == 'Char' then
      local size = narrow_longs(f, kind) and 4 or SIZES[kind]
      if ffi and f.read_into and not f.swapped and not narrow_longs(f, kind) and most > 0 then
         got = f.read_into(rec.ptr, size, most)
      else
         local bytes = most > 0 and f.read(most * size) or ''
         got = math.floor(#bytes / size)
         if got > 0 then decode(f, kind, bytes:sub(1, got * size), rec, 0, got) end
      end
   else
      for i = 1, most do
         local v = scan(f, kind)
         if v == nil then break end
         rec.C.set(rec, i - 1, v)
         got = i
      end
   end
   if not f.binary and f.spacing and n > 0 then
      local c = f.read(1)
      if c ~= '\n' and c ~= '' then f.back(c) end
   end
   if got ~= n then failed(f, ('read error: read %d blocks instead of %d'):format(got, n)) end
   return got
end

local function number_text(kind, v)
   if v ~= v then return 'nan' end
   if v == 1/0 then return 'inf' elseif v == -1/0 then return '-inf' end
   return FORMATS[kind]:format(v)
end
local function write_record(f, kind, rec, n)
   writable(f)
   if f.binary or kind == 'Byte' or kind == 'Char' then
      if ffi and f.write_from and not f.swapped and not narrow_longs(f, kind) and n > 0 then
         f.write_from(rec.ptr, SIZES[kind], n)
      else
         f.write(encode(f, kind, rec, n))
      end
      if not f.binary and f.spacing and n > 0 then f.write('\n') end
   elseif n > 0 then
      local words = {}
      for i = 1, n do words[i] = number_text(kind, rec.C.get(rec, i - 1)) end
      f.write(table.concat(words, f.spacing and ' ' or '') .. (f.spacing and '\n' or ''))
   end
   return n
end

-- Single numbers and texts, which objects are made of.
local single = {}
t7.single_in_files = single
local function single_numbers(kind)
   local C, size = t7.class_named[kind], SIZES[kind]
   local scratch = t7.new_record(C, 1)
   local function read(f)
      local place = f.take and f.binary and not narrow_longs(f, kind) and readable(f).take(size)
      if place then ffi.copy(scratch.ptr, place, size)
      else
         C.set(scratch, 0, 0)
         read_record(f, kind, scratch, 1)
      end
      return C.get(scratch, 0)
   end
   local function write(f, v)
      C.set(scratch, 0, v)
      write_record(f, kind, scratch, 1)
   end
   return {read = read, write = write}
end
single.Text = {
   read = function(f, n)
      local text = f.read(held(readable(f), 'Char', n))
      if not f.binary and f.spacing and n > 0 then
         local c = f.read(1)
         if c ~= '\n' and c ~= '' then f.back(c) end
      end
      if #text < n then failed(f, ('read error: read %d blocks instead of %d'):format(#text, n)) end
      return text
   end,
   write = function(f, text)
      writable(f).write(text)
      if not f.binary and f.spacing and #text > 0 then f.write('\n') end
   end,
}

for kind in pairs(SIZES) do
   local C = t7.class_named[kind]
   single[kind] = single_numbers(kind)
   File['read' .. kind] = function(...)
      local u, what = ...
      local f = state(u)
      local narg = select('#', ...)
      if narg == 1 then return single[kind].read(f)
      elseif narg == 2 then
         if tonumber(what) then
            local n = long(what, 2)
            local rec = t7.new_record(C, held(readable(f), kind, n))
            local got = read_record(f, kind, rec, n)
            if got ~= rec.n then t7.resize_record(rec, got) end
            return C.make_storage(rec)
         elseif getmetatable(what) == C.smt then
            local rec = getfenv(what)
            return read_record(f, kind, rec, rec.n)
         end
      end
      fail('nothing, number, or ' .. kind .. 'Storage expected')
   end
   File['write' .. kind] = function(...)
      local u, what = ...
      local f = state(u)
      if select('#', ...) == 2 then
         if tonumber(what) then return single[kind].write(f, tonumber(what))
         elseif getmetatable(what) == C.smt then
            local rec = getfenv(what)
            return write_record(f, kind, rec, rec.n)
         end
      end
      fail('number, or ' .. kind .. 'Storage expected')
   end
end

function File.readString(u, format)
   local f = state(u)
   format = t7.string(format, 2, format == nil and 1 or 2)
   readable(f)
   if not format:find('^%*[al]') then argerror(2, "format must be '*a' or '*l'") end
   local text
   if format:find('^%*a') then text = f.read(math.huge)
   else
      local parts = {}
      while true do
         local c = f.read(1)
         if c == '' or c == '\n' then
            text = table.concat(parts)
            if c == '\n' then return text end
            break
         end
         parts[#parts + 1] = c
      end
   end
   if text == '' then
      failed(f, 'read error: read 0 blocks instead of 1')
   end
   return text
end
function File.writeString(u, ...)
   local f, text = state(u), ...
   if type(text) ~= 'string' then t7.luatypeerror(2, 'string', select('#', ...) + 1, text) end
   writable(f).write(text)
   return #text
end

-- Disk -----------------------------------------------------------------------------------------------------

local stdio
if ffi then
   ffi.cdef[[
   size_t fread(void *ptr, size_t size, size_t n, void *stream);
   size_t fwrite(const void *ptr, size_t size, size_t n, void *stream);
   ]]
   stdio = ffi.C
end

local function over_handle(f, handle, seekable)
   local pending = ''
   -- C wants a file to be told that reading follows writing, or the other way round.
   local last
   local function turn(to)
      if seekable and last and last ~= to then handle:seek('cur', -#pending) pending = '' end
      last = to
   end
   function f.read(n)
      turn('read')
      if pending == '' then
         if n == math.huge then return handle:read('*a') or '' end
         return handle:read(n) or ''
      end
      if n == math.huge or n > #pending then
         local head = pending
         pending = ''
         return head .. f.read(n == math.huge and n or n - #head)
      end
      local head = pending:sub(1, n)
      pending = pending:sub(n + 1)
      return head
   end
   function f.back(c) pending = c .. pending end
   function f.write(text)
      turn('write')
      handle:write(text)
   end
   function f.flush() handle:flush() end
   function f.close() handle:close() end
   function f.tell() return seekable and handle:seek() - #pending or nil end
   function f.seek(position)
      pending = ''
      return seekable and handle:seek('set', position)
   end
   function f.size()
      local here = seekable and handle:seek()
      if not here then return nil end
      local size = handle:seek('end')
      handle:seek('set', here)
      return size
   end
   function f.set_buffer(kind) handle:setvbuf(kind) end
   if stdio then
      function f.read_into(ptr, size, n)
         turn('read')
         if pending ~= '' then
            local bytes = f.read(size * n)
            ffi.copy(ptr, bytes, #bytes)
            return math.floor(#bytes / size)
         end
         return tonumber(stdio.fread(ptr, size, n, handle))
      end
      function f.write_from(ptr, size, n)
         turn('write')
         return tonumber(stdio.fwrite(ptr, size, n, handle))
      end
   end
end

local function mode_of(mode, accepted, words)
   if not accepted[mode] then argerror(2, words) end
   return mode:find('r') and true or false, mode:find('w') and true or false
end

-- A file behind a handle, made of the arguments of a constructor; open(name, mode, readable, writable) gives the handle.
local function file_of(open, is_seekable, modes, message, name, mode, quiet)
   local readable, writable = mode_of(mode, modes, message)
   local handle = open(name, mode, readable, writable)
   if not handle then
      if quiet then return nil end
      fail(('cannot open <%s> in mode %s%s'):format(name, readable and 'r' or ' ', writable and 'w' or ' '))
   end
   local f = {name = name, open = true, readable = readable, writable = writable, quiet = quiet or false, spacing = true,
              binary = false, error = false, swapped = false, long_size = 0}
   over_handle(f, handle, is_seekable)
   return f
end

local function open_disk(name, _, readable, writable)
   local handle
   if readable and writable then
      handle = io.open(name, 'r+b')
      if not handle then
         handle = io.open(name, 'wb')
         if handle then
            handle:close()
            handle = io.open(name, 'r+b')
         end
      end
   else
      handle = io.open(name, readable and 'rb' or 'wb')
   end
   if handle and readable and not writable and not handle:read(0) and not handle:seek('end') then handle = nil end
   return handle
end

local function open_pipe(name, mode)
   io.stdout:flush()
   return io.popen(name, mode)
end

local disk_mt, make_disk = t7.userdata_class('torch.DiskFile', 'torch.File', function(...)
   local name, mode, quiet = ...
   name = t7.string(name, 1, select('#', ...))
   mode = mode == nil and 'r' or t7.string(mode, 2)
   local f = file_of(open_disk, true, {r = true, w = true, rw = true}, "file mode should be 'r','w' or 'rw'", name, mode, quiet)
   return f and t7.make_disk_file(f)
end)
t7.make_disk_file = make_disk

local pipe_mt, make_pipe
local function on_disk(u)
   local mt = getmetatable(u)
   if mt ~= disk_mt and mt ~= pipe_mt then t7.typerror(1, 'torch.DiskFile', u) end
   return getfenv(u)
end
local LITTLE = string.dump(function() end) and (not ffi or ffi.abi('le'))
function disk_mt.isLittleEndianCPU() return LITTLE end
function disk_mt.isBigEndianCPU() return not LITTLE end
function disk_mt.nativeEndianEncoding(u) opened(on_disk(u)).swapped = false return u end
function disk_mt.littleEndianEncoding(u) opened(on_disk(u)).swapped = not LITTLE return u end
function disk_mt.bigEndianEncoding(u) opened(on_disk(u)).swapped = LITTLE return u end
function disk_mt.noBuffer(u) opened(on_disk(u)).set_buffer('no') return u end
local function long_size(f, size)
   size = tonumber(size) or 0
   if size ~= 0 and size ~= 4 and size ~= 8 then argerror(1, 'Invalid long size specified') end
   f.long_size = size
end
function disk_mt.longSize(u, size) long_size(opened(on_disk(u)), size) return u end
local function mode_text(f, separator)
   return ('[status: %s -- mode%s %s%s]'):format(f.open and 'open' or 'closed', separator, f.readable and 'r' or ' ',
                                                 f.writable and 'w' or ' ')
end
function disk_mt.__tostring__(u)
   local f = on_disk(u)
   return ('torch.DiskFile on <%s> %s'):format(f.name, mode_text(f, ''))
end

pipe_mt, make_pipe = t7.userdata_class('torch.PipeFile', 'torch.DiskFile', function(...)
   local name, mode, quiet = ...
   name = t7.string(name, 1, select('#', ...))
   mode = mode == nil and 'r' or t7.string(mode, 2)
   local f = file_of(open_pipe, false, {r = true, w = true}, "file mode should be 'r','w'", name, mode, quiet)
   return f and t7.make_pipe_file(f)
end)
t7.make_pipe_file = make_pipe
function pipe_mt.__tostring__(u)
   local f = getfenv(u)
   return ('torch.PipeFile on <%s> %s'):format(f.name, mode_text(f, ':'))
end

-- Memory ---------------------------------------------------------------------------------------------------

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


-- Tensors and storages in files ----------------------------------------------------------------------------

local function equip(C)
   -- The numbers of a storage lie in a file as those of the CPU's.
   local kind, H = C.numbers, C.host or C
   rawset(C.smt, 'write', function(u, file)
      local rec = getfenv(u)
      file:writeLong(rec.n)
      if kind == 'Half' and not file:isBinary() then
         local numbers = t7.class_named.Float.new_storage(rec.n)
         for i = 1, rec.n do numbers[i] = u[i] end
         file:writeFloat(numbers)
      elseif kind == 'Half' then
         file:writeByte(t7.import_tensor(call(python.as_bytes, t7.export_storage(u))):storage())
      else file['write' .. kind](file, H.make_storage(t7.in_reach(rec))) end
   end)
   rawset(C.smt, 'read', function(u, file)
      local rec, f, start = getfenv(u), getfenv(file), getfenv(file).tell() or 0
      local n = single.Long.read(f)
      local most = held(f, kind == 'Half' and 'Short' or kind, n)
      if most < n then
         fail(('%s: found a storage of %d elements, expected at most the %d that the file holds'):format(place_in(f, start), n, most))
      end
      t7.resize_record(rec, n)
      if n == 0 then return end
      if kind == 'Half' and not f.binary then
         local numbers = file:readFloat(n)
         for i = 1, n do u[i] = numbers[i] end
      elseif kind == 'Half' then call(python.set_from_bytes, t7.export_storage(u), t7.export_storage(file:readByte(2 * n)))
      else
         local reached = t7.in_reach(rec)
         file['read' .. kind](file, H.make_storage(reached))
         if reached ~= rec then C.make_storage(rec):copy(H.make_storage(reached)) end
      end
   end)
   rawset(C.mt, 'write', function(u, file)
      local s = getfenv(u)
      file:writeInt(s.n)
      file:writeLong(t7.new_long_storage(s.sz, s.n))
      file:writeLong(t7.new_long_storage(s.st, s.n))
      file:writeLong(s.off + 1)
      file:writeObject(s.rec and C.make_storage(s.rec) or nil)
   end)
   rawset(C.mt, 'read', function(u, file)
      local f, start = getfenv(file), getfenv(file).tell() or 0
      local function refuse(defect) fail(('%s: %s'):format(place_in(f, start), defect)) end
      local n = single.Int.read(f)
      local defect = (n < 0 or n > 4) and call(python.check_geometry, n)
      if defect then refuse(defect) end
      local sz, st = {}, {}
      if f.binary then
         for d = 1, n do sz[d] = single.Long.read(f) end
         for d = 1, n do st[d] = single.Long.read(f) end
      else sz, st = t7.longs_of(file:readLong(n)), t7.longs_of(file:readLong(n)) end
      local off = single.Long.read(f) - 1
      local storage = file:readObject()
      if storage ~= nil and getmetatable(storage) ~= C.smt then
         refuse(('found %s, expected a %s or nil'):format(torch.type(storage), C.sname))
      end
      local rec = storage and getfenv(storage)
      local numbers, elements, last, is_usual = {}, 1, off, off >= 0
      for d = 1, n do
         numbers[d], numbers[n + d] = sz[d], st[d]
         elements = elements * sz[d]
         last = last + (sz[d] - 1) * st[d]
         is_usual = is_usual and sz[d] > 0 and st[d] >= 0
      end
      -- What lies in its storage needs no look by Python, which says what is wrong.
      if not (is_usual and elements < 2^53 and last < (rec and rec.n or 0)) then
         defect = call(python.check_geometry, n, off, rec and rec.n or 0, unpack(numbers, 1, 2 * n))
         if defect then refuse(defect) end
      end
      -- A size of 0 is one of no dimensions in Torch7.
      if elements == 0 then n = 0 end
      t7.set_geometry(getfenv(u), rec, off, n, sz, st)
   end)
end
for _, C in pairs(t7.class_named) do equip(C) end
t7.file_methods = equip
