-- Methods of tensors that need no arithmetic: sizes, parts, copies.
local t7 = ...
local call, python = t7.call, t7.python
local getfenv, getmetatable, type, select, unpack = debug.getfenv, getmetatable, type, select, unpack
local floor = math.floor
local argerror, typerror, long, fail = t7.argerror, t7.typerror, t7.long, t7.error
local methods, tensor_arg, address, state, wrap = t7.methods, t7.tensor_arg, t7.address, t7.state, t7.wrap
local alloc, copy_list, numel, is_contiguous, same_size = t7.alloc, t7.copy_list, t7.numel, t7.is_contiguous, t7.same_size
local resize, resize_as, set_from, read_size_stride = t7.resize, t7.resize_as, t7.set_from, t7.read_size_stride
local narrowed, selected, kernel_tensor, flat = t7.narrowed, t7.selected, t7.kernel_tensor, t7.flat
local longs_of, is_long_storage, new_long_storage = t7.longs_of, t7.is_long_storage, t7.new_long_storage
local new_record = t7.new_record


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
