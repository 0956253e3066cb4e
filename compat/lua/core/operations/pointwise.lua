-- Operations on each element, and the same of numbers.
local t7 = ...
local python, call, fail, argerror = t7.python, t7.call, t7.error, t7.argerror
local k, ops, class_of_kind = python.kernels, t7.ops, t7.class_of_kind
local getfenv, unpack, math = debug.getfenv, unpack, math
local kernel_tensor, numel, same_size = t7.kernel_tensor, t7.numel, t7.same_size
local like, make_room = t7.like, t7.make_room
local tangled, sequential, compute = t7.tangled, t7.sequential, t7.compute

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

-- What operands are called in errors about their sizes: the result, the first and the second.
local WORDS = {cmax = {'r', 't', 'src'}, cmin = {'r', 't', 'src'}, atan2 = {'r_', 'tx', 'ty'}, addcmul = {'r_', 'src1', 'src2'},
               addcdiv = {'r_', 'src1', 'src2'}}
for _, name in ipairs{'lt', 'gt', 'le', 'ge', 'eq', 'ne'} do WORDS[name .. 'T'] = {'r_', 'ta', 'tb'} end
local USUAL = {'r_', 't', 'src'}
local function check_count(name, o, s, t)
   if numel(s) ~= numel(t) or numel(o) ~= numel(s) then
      local words = WORDS[name] or USUAL
      t7.inconsistent({words[1], o}, {words[2], s}, {words[3], t})
   end
end
local function only_for_integers(name, C)
   if not C.integer and name:find('bit') then fail(name .. ' is only supported for integer type tensors') end
end
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
      only_for_integers(name, C)
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
   ops[name] = function(C, r, a, b)
      local s, t = getfenv(a), getfenv(b)
      only_for_integers(name, C)
      make_room(r, s)
      local same = same_size(s, t)
      if not same then check_count(name, s, s, t) end
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
      make_room(r, s)
      local same = same_size(s, t)
      if not same then check_count(name, s, s, t) end
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
      if r and r ~= a then
         -- Torch7 adds to a copy, which a factor may be.
         local o = getfenv(r)
         make_room(r, s)
         t7.copy(o, s)
         s = o
      end
      check_count(name, s, t, w)
      local done = compute(C, C, name, r, s, v, t, w)
      if done then return done end
      local u, o = like(C, r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), v, operand(t, s), operand(w, s)) end
      return u
   end
end
function ops.lerp(C, r, a, b, v)
   local s, t = getfenv(a), getfenv(b)
   if numel(s) ~= numel(t) then argerror(2, 'sizes do not match') end
   local u, o = like(C, r, s)
   if s.n > 0 then call(k.lerp, kernel_tensor(o), kernel_tensor(s), operand(t, s), v) end
   return u
end
for _, name in ipairs{'lt', 'gt', 'le', 'ge', 'eq', 'ne'} do
   local f = k[name]
   ops[name] = function(C, r, a, v)
      local s = getfenv(a)
      local done = compute(class_of_kind(C, 'Byte'), C, name, r, s, v)
      if done then return done end
      local u, o = like(class_of_kind(C, 'Byte'), r, s)
      if s.n > 0 then call(f, kernel_tensor(o), kernel_tensor(s), v) end
      return u
   end
   ops[name .. 'T'] = function(C, r, a, b)
      local s, t = getfenv(a), getfenv(b)
      make_room(r, s)
      check_count(name .. 'T', s, s, t)
      local done = compute(class_of_kind(C, 'Byte'), C, name .. 'T', r, s, nil, t)
      if done then return done end
      local u, o = like(class_of_kind(C, 'Byte'), r, s)
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
local NUMBERS = {
   log = function(x) return math.log(x) end, -- with a second argument, even nil, it takes a base
   exp = math.exp, cos = math.cos, acos = math.acos, cosh = math.cosh, sin = math.sin, asin = math.asin,
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
local function lerp(a, b, w) return a + w * (b - a) end
local function pow(a, b) return a ^ b end
-- Torch7's C code takes the numbers as they are in the type, and gives its result in the type.
local function as_real(C, x)
   if C.numbers == 'Float' then return call(python.single, x) end
   return x
end
local function of_numbers(f)
   return function(C, x, y, z)
      x = as_real(C, x)
      if y then y = as_real(C, y) end
      if z then z = as_real(C, z) end
      return as_real(C, f(x, y, z))
   end
end
for name, f in pairs(NUMBERS) do ops[name .. 'Number'] = of_numbers(f) end
ops.lerpNumber, ops.atan2Number, ops.powNumber = of_numbers(lerp), of_numbers(math.atan2), of_numbers(pow)
