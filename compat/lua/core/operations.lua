-- What the signatures name: geometry of the results here, numbers in the kernels (compat/lua/kernels).
local t7 = ...
local torch, python, call, fail, argerror = t7.torch, t7.python, t7.call, t7.error, t7.argerror
local k = python.kernels
local getfenv, getmetatable, unpack = debug.getfenv, getmetatable, unpack
local kernel_tensor, numel, same_size = t7.kernel_tensor, t7.numel, t7.same_size
local alloc, resize, resize_as, copy_list = t7.alloc, t7.resize, t7.resize_as, t7.copy_list
local pcall = pcall
local ops, kin, as_kin = t7.ops, t7.kin, t7.as_kin

-- The result of an operation on each element of a state.
local function like(C, r, s)
   if r == nil then
      local u = alloc(C, s.n, copy_list(s.sz, s.n))
      return u, getfenv(u)
   end
   local o = getfenv(r)
   if o ~= s and not same_size(o, s) then resize(o, s.n, s.sz) end
   return r, o
end

-- A new tensor like a state, which a kernel has made: fewer crossings than to make it first.
local is_contiguous, record_of = t7.is_contiguous, t7.record_of
local function made_like(C, s, base, address)
   local n = s.n
   local sz, st, z = {}, {}, 1
   for d = n, 1, -1 do
      local size = s.sz[d]
      sz[d], st[d] = size, z
      z = z * size
   end
   return C.make{C = C, rec = record_of(C, base, address, z), off = 0, n = n, sz = sz, st = st, k = base, ver = 0,
                 py = false}
end
local function maker(name, C) return k.makers[name] or not C.integer and k.floating_makers[name] or nil end

local function check_count(s, b, r, first, second)
   if numel(s) ~= numel(b) then t7.inconsistent({r or 'r_', s}, {first or 't', s}, {second or 'src', b}) end
end
local tangled, sequential = t7.tangled, t7.sequential
local compute, compute_over, compute_along, product = t7.compute, t7.compute_over, t7.compute_along, t7.product
-- What kernels get of a tensor with as many elements as another, in whose shape they see it.
local function operand(t, s)
   if same_size(s, t) then return kernel_tensor(t) end
   return call(python.shaped, kernel_tensor(t), unpack(s.sz, 1, s.n))
end
t7.operand = operand

for _, name in ipairs{'abs', 'acos', 'asin', 'atan', 'ceil', 'cos', 'cosh', 'exp', 'floor', 'frac', 'log', 'log1p', 'neg',
                      'rsqrt', 'sigmoid', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh', 'trunc', 'round', 'cinv'} do
   local f = k[name]
   ops[name] = function(C, r, a)
      local s = getfenv(a)
      local done = compute(C, C, name, r, s)
      if done then return done end
      local make = r == nil and s.n > 0 and maker(name, C)
      if make and is_contiguous(s) then return made_like(C, s, call(make, kernel_tensor(s))) end
      local u, o = like(C, r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s)) end
      return u
   end
end
for _, name in ipairs{'adds', 'subs', 'mul', 'div', 'lshift', 'rshift', 'fmod', 'remainder', 'bitand', 'bitor', 'bitxor',
                      'cmaxValue', 'cminValue', 'pow'} do
   local f = k[name]
   ops[name] = function(C, r, a, v)
      local s = getfenv(a)
      local done = compute(C, C, name, r, s, v)
      if done then return done end
      local make = r == nil and s.n > 0 and maker(name, C)
      if make and is_contiguous(s) then return made_like(C, s, call(make, kernel_tensor(s), v)) end
      local u, o = like(C, r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), v) end
      return u
   end
end
function ops.clamp(C, r, a, low, high)
   local s = getfenv(a)
   local u, o = like(C, r, s)
   if s.n > 0 then call(k.clamp, kernel_tensor(o), kernel_tensor(s), low, high) end
   return u
end
function ops.tpow(C, r, v, a)
   local s = getfenv(a)
   local u, o = like(C, r, s)
   if s.n > 0 then call(k.tpow, kernel_tensor(o), v, kernel_tensor(s)) end
   return u
end
-- Whether writing a result element by element changes what is read for later elements.
local function overwrites(o, s, t)
   return o.rec and (o.rec == t.rec and tangled(o, t) or o.rec == s.rec and tangled(o, s))
