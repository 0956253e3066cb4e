-- Choosing elements by numbers and masks.
local t7 = ...
local call, fail, argerror = t7.call, t7.error, t7.argerror
local k, ops, class_of_kind, as_kind = t7.python.kernels, t7.ops, t7.class_of_kind, t7.as_kind
local getfenv, getmetatable = debug.getfenv, getmetatable
local kernel_tensor, numel, put, narrowed = t7.kernel_tensor, t7.numel, t7.put, t7.narrowed
local same_but = t7.same_but

-- The index must have a size in this dimension.
local function check_dimension(s, d)
   if d < 1 or d > s.n then argerror(2, ('dimension %d out of range of %dD tensor'):format(d, s.n)) end
end
-- What of a state the indices are for.
local function part(s, d, index, words)
   local n = index.sz[d]
   if n > s.sz[d] then fail(words .. ' tensor must not be smaller than index tensor in dimension ' .. d) end
   return kernel_tensor(n == s.sz[d] and s or getfenv(narrowed(s, d, 1, n)))
end

function ops.gather(C, r, a, d, index)
   local s, i = getfenv(a), getfenv(index)
   local o = r and getfenv(r) or i
   if o.n ~= s.n then argerror(2, 'Input tensor must have same dimensions as output tensor') end
   if d > o.n then argerror(3, 'Index dimension is out of bounds') end
   if i.n ~= s.n then argerror(4, 'Index tensor must have same dimensions as input tensor') end
   check_dimension(i, d)
   same_but('tensor', o, 'src', s, 'index', i, d)
   local chosen = call(k.gather, kernel_tensor(s), d, kernel_tensor(i))
   if r == nil then return put(C, nil, chosen) end
   -- A result that is given keeps its size.
   call(k.copy, part(o, d, i, 'Output'), chosen)
   return r
end
local function check_scatter(o, d, i)
   if d > o.n then argerror(2, 'Index dimension is out of bounds') end
   if i.n ~= o.n then argerror(3, 'Index tensor must have same dimensions as output tensor') end
end
function ops.scatter(_, r, d, index, a)
   local o, i, s = getfenv(r), getfenv(index), getfenv(a)
   check_scatter(o, d, i)
   if s.n ~= o.n then argerror(4, 'Input tensor must have same dimensions as output tensor') end
   check_dimension(i, d)
   same_but('tensor', o, 'src', s, 'index', i, d)
   call(k.scatter, kernel_tensor(o), d, kernel_tensor(i), part(s, d, i, 'Input'))
   return r
end
function ops.scatterFill(_, r, d, index, v)
   local o, i = getfenv(r), getfenv(index)
   check_scatter(o, d, i)
   check_dimension(i, d)
   same_but('tensor', o, 'index', i, d)
   call(k.scatterFill, kernel_tensor(o), d, kernel_tensor(i), v)
   return r
end
function ops.nonzero(C, r, a)
   return put(class_of_kind(C, 'Long'), r, call(k.nonzero, kernel_tensor(getfenv(a))))
end
function ops.maskedSelect(C, r, a, mask)
   local s, m = getfenv(a), getfenv(mask)
   if numel(s) ~= numel(m) then t7.inconsistent({'src', s}, {'mask', m}) end
   return put(C, r, call(k.maskedSelect, kernel_tensor(s), kernel_tensor(m)))
end
function ops.maskedFill(_, r, mask, v)
   local s, m = getfenv(r), getfenv(mask)
   if numel(s) ~= numel(m) then t7.inconsistent({'tensor', s}, {'mask', m}) end
   call(k.maskedFill, kernel_tensor(s), kernel_tensor(m), v)
   return r
end
function ops.maskedCopy(_, r, mask, a)
   call(k.maskedCopy, kernel_tensor(getfenv(r)), kernel_tensor(getfenv(mask)), kernel_tensor(getfenv(a)))
   return r
end

-- The methods check their arguments one by one.
local methods = t7.methods
local function own(C, u, n)
   if getmetatable(u) ~= C.mt then t7.typerror(n, C.name, u) end
   return u
