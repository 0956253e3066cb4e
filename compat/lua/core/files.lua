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
      for i = 0, n - 1 do C.set(temporary, i, (rec.C.get(rec, i) + 2^31) % 2^32 - 2^31) end
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
-- The length of the number that a word begins with.
local function number_length(word)
   local word, sign = word:lower(), #word:match('^[+-]?')
   for _, form in ipairs{'^infinity', '^inf', '^nan%(%w*%)', '^nan', '^0x%x+%.?%x*', '^%d+%.?%d*', '^%.%d+'} do
      local _, last = word:find(form, sign + 1)
      if last then
         local _, behind = word:find(form:find('x') and '^p[+-]?%d+' or '^e[+-]?%d+', last + 1)
         return behind or last
      end
   end
   return 0
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
   local signed = #word:match('^[+-]?')   -- a sign alone is read, too
   if v == nil and not integer then
      local n = number_length(word)
      for i = #text, math.max(n, signed) + 1, -1 do f.back(text[i]) end
      word, text = word:sub(1, n), {unpack(text, 1, math.max(n, signed))}
      v = tonumber(word)
      local w = word:lower():gsub('^[+-]', '')
      if w:find('^nan') then v = 0/0 elseif w:find('^inf') then v = 1/0 end
      if v and w:find('^[ni]') and word:sub(1, 1) == '-' then v = -v end
   end
   if v == nil then for i = #text, signed + 1, -1 do f.back(text[i]) end end
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

-- What the kinds of files have in common.
local function mode_of(mode, accepted, words)
   if not accepted[mode] then argerror(2, words) end
   return mode:find('r') and true or false, mode:find('w') and true or false
end
local function long_size(f, size)
   size = tonumber(size) or 0
   if size ~= 0 and size ~= 4 and size ~= 8 then argerror(1, 'Invalid long size specified') end
   f.long_size = size
end
local function mode_text(f, separator)
   return ('[status: %s -- mode%s %s%s]'):format(f.open and 'open' or 'closed', separator, f.readable and 'r' or ' ',
                                                 f.writable and 'w' or ' ')
end
t7.files = {
   opened = opened, readable = readable, writable = writable, failed = failed, held = held, place_in = place_in,
   mode_of = mode_of, long_size = long_size, mode_text = mode_text,
}