end
for _, name in ipairs{'cmul', 'cdiv', 'cpow', 'clshift', 'crshift', 'cfmod', 'cremainder', 'cbitand', 'cbitor', 'cbitxor',
                      'cmax', 'cmin', 'atan2'} do
   local f = k[name]
   local in_order = name == 'cmul' or name == 'cdiv'
   local short = (name == 'cmax' or name == 'cmin') and 'r' or nil
   ops[name] = function(C, r, a, b)
      local s, t = getfenv(a), getfenv(b)
      local same = same_size(s, t)
      if not same then check_count(s, t, short) end
      local done = compute(C, C, name, r, s, nil, t)
      if done then return done end
      if same and r == nil and s.n > 0 then
         local make = maker(name, C)
         if make and is_contiguous(s) and is_contiguous(t) then
            return made_like(C, s, call(make, kernel_tensor(s), kernel_tensor(t)))
         end
      end
      local u, o = like(C, r, s)
      if in_order and overwrites(o, s, t) then
         sequential(name, o, s, nil, t)
      elseif s.n > 0 then
         call(f, kernel_tensor(o), kernel_tensor(s), operand(t, s))
      end
      return u
   end
end
for _, name in ipairs{'cadd', 'csub'} do
   local f = k[name]
   ops[name] = function(C, r, a, v, b)
      local s, t = getfenv(a), getfenv(b)
      local same = same_size(s, t)
      if not same then check_count(s, t) end
      local done = compute(C, C, name, r, s, v, t)
      if done then return done end
      if same and r == nil and s.n > 0 then
         local make = maker(name, C)
         if make and is_contiguous(s) and is_contiguous(t) then
            return made_like(C, s, call(make, kernel_tensor(s), v, kernel_tensor(t)))
         end
      end
      local u, o = like(C, r, s)
      if overwrites(o, s, t) then
         sequential(name, o, s, v, t)
      elseif s.n > 0 then
         call(f, kernel_tensor(o), kernel_tensor(s), v, operand(t, s))
      end
      return u
   end
end
for _, name in ipairs{'addcmul', 'addcdiv'} do
   local f = k[name]
   ops[name] = function(C, r, a, v, b, c)
      local s, t, w = getfenv(a), getfenv(b), getfenv(c)
      check_count(s, t)
      check_count(s, w)
      local done = compute(C, C, name, r, s, v, t, w)
      if done then return done end
      local u, o = like(C, r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), v, operand(t, s), operand(w, s)) end
      return u
   end
end
function ops.lerp(C, r, a, b, v)
   local s, t = getfenv(a), getfenv(b)
   check_count(s, t)
   local u, o = like(C, r, s)
   if s.n > 0 then call(k.lerp, kernel_tensor(o), kernel_tensor(s), operand(t, s), v) end
   return u
end
for _, name in ipairs{'lt', 'gt', 'le', 'ge', 'eq', 'ne'} do
   local f = k[name]
   ops[name] = function(C, r, a, v)
      local s = getfenv(a)
      local done = compute(kin(C, 'Byte'), C, name, r, s, v)
      if done then return done end
      local u, o = like(kin(C, 'Byte'), r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), v) end
      return u
   end
   ops[name .. 'T'] = function(C, r, a, b)
      local s, t = getfenv(a), getfenv(b)
      check_count(s, t, 'r_', 'ta', 'tb')
      local done = compute(kin(C, 'Byte'), C, name .. 'T', r, s, nil, t)
      if done then return done end
      local u, o = like(kin(C, 'Byte'), r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), operand(t, s)) end
      return u
   end
end

function ops.zero(C, r)
   local s = getfenv(r)
   if s.n > 0 and not compute(C, C, 'fill', r, s, 0) then call(k.zero, kernel_tensor(s)) end
   return r
end
function ops.fill(C, r, v)
   local s = getfenv(r)
   if s.n == 1 and s.sz[1] == 1 then
      C.set(s.rec, s.off, v)
   elseif s.n > 0 and not compute(C, C, 'fill', r, s, v) then
      call(k.fill, kernel_tensor(s), v)
   end
   return r
end

-- Numbers of numbers
local math = math
local NUMBERS = {
   log = math.log, exp = math.exp, cos = math.cos, acos = math.acos, cosh = math.cosh, sin = math.sin, asin = math.asin,
   sinh = math.sinh, tan = math.tan, atan = math.atan, tanh = math.tanh, sqrt = math.sqrt, ceil = math.ceil,
   floor = math.floor, abs = math.abs,
   log1p = function(x) return call(python.log1p, x) end,
   round = function(x)
      local whole = x >= 0 and math.floor(x) or math.ceil(x)
      if math.abs(x - whole) >= 0.5 then whole = whole + (x > 0 and 1 or -1) end
      return whole
   end,
   trunc = function(x) return x >= 0 and math.floor(x) or math.ceil(x) end,
   frac = function(x) return x - (x >= 0 and math.floor(x) or math.ceil(x)) end,
   rsqrt = function(x) return 1 / math.sqrt(x) end,
   sigmoid = function(x) return 1 / (1 + math.exp(-x)) end,
}
local function as_real(C, x)
   if C.numbers == 'Float' then return call(python.single, x) end
   return x