end
local function byte_tensor(C, u, n) return own(class_of_kind(C, 'Byte'), as_kind(C, u, 'Byte'), n) end
local function long_tensor(C, u, n) return own(class_of_kind(C, 'Long'), as_kind(C, u, 'Long'), n) end
local function number(v, n)
   return type(v) == 'number' and v or type(v) == 'string' and tonumber(v) or t7.luatypeerror(n, 'number', n, v)
end

local function index_select(C, r, s, d, index)
   local i = getfenv(index)
   if i.n ~= 1 then argerror(3, 'Index is supposed to be a vector') end
   if d < 1 or d > s.n then argerror(4, 'Indexing dim ' .. d .. ' is out of bounds of tensor') end
   return put(C, r, call(k.indexSelect, kernel_tensor(s), d, kernel_tensor(i)))
end
function methods.index(s, u, ...)
   local C, narg = s.C, select('#', ...) + 1
   local a, b, c = ...
   if narg == 3 then
      return index_select(C, nil, s, t7.long(a, 2), long_tensor(C, b, 3))
   elseif narg == 4 then
      local source = getfenv(own(C, a, 2))
      index_select(C, u, source, t7.long(b, 3), long_tensor(C, c, 4))
      return c
   end
   local long = class_of_kind(C, 'Long').name
   fail(('%s, number, %s | %s, %s, number, %s expected'):format(C.name, long, C.name, C.name, long))
end
for name, last in pairs{indexCopy = 'tensor', indexAdd = 'tensor', indexFill = 'number'} do
   local f = k[name]
   methods[name] = function(s, u, ...)
      local C = s.C
      if select('#', ...) ~= 3 then
         fail(('%s, number, %s, %s expected'):format(C.name, class_of_kind(C, 'Long').name, last == 'tensor' and C.name or 'number'))
      end
      local d, index, v = ...
      d, index = t7.long(d, 2), getfenv(long_tensor(C, index, 3))
      local source = last == 'tensor' and getfenv(own(C, v, 4)) or nil
      v = source or C.cast(number(v, 4))
      if index.n ~= 1 then argerror(3, 'Index is supposed to be a vector') end
      if d < 1 or d > (source or s).n then argerror(4, 'Indexing dim ' .. d .. ' is out of bounds of tensor') end
      if source and index.sz[1] ~= source.sz[d] then
         argerror(4, 'Number of indices should be equal to source:size(dim)')
      end
      if s.n > 1 then
         if d > s.n then argerror(2, 'out of range') end
         if source and source.n == 1 then argerror(1, 'cannot select on a vector') end
      elseif s.n == 0 or source and source.n > 1 then
         argerror(1, 'tensor must have one dimension')
      end
      if source and numel(s) * index.sz[1] ~= numel(source) * s.sz[d] then
         t7.inconsistent({'tensor', getfenv(t7.selected(s, d, 0))}, {'src', getfenv(t7.selected(source, d, 0))})
      end
      call(f, kernel_tensor(s), d, kernel_tensor(index), source and kernel_tensor(source) or v)
      return (select(3, ...))
   end
end
function methods.maskedSelect(s, u, ...)
   local C, narg = s.C, select('#', ...) + 1
   local a, b = ...
   if narg == 2 then return ops.maskedSelect(C, nil, u, byte_tensor(C, a, 2)) end
   if narg == 3 then
      ops.maskedSelect(C, u, own(C, a, 2), byte_tensor(C, b, 3))
      return b
   end
   local byte = class_of_kind(C, 'Byte').name
   fail(('%s, %s | %s, %s, %s expected'):format(C.name, byte, C.name, C.name, byte))
end
function methods.maskedFill(s, u, ...)
   if select('#', ...) ~= 2 then fail(s.C.name .. ', ' .. class_of_kind(s.C, 'Byte').name .. ', number expected') end
   local mask, v = ...
   ops.maskedFill(s.C, u, byte_tensor(s.C, mask, 2), s.C.cast(number(v, 3)))
   return v
end
function methods.maskedCopy(s, u, ...)
   if select('#', ...) ~= 2 then fail(('%s, %s, %s expected'):format(s.C.name, class_of_kind(s.C, 'Byte').name, s.C.name)) end
   local mask, v = ...
   return ops.maskedCopy(s.C, u, byte_tensor(s.C, mask, 2), own(s.C, v, 3))
end
