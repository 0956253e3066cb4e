-- DiskFile and PipeFile: files over the handles of Lua and C.
local t7 = ...
local fail = t7.error
local files = t7.files
local opened, mode_of, long_size, mode_text = files.opened, files.mode_of, files.long_size, files.mode_text
local ffi = t7.ffi
local getfenv, getmetatable = debug.getfenv, debug.getmetatable

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
function disk_mt.longSize(u, size) long_size(opened(on_disk(u)), size) return u end
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