end
for name, f in pairs(NUMBERS) do ops[name .. 'Number'] = function(C, x) return as_real(C, f(x)) end end
function ops.lerpNumber(C, a, b, w) return a + w * (b - a) end
function ops.atan2Number(C, a, b) return math.atan2(a, b) end
function ops.powNumber(C, a, b) return a ^ b end

-- Results that a kernel makes ----------------------------------------------------------------------------

-- Puts a new torch.Tensor into the result `r`, or makes a tensor of it.
local function adopt(C, r, base, address, n, dims, ...)
   local sz = {...}
   if r == nil then
      if dims == 0 then return alloc(C, 0, {}) end
      local st, z = {}, 1
      for d = dims, 1, -1 do st[d] = z; z = z * sz[d] end
      return C.make{C = C, rec = record_of(C, base, address, n), off = 0, n = dims, sz = sz, st = st, k = base, ver = 0,
                    py = false}
   end
   local s = getfenv(r)
   resize(s, dims, sz)
   if dims > 0 then call(k.copy, kernel_tensor(s), base) end
   return r
end
local fresh = k.fresh
local function put(C, r, tensor) return adopt(C, r, call(fresh, tensor)) end
t7.put = put

-- Sizes must agree in every dimension but one.
function t7.same_but(...)
   local args = {...}
   local d = args[#args]
   local states, words = {}, {}
   for i = 1, #args - 1, 2 do
      states[#states + 1] = args[i + 1]
      words[#words + 1] = args[i] .. ' [' .. table.concat(copy_list(args[i + 1].sz, args[i + 1].n), ' x ') .. ']'
   end
   for e = 1, states[1].n do
      if e ~= d then
         for _, s in ipairs(states) do
            if s.sz[e] ~= states[1].sz[e] then
               local last = table.remove(words)
               fail('Expected ' .. table.concat(words, ', ') .. ' and ' .. last ..
                    ' to have the same size in dimension ' .. (d - 1))
            end
         end
      end
   end
end

-- Operations of one new tensor: the kernel gets the tensors and numbers as they come.
local function made(name, f)
   f = f or k[name]
   ops[name] = function(C, r, ...)
      local args, n = {...}, select('#', ...)
      for i = 1, n do
         local s = t7.state(args[i])
         if s then args[i] = kernel_tensor(s) end
      end
      return put(C, r, call(f, unpack(args, 1, n)))
   end
end
for _, name in ipairs{'gather', 'mv', 'mm', 'bmm', 'ger', 'addmv', 'addmm', 'addr', 'addbmm', 'baddbmm', 'cumsum', 'cumprod',
                      'sum', 'prod', 'mean', 'var', 'std', 'norm', 'cross', 'diag', 'tril', 'triu', 'histc', 'bhistc',
                      'renorm', 'match', 'conv2', 'conv2c', 'conv2mv', 'conv3', 'conv3c', 'conv3mv', 'xcorr2', 'xcorr2c',
                      'xcorr2mv', 'xcorr3', 'xcorr3c', 'xcorr3mv'} do
   made(name)
end
local gather_new = ops.gather
function ops.gather(C, r, a, d, index)
   local s, i = getfenv(a), getfenv(index)
   local o = r and getfenv(r) or i
   if o.n ~= s.n then argerror(2, 'Input tensor must have same dimensions as output tensor') end
   if i.n ~= s.n then argerror(4, 'Index tensor must have same dimensions as input tensor') end
   t7.same_but('tensor', o, 'src', s, 'index', i, d)
   return gather_new(C, r, a, d, index)
end
for _, name in ipairs{'sum', 'mean'} do
   local full = ops[name]
   ops[name] = function(C, r, a, d) return r == nil and compute_along(name, getfenv(a), d) or full(C, r, a, d) end
end
for _, name in ipairs{'addmv', 'addmm'} do
   local full = ops[name]
   ops[name] = function(C, r, beta, t, alpha, a, b)
      return product(C, r, beta, getfenv(t), alpha, getfenv(a), getfenv(b)) or full(C, r, beta, t, alpha, a, b)
   end
end
for _, name in ipairs{'addmv', 'addmm', 'addr', 'addbmm', 'baddbmm'} do
   local full = ops[name]
   ops[name .. '1'] = function(C, r, t, alpha, a, b) return full(C, r, 1, t, alpha, a, b) end
end
for _, name in ipairs{'mv', 'mm', 'bmm'} do
   -- A result of the wrong number of dimensions is not resized, if it is given.
   local full, dims = ops[name], ({mv = 1, mm = 2, bmm = 3})[name]
   local words = ({'vector', 'matrix', '3D tensor'})[dims]
   ops[name] = function(C, r, a, b)
      if r then
         local s = getfenv(r)
         if s.n ~= dims then fail(words .. ' expected, got ' .. s.n .. 'D tensor for t') end
         return ops[({mv = 'addmv', mm = 'addmm', bmm = 'baddbmm'})[name]](C, r, 0, r, 1, a, b)
      end
      return dims < 3 and product(C, nil, 0, nil, 1, getfenv(a), getfenv(b)) or full(C, r, a, b)
   end
end

-- Pairs of values and positions.
local function paired(name)
   local f = k[name]
   ops[name] = function(C, r, indices, a, ...)
      local values, places = call(f, kernel_tensor(getfenv(a)), ...)
      return put(C, r, values), put(kin(C, 'Long'), indices, places)
   end
end
for _, name in ipairs{'min', 'max'} do
   paired(name)
   local full = ops[name]
   ops[name] = function(C, r, indices, a, d)
      if r == nil and indices == nil then
         local values, places = compute_along(name, getfenv(a), d, kin(C, 'Long'))
         if values then return values, places end
      end
      return full(C, r, indices, a, d)
   end
end
for name, default in pairs{sort = true, topk = true, kthvalue = true, mode = true, median = true} do
   paired(name)
   local full = ops[name]
   if name == 'topk' then
      ops[name] = function(C, r, indices, a, n, d, largest, ordered)
         return full(C, r, indices, a, n, d or getfenv(a).n, largest, ordered)
      end
   elseif name == 'kthvalue' then
      ops[name] = function(C, r, indices, a, n, d) return full(C, r, indices, a, n, d or getfenv(a).n) end
   else
      ops[name] = function(C, r, indices, a, d, ...) return full(C, r, indices, a, d or getfenv(a).n, ...) end
   end
end

-- Numbers
for _, name in ipairs{'sumall', 'prodall', 'minall', 'maxall', 'meanall', 'varall', 'stdall', 'normall', 'dist', 'dot',
                      'trace', 'logicalall', 'logicalany'} do
   local f = k[name]
   ops[name] = function(C, ...)
      local result = select('#', ...) == 1 and compute_over(name, getfenv((...)))
      if result then return result end
      local args, n = {...}, select('#', ...)
      for i = 1, n do
         local s = t7.state(args[i])
         if s then args[i] = kernel_tensor(s) end
      end
      return call(f, unpack(args, 1, n))
   end
end
function ops.dist(C, a, b, p)
   if numel(getfenv(a)) ~= numel(getfenv(b)) then t7.inconsistent({'tensor', getfenv(a)}, {'src', getfenv(b)}) end
   return call(k.dist, kernel_tensor(getfenv(a)), kernel_tensor(getfenv(b)), p)
end
function ops.dot(C, a, b)
   if numel(getfenv(a)) ~= numel(getfenv(b)) then t7.inconsistent({'tensor', getfenv(a)}, {'src', getfenv(b)}) end
   if getfenv(a).n == 0 then return 0 end
   local result = compute_over('dot', getfenv(a), getfenv(b))
   if result then return result end
   return call(k.dot, kernel_tensor(getfenv(a)), kernel_tensor(getfenv(b)))
end
local norm = ops.normall
function ops.normall(C, a, p)
   return p == 2 and compute_over('normall', getfenv(a)) or norm(C, a, p)
end
function ops.equal(C, a, b)
   local s, t = getfenv(a), getfenv(b)
   if not same_size(s, t) then return false end
   return s.n == 0 or call(k.equal, kernel_tensor(s), kernel_tensor(t))
end
function ops.numel(C, a) return numel(getfenv(a)) end

-- Sizes and shapes ---------------------------------------------------------------------------------------

local function sized(C, r, sz, n)
   if r == nil then return C.new(unpack(sz, 1, n)) end
   resize(getfenv(r), n, sz)
   return r
end
function ops.zeros(C, r, sz, n)
   local u = sized(C, r, sz, n)
   return ops.zero(C, u)
end
function ops.ones(C, r, sz, n)
   local u = sized(C, r, sz, n)
   return ops.fill(C, u, 1)
end
function ops.reshape(C, r, a, sz, n)
   local s = getfenv(a)
   local u = r or alloc(C, 0, {})
   local source = s
   if r == a then source = getfenv(t7.methods.clone(s)) end
   resize(getfenv(u), n, sz)
   t7.copy(getfenv(u), source)
   return u
end
for _, name in ipairs{'range', 'linspace', 'logspace', 'eye'} do
   local f = k[name]
   ops[name] = function(C, r, ...)
      local base, address, n, dims, size = call(fresh, call(f, call(C.nothing), ...))
      if r ~= nil and dims == 1 and numel(getfenv(r)) == n then
         -- Any shape will do, if there is room for as many numbers.
         call(k.copy, kernel_tensor(getfenv(r)), base)
         return r
      end
      return adopt(C, r, base, address, n, dims, size, dims == 2 and n / size or nil)
   end
end
function ops.cat(C, r, a, b, d)
   return put(C, r, call(k.cat, d or -1, kernel_tensor(getfenv(a)), kernel_tensor(getfenv(b))))
end
function ops.catArray(C, r, list, d)
   local args = {}
   for i = 1, #list do
      if getmetatable(list[i]) ~= C.mt then fail('expected ' .. C.short .. ' in tensor array') end
      args[i] = kernel_tensor(getfenv(list[i]))
   end
   return put(C, r, call(k.cat, d or -1, unpack(args)))
end

local function set_view(C, r, s, n, sz, st)
   if r == nil then return t7.wrap(C, s.rec, s.off, n, sz, st) end
   t7.set_geometry(getfenv(r), s.rec, s.off, n, sz, st)
   return r
end
local function with_number(C, u)
   local s = getfenv(u)
   if s.n == 1 and s.sz[1] == 1 then return C.get(s.rec, s.off) end
   return u
end
function ops.squeeze(C, r, a)
   local s = getfenv(a)
   local sz, st, n = {}, {}, 0
   for d = 1, s.n do
      if s.sz[d] ~= 1 then
         n = n + 1
         sz[n], st[n] = s.sz[d], s.st[d]
      end
   end
   if n == 0 and s.n > 0 then n, sz[1], st[1] = 1, 1, 1 end
   return with_number(C, set_view(C, r, s, n, sz, st))
end
function ops.squeeze1d(C, r, a, d)
   local s = getfenv(a)
   if d < 1 or d > s.n then argerror(2, 'dimension out of range') end
   local sz, st, n = {}, {}, 0
   for e = 1, s.n do
      if e ~= d or s.sz[e] ~= 1 or s.n == 1 then
         n = n + 1
         sz[n], st[n] = s.sz[e], s.st[e]
      end
   end
   local had = s.n > 1
   local u = set_view(C, r, s, n, sz, st)
   if not had then return with_number(C, u) end
   return u
end

-- Indices ------------------------------------------------------------------------------------------------

for _, name in ipairs{'scatter', 'scatterFill'} do
   local f = k[name]
   ops[name] = function(C, r, d, index, v)
      local t = t7.state(v)
      call(f, kernel_tensor(getfenv(r)), d, kernel_tensor(getfenv(index)), t and kernel_tensor(t) or v)
      return r
   end
end
function ops.nonzero(C, r, a)
   return put(kin(C, 'Long'), r, call(k.nonzero, kernel_tensor(getfenv(a))))
end
function ops.maskedSelect(C, r, a, mask)
   if numel(getfenv(a)) ~= numel(getfenv(mask)) then t7.inconsistent({'src', getfenv(a)}, {'mask', getfenv(mask)}) end
   return put(C, r, call(k.maskedSelect, kernel_tensor(getfenv(a)), kernel_tensor(getfenv(mask))))
end
function ops.maskedFill(C, r, mask, v)
   if numel(getfenv(r)) ~= numel(getfenv(mask)) then t7.inconsistent({'tensor', getfenv(r)}, {'mask', getfenv(mask)}) end
   call(k.maskedFill, kernel_tensor(getfenv(r)), kernel_tensor(getfenv(mask)), v)
   return r
end
function ops.maskedCopy(C, r, mask, a)
   call(k.maskedCopy, kernel_tensor(getfenv(r)), kernel_tensor(getfenv(mask)), kernel_tensor(getfenv(a)))
   return r
end

-- index, indexCopy, … check their arguments one by one.
local methods = t7.methods
local function own(C, u, n)
   if getmetatable(u) ~= C.mt then t7.typerror(n, C.name, u) end
   return kernel_tensor(getfenv(u))
end
local function byte_tensor(C, u, n) return own(kin(C, 'Byte'), as_kin(C, u, 'Byte'), n) end
local function long_tensor(C, u, n) return own(kin(C, 'Long'), as_kin(C, u, 'Long'), n) end
function methods.index(s, u, ...)
   local C, narg = s.C, select('#', ...) + 1
   local a, b, c = ...
   if narg == 3 then
      local d = t7.long(a, 2)
      return put(C, nil, call(k.indexSelect, kernel_tensor(s), d, long_tensor(C, b, 3)))
   elseif narg == 4 then
      local source = own(C, a, 2)
      local d = t7.long(b, 3)
      put(C, u, call(k.indexSelect, source, d, long_tensor(C, c, 4)))
      return c
   end
   local long = kin(C, 'Long').name
   fail(('%s, number, %s | %s, %s, number, %s expected'):format(C.name, long, C.name, C.name, long))
end
for name, last in pairs{indexCopy = 'tensor', indexAdd = 'tensor', indexFill = 'number'} do
   local f = k[name]
   methods[name] = function(s, u, ...)
      local C = s.C
      if select('#', ...) ~= 3 then
         fail(('%s, number, %s, %s expected'):format(C.name, kin(C, 'Long').name, last == 'tensor' and C.name or 'number'))
      end
      local d, index, v = ...
      d, index = t7.long(d, 2), long_tensor(C, index, 3)
      if last == 'tensor' then v = own(C, v, 4)
      elseif not tonumber(v) then t7.luatypeerror(4, 'number', 4, v)
      else v = tonumber(v) end
      call(f, kernel_tensor(s), d, index, v)
      return (select(3, ...))
   end
end
function methods.maskedSelect(s, u, ...)
   local C, narg = s.C, select('#', ...) + 1
   local a, b = ...
   if narg == 2 then
      local mask = byte_tensor(C, a, 2)
      if numel(s) ~= numel(getfenv(a)) then t7.inconsistent({'src', s}, {'mask', getfenv(a)}) end
      return put(C, nil, call(k.maskedSelect, kernel_tensor(s), mask))
   end
   if narg == 3 then
      local source = own(C, a, 2)
      put(C, u, call(k.maskedSelect, source, byte_tensor(C, b, 3)))
      return b
   end
   local byte = kin(C, 'Byte').name
   fail(('%s, %s | %s, %s, %s expected'):format(C.name, byte, C.name, C.name, byte))
end
function methods.maskedFill(s, u, ...)
   if select('#', ...) ~= 2 then fail(s.C.name .. ', ' .. kin(s.C, 'Byte').name .. ', number expected') end
   local mask, v = ...
   mask = byte_tensor(s.C, mask, 2)
   if not tonumber(v) then t7.luatypeerror(3, 'number', 3, v) end
   if numel(s) ~= numel(getfenv((...))) then t7.inconsistent({'tensor', s}, {'mask', getfenv((...))}) end
   call(k.maskedFill, kernel_tensor(s), mask, tonumber(v))
   return v
end
function methods.maskedCopy(s, u, ...)
   if select('#', ...) ~= 2 then fail(('%s, %s, %s expected'):format(s.C.name, kin(s.C, 'Byte').name, s.C.name)) end
   local mask, v = ...
   mask = byte_tensor(s.C, mask, 2)
   call(k.maskedCopy, kernel_tensor(s), mask, own(s.C, v, 3))
   return u
end

local function by_columns(s) return s.st[1] == 1 and s.st[2] == s.sz[1] end

-- LAPACK: each with results given or new -----------------------------------------------------------------

for name, results in pairs{gesv = 2, gels = 2, trtrs = 2, symeig = 2, eig = 2, svd = 3, inverse = 1, potrf = 1, potrs = 1,
                           potri = 1, pstrf = 2, qr = 2, geqrf = 2, orgqr = 1, ormqr = 1} do
   local f = k[name]
   local function run(C, given, ...)
      local args, n = {...}, select('#', ...)
      for i = 1, n do
         local s = t7.state(args[i])
         if s then args[i] = kernel_tensor(s) end
      end
      local out = {call(f, unpack(args, 1, n))}
      for i = 1, results do
         local class = name == 'pstrf' and i == 2 and kin(C, 'Int') or C
         local kept = given[i]
         local loose = kept and getfenv(kept).n == 2 and not t7.is_contiguous(getfenv(kept)) and not by_columns(getfenv(kept))
         out[i] = put(class, kept, out[i])
         local s = getfenv(out[i])
         -- LAPACK's matrices lie by columns.
         if s.n == 2 and not loose and not (name == 'eig' and i == 1) and s.sz[1] > 1 and s.sz[2] > 1 then
            local values = t7.methods.clone(s)
            t7.set_geometry(s, s.rec, s.off, 2, {s.sz[1], s.sz[2]}, {1, s.sz[1]})
            t7.copy(s, getfenv(values))
         end
      end
      return unpack(out, 1, results)
   end
   ops[name] = function(C, ...)
      local given = {}
      for i = 1, results do given[i] = (select(i, ...)) end
      return run(C, given, select(results + 1, ...))
   end
   ops[name .. 'New'] = function(C, ...) return run(C, {}, ...) end
end


-- Random numbers -----------------------------------------------------------------------------------------

local mt, make_generator = t7.userdata_class('torch.Generator', nil,
   function() return t7.make_generator(call(k.new_generator)) end,
   function() return t7.make_generator(call(k.new_generator)) end)
t7.Generator = mt
function t7.make_generator(py) return make_generator{py = py} end
function mt.write(u, file) file:writeByte(t7.import_tensor(call(k.generator_state, getfenv(u).py)):storage()) end
function mt.read(u, file) call(k.setRNGState, getfenv(u).py, t7.export_storage(file:readByte(5048))) end

local function generator(u) return u and getfenv(u).py or nil end
-- The generator of an argument that may be something else: then Torch7's own.
function t7.python_generator(value) return getmetatable(value) == mt and getfenv(value).py or nil end

for name, args in pairs{uniform = 2, normal = 2, cauchy = 2, logNormal = 2, exponential = 1, geometric = 1, bernoulli = 1} do
   local f = k[name]
   ops[name] = args == 2 and function(C, g, a, b) return call(f, generator(g), a, b) end
      or function(C, g, a) return call(f, generator(g), a) end
   local fill = k[name .. '_']
   ops[name .. '_'] = function(C, r, g, a, b)
      local s = getfenv(r)
      local t = t7.state(a)
      if t then a = kernel_tensor(t) end
      if s.n > 0 then
         if args == 2 then call(fill, kernel_tensor(s), generator(g), a, b)
         else call(fill, kernel_tensor(s), generator(g), a) end
      end
      return r
   end
end
local function bounds2(a, b) if b < a then argerror(2, 'upper bound must be larger than lower bound') end end
local function bounds1(b) if b <= 0 then argerror(1, 'upper bound must be strictly positive') end end
function ops.random(C, g) return call(k.random, generator(g)) end
function ops.random1(C, g, b) bounds1(b) return call(k.random, generator(g), b) end
function ops.random2(C, g, a, b) bounds2(a, b) return call(k.random, generator(g), a, b) end
function ops.random_(C, r, g) call(k.random_, kernel_tensor(getfenv(r)), generator(g)) return r end
function ops.random1_(C, r, g, b)
   bounds1(b)
   call(k.random_, kernel_tensor(getfenv(r)), generator(g), b)
   return r
end
function ops.random2_(C, r, g, a, b)
   bounds2(a, b)
   call(k.random_, kernel_tensor(getfenv(r)), generator(g), a, b)
   return r
end
function ops.rand(C, r, g, sz, n) return ops.uniform_(C, sized(C, r, sz, n), g, 0, 1) end
function ops.randn(C, r, g, sz, n) return ops.normal_(C, sized(C, r, sz, n), g, 0, 1) end
function ops.randperm(C, r, g, n) return put(C, r, call(k.randperm, generator(g), call(C.nothing), n)) end
function ops.multinomial(C, r, g, p, n, replacement)
   return put(kin(C, 'Long'), r, call(k.multinomial, generator(g), kernel_tensor(getfenv(p)), n, replacement))
end
function ops.multinomialAliasSetup(C, p, J, q)
   local j, w = call(k.multinomialAliasSetup, kernel_tensor(getfenv(p)))
   return put(kin(C, 'Long'), J, j), put(C, q, w)
end
function ops.multinomialAlias(C, r, g, J, q)
   call(k.multinomialAlias, kernel_tensor(getfenv(r)), generator(g), kernel_tensor(getfenv(J)), kernel_tensor(getfenv(q)))
   return r
end

local function with_generator(name, f)
   torch[name] = function(...)
      local a, b = ...
      if getmetatable(a) == mt then return f(a, select(2, ...)) end
      return f(nil, ...)
   end
   t7.placeless[torch[name]] = true
end
local function wrong(expected, ...)
   fail('invalid arguments: ' .. t7.argument_names(...) .. '\nexpected arguments: ' .. expected)
end
with_generator('manualSeed', function(g, ...)
   local seed = ...
   if select('#', ...) ~= 1 or not tonumber(seed) then wrong('[Generator] long', ...) end
   call(k.manualSeed, generator(g), tonumber(seed))
end)
with_generator('seed', function(g) return call(k.seed, generator(g)) end)
with_generator('initialSeed', function(g) return call(k.initialSeed, generator(g)) end)
with_generator('getRNGState', function(g, r)
   local C = t7.class_named.Byte
   if r ~= nil and getmetatable(r) ~= C.mt then wrong('[Generator] [*ByteTensor*]', r) end
   return put(C, r, call(k.getRNGState, generator(g)))
end)
with_generator('setRNGState', function(g, ...)
   local state = ...
   if state == nil and select('#', ...) == 0 then argerror(1, 'RNG state is wrong size') end
   if getmetatable(state) ~= t7.class_named.Byte.mt then wrong('[Generator] [*ByteTensor*]', state) end
   if numel(getfenv(state)) ~= 5048 then argerror(1, 'RNG state is wrong size') end
   call(k.setRNGState, generator(g), kernel_tensor(getfenv(state)))
   return state
end)

-- Operators ----------------------------------------------------------------------------------------------

function t7.operators(C)
   local mt, name = C.mt, C.name
   local function number(v, n)
      if type(v) == 'number' then return v end
      return type(v) == 'string' and tonumber(v) or t7.luatypeerror(n, 'number', 2, v)
   end
   local function cast(v)
      if C.integer then v = v >= 0 and math.floor(v) or math.ceil(v) end
      return v
   end
   local function pair(a, b)
      return getmetatable(a) == mt, getmetatable(b) == mt
   end
   local function none() fail('expecting two ' .. name .. 's or one ' .. name .. ' and one number') end
   function mt.__add__(a, b)
      local x, y = pair(a, b)
      if x and y then return (ops.cadd(C, nil, a, 1, b)) end
      if x then return (ops.adds(C, nil, a, cast(number(b, 2)))) end
      if y then return (ops.adds(C, nil, b, cast(number(a, 1)))) end
      none()
   end
   function mt.__sub__(a, b)
      local x, y = pair(a, b)
      if x and y then return (ops.csub(C, nil, a, 1, b)) end
      if x then return (ops.subs(C, nil, a, cast(number(b, 2)))) end
      if y then
         local v = cast(number(a, 1))
         local r = alloc(C, getfenv(b).n, copy_list(getfenv(b).sz, getfenv(b).n))
         ops.fill(C, r, v)
         return (ops.csub(C, r, r, 1, b))
      end
      none()
   end
   function mt.__mul__(a, b)
      local x, y = pair(a, b)
      if x and y then
         local n, m = getfenv(a).n, getfenv(b).n
         if n == 1 and m == 1 then return (ops.dot(C, a, b)) end
         if n == 2 and m == 1 then return (ops.mv(C, nil, a, b)) end
         if n == 2 and m == 2 then return (ops.mm(C, nil, a, b)) end
         fail('multiplication between ' .. n .. 'D and ' .. m .. 'D tensors not yet supported')
      end
      if x then return (ops.mul(C, nil, a, cast(number(b, 2)))) end
      if y then return (ops.mul(C, nil, b, cast(number(a, 1)))) end
      none()
   end
   local function left(a)
      if getmetatable(a) ~= mt then t7.typerror(1, name, a) end
   end
   function mt.__div__(a, b)
      left(a)
      if not tonumber(b) then argerror(2, 'number expected') end
      return (ops.div(C, nil, a, cast(tonumber(b))))
   end
   function mt.__mod__(a, b)
      left(a)
      if not tonumber(b) then argerror(2, 'number expected') end
      return (ops.remainder(C, nil, a, cast(tonumber(b))))
   end
   function mt.__unm__(a)
      left(a)
      return (ops.mul(C, nil, a, -1))
   end
   if C.kind == 'Half' then
      mt.__add__, mt.__sub__, mt.__mul__, mt.__div__, mt.__mod__, mt.__unm__ = nil
   end
   for _, f in pairs{mt.__add__, mt.__sub__, mt.__mul__, mt.__div__, mt.__mod__, mt.__unm__} do
      t7.placeless[f] = true
   end
end
