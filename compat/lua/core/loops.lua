-- Operations on few numbers, in Lua: LuaJIT's loops are done before PyTorch has been called.
--
-- They write only to memory that no Python code holds: PyTorch counts what is written to its tensors, for gradients.
-- Elements are written one after the other, in Torch7's order, which shows where operands share memory.
local t7 = ...
local ffi = t7.ffi
local getfenv = debug.getfenv
local numel, same_size, is_contiguous, extent = t7.numel, t7.same_size, t7.is_contiguous, t7.extent
local alloc, resize, copy_list = t7.alloc, t7.resize, t7.copy_list
local FEW = t7.FEW
local long = ffi and ffi.typeof('int64_t')

-- Each element of the result, from those of the operands, x, y, z, and a number, v.
local EACH = {
   adds = 'x + v', subs = 'x - v', mul = 'x * v', div = 'x / v', cadd = 'x + v * y', csub = 'x - v * y',
   cmul = 'x * y', cdiv = 'x / y', addcmul = 'x + v * y * z', addcdiv = 'x + v * y / z',
   abs = 'math.abs(x)', neg = '-x', sqrt = 'math.sqrt(x)', floor = 'math.floor(x)', ceil = 'math.ceil(x)', cinv = '1 / x',
   exp = 'math.exp(x)', log = 'math.log(x)', tanh = 'math.tanh(x)', sigmoid = '1 / (1 + math.exp(-x))',
   pow = 'v == 2 and x * x or v == 3 and x * x * x or v == 0.5 and math.sqrt(x) or v == -1 and 1 / x or x ^ v',
   lt = 'x < v and 1 or 0', gt = 'x > v and 1 or 0', le = 'x <= v and 1 or 0', ge = 'x >= v and 1 or 0',
   eq = 'x == v and 1 or 0', ne = 'x ~= v and 1 or 0', ltT = 'x < y and 1 or 0', gtT = 'x > y and 1 or 0',
   leT = 'x <= y and 1 or 0', geT = 'x >= y and 1 or 0', eqT = 'x == y and 1 or 0', neT = 'x ~= y and 1 or 0',
   fill = 'v', copy = 'x',
}
-- Numbers from all elements: the start, what is done for each, and the result.
local OVER = {
   sumall = {'0', 's = s + x', 's'},
   meanall = {'0', 's = s + x', 's / n'},
   normall = {'0', 's = s + x * x', 'math.sqrt(s)'},
   minall = {'x0', 'if not (x >= s) then s = x if x ~= x then break end end', 's'},
   maxall = {'x0', 'if not (x <= s) then s = x if x ~= x then break end end', 's'},
   dot = {'0', 's = s + x * y', 's'},
   sum = {'0', 's = s + x', 's'},
   mean = {'0', 's = s + x', 's / n'},
   min = {'x0', 'if not (x >= s) then s, place = x, i if x ~= x then break end end', 's, place + 1'},
   max = {'x0', 'if not (x <= s) then s, place = x, i if x ~= x then break end end', 's, place + 1'},
}
-- What calls the C library for each element takes longer.
local MANY_PRODUCTS = 4096
local LIMITS = {exp = 128, log = 128, tanh = 128, sigmoid = 128, pow = 128}
-- Integers of C are not Lua's numbers: they are only compared, counted and set.
local INTEGERS = {lt = true, gt = true, le = true, ge = true, eq = true, ne = true, ltT = true, gtT = true, leT = true,
                  geT = true, eqT = true, neT = true, fill = true, copy = true, sumall = true, minall = true, maxall = true, sum = true, min = true,
                  max = true}

-- Leaves numbers to PyTorch from here on, which rounds float32 at other places.
function t7.leave_numbers_to_pytorch()
   FEW, MANY_PRODUCTS, LIMITS = -1, -1, {}
end

local function element(C, pointer, i)
   local read = C.integer and (C.numbers == 'Long' and 'tonumber(%s[%s])' or '%s[%s]') or 'sound(%s[%s])'
   return read:format(pointer, i)
end
local function loaded(C, text, place)
   local lines = {}
   for name, p in pairs{x = 'a', y = 'b', z = 'c'} do
      if text:find('%f[%w]' .. name .. '%f[%W]') then
         lines[#lines + 1] = ('local %s = %s'):format(name, element(C, p, (place:gsub('@', p))))
      end
   end
   return table.concat(lines, ' ')
end
local IN_LINE, APART = '@o + i', '@o + i * @s'
local function compiled(text) return assert(loadstring(text, '=(torch)'))(ffi.new('float[1]'), t7.sound) end

-- Each operand is a pointer, an offset and a stride.
local function compile_each(C, result)
   -- A number that meets floats is one.
   local rounded = C.numbers == 'Float' and 'if v then single[0] = v v = single[0] end' or ''
   return compiled(([[
local single, sound = ...
local math, tonumber = math, tonumber
return function(n, v, r, ro, rs, a, ao, as, b, bo, bs, c, co, cs)
   %s
   if rs == 1 and as == 1 and bs == 1 and cs == 1 then
      for i = 0, n - 1 do %s r[ro + i] = %s end
   else
      for i = 0, n - 1 do %s r[ro + i * rs] = %s end
   end
end]]):format(rounded, loaded(C, result, IN_LINE), result, loaded(C, result, APART), result))
end
local function compile_over(C, parts)
   local start = parts[1] == 'x0' and element(C, 'a', 'ao') or parts[1]
   return compiled(([[
local _, sound = ...
local math, tonumber = math, tonumber
return function(n, a, ao, as, b, bo, bs)
   local s, place = %s, 0
   for i = 0, n - 1 do %s %s end
   return %s
end]]):format(start, loaded(C, parts[2], APART), parts[2], parts[3]))
end

-- Loops by type and name, compiled when first used; false where there is none.
local function table_of(texts, compile)
   return setmetatable({}, {__mode = 'k', __index = function(self, C)
      local set = setmetatable({}, {__index = function(set, name)
         local there = C.ctype and texts[name] and (not C.integer or INTEGERS[name])
         local f = there and compile(C, texts[name]) or false
         rawset(set, name, f)
         return f
      end})
      rawset(self, C, set)
      return set
   end})
end
local each, over = table_of(EACH, compile_each), table_of(OVER, compile_over)

-- Whether the n elements of a state are inside its storage, in memory that Lua reaches, and whether they lie one after the
-- other: then they are one row.
local function in_line(s, n)
   local rec = s.rec
   if not rec.ptr then return false, false end
   if is_contiguous(s) then return s.off + n <= rec.n, true end
   local _, last = extent(s)
   return last < rec.n, false
end

-- Runs f on rows of states of the same sizes.
local function rows(f, d, v, o, oo, s, so, t, to, p, po)
   if d == o.n then
      return f(o.sz[d], v, o.rec.ptr, oo, o.st[d], s.rec.ptr, so, s.st[d], t and t.rec.ptr, to, t and t.st[d],
               p and p.rec.ptr, po, p and p.st[d])
   end
   for i = 0, o.sz[d] - 1 do
      rows(f, d + 1, v, o, oo + i * o.st[d], s, so + i * s.st[d], t, t and to + i * t.st[d], p, p and po + i * p.st[d])
   end
end
local MANY_ROWS = 64

local function run(f, n, v, o, s, t, p)
   local o_in, o_line = in_line(o, n)
   local s_in, s_line = in_line(s, n)
   local t_in, t_line = true, true
   local p_in, p_line = true, true
   if t then t_in, t_line = in_line(t, n) end
   if p then p_in, p_line = in_line(p, n) end
   if not (o_in and s_in and t_in and p_in) then return false end
   if o_line and s_line and t_line and p_line then
      f(n, v, o.rec.ptr, o.off, 1, s.rec.ptr, s.off, 1, t and t.rec.ptr, t and t.off, 1, p and p.rec.ptr, p and p.off, 1)
      return true
   end
   if n > MANY_ROWS * o.sz[o.n] or not same_size(o, s) or t and not same_size(o, t) or p and not same_size(o, p) then
      return false
   end
   rows(f, 1, v, o, o.off, s, s.off, t, t and t.off, p, p and p.off)
   return true
end

-- A result for `name` with the numbers of the state s and, where there are such, v, t and p, whose numbers are as many: nil
-- if that has to be left to a kernel. R is the type of the result r, or of a new one.
function t7.compute(R, C, name, r, s, v, t, p)
   local n = numel(s)
   if n > (LIMITS[name] or FEW) or n == 0 or not s.rec.ptr then return nil end
   local f = each[C][name]
   if not f then return nil end
   local o
   if r == nil then
      r = alloc(R, s.n, copy_list(s.sz, s.n))
      o = getfenv(r)
   else
      o = getfenv(r)
      if not o.C.ctype then return nil end
      if o ~= s and not same_size(o, s) then resize(o, s.n, s.sz) end
   end
   if not run(f, n, v, o, s, t, p) then return nil end
   if o.rec.known then t7.note_written(o.rec) end
   return r
end

-- A number from those of s, and of t, as many.
function t7.compute_over(name, s, t)
   local n = numel(s)
   if n == 0 or n > FEW then return nil end
   local f = over[s.C][name]
   if not f then return nil end
   local inside, line = in_line(s, n)
   if not inside or not line and s.n > 1 then return nil end
   if not t then return f(n, s.rec.ptr, s.off, line and 1 or s.st[1]) end
   local t_inside, t_line = in_line(t, n)
   if not t_inside or not t_line and t.n > 1 then return nil end
   return f(n, s.rec.ptr, s.off, line and 1 or s.st[1], t.rec.ptr, t.off, t_line and 1 or t.st[1])
end

-- Runs f along dimension d of s, for each place in the others; its results go to o and, if there is one, q.
local function along(f, d, e, s, so, o, oo, q, qo)
   if e > s.n then
      local v, place = f(s.sz[d], s.rec.ptr, so, s.st[d])
      -- A sum of ints that is none keeps its last bits.
      o.rec.ptr[oo] = s.C.numbers == 'Int' and long(v) or v
      if q then q.rec.ptr[qo] = place end
   elseif e == d then
      along(f, d, e + 1, s, so, o, oo, q, qo)
   else
      for i = 0, s.sz[e] - 1 do
         along(f, d, e + 1, s, so + i * s.st[e], o, oo + i * o.st[e], q, q and qo + i * q.st[e])
      end
   end
end

-- A new tensor of numbers from those along a dimension, and with `Q` one of that type for their places.
function t7.compute_along(name, s, d, Q)
   local n = numel(s)
   if n == 0 or n > FEW or not s.sz[d] or n > MANY_ROWS * s.sz[d] then return nil end
   local f = over[s.C][name]
   if not f or not in_line(s, n) then return nil end
   local sz = copy_list(s.sz, s.n)
   sz[d] = 1
   local u, places = alloc(s.C, s.n, sz), Q and alloc(Q, s.n, copy_list(sz, s.n))
   along(f, d, 1, s, s.off, getfenv(u), 0, places and getfenv(places), 0)
   return u, places
end

-- Products of matrices, or of a matrix and a vector, of few numbers.
local PRODUCT = [[
local _, sound = ...
return function(m, k, n, beta, alpha, r, ro, r1, r2, t, to, t1, t2, a, ao, a1, a2, b, bo, b1, b2)
   for i = 0, m - 1 do
      for j = 0, n - 1 do
         local s = 0
         for l = 0, k - 1 do s = s + sound(a[ao + i * a1 + l * a2]) * sound(b[bo + l * b1 + j * b2]) end
         s = alpha * s
         if beta ~= 0 then s = s + beta * sound(t[to + i * t1 + j * t2]) end
         r[ro + i * r1 + j * r2] = s
      end
   end
end]]
local products = setmetatable({}, {__mode = 'k', __index = function(self, C)
   local f = C.ctype and not C.integer and compiled(PRODUCT) or false
   rawset(self, C, f)
   return f
end})

-- The product beta t + alpha a b in r, or in a new tensor; nil if that has to be left to a kernel, which also tells of sizes
-- that do not fit.
function t7.product(C, r, beta, t, alpha, a, b)
   local f = products[C]
   local m, k, n = a.sz[1], a.sz[2], b.sz[2] or 1
   if not f or m * k * n > MANY_PRODUCTS or b.sz[1] ~= k then return nil end
   if t and (t.n ~= b.n or t.sz[1] ~= m or (t.sz[2] or 1) ~= n or not in_line(t, m * n)) then return nil end
   if not in_line(a, m * k) or not in_line(b, k * n) then return nil end
   local o
   if r == nil then
      r = alloc(C, b.n, {m, b.sz[2]})
      o = getfenv(r)
   else
      o = getfenv(r)
      if o.n ~= b.n or o.sz[1] ~= m or (o.sz[2] or 1) ~= n or not in_line(o, m * n) or o.rec == a.rec or o.rec == b.rec or
         t and t ~= o and t.rec == o.rec then
         return nil
      end
   end
   f(m, k, n, beta, alpha, o.rec.ptr, o.off, o.st[1], o.st[2] or 0, (t or o).rec.ptr, (t or o).off, (t or o).st[1],
     (t or o).st[2] or 0, a.rec.ptr, a.off, a.st[1], a.st[2], b.rec.ptr, b.off, b.st[1], b.st[2] or 0)
   if o.rec.known then t7.note_written(o.rec) end
   return r
end

-- Copies n numbers of o to s; whether that was possible here.
local ffi_copy = ffi and ffi.copy
function t7.copy_here(s, o, n)
   local C = s.C
   if n > FEW or not C.ctype or not o.C.ctype then return false end
   if C == o.C then
      local s_in, s_line = in_line(s, n)
      local o_in, o_line = in_line(o, n)
      if s_in and o_in and s_line and o_line then
         ffi_copy(s.rec.ptr + s.off, o.rec.ptr + o.off, n * C.esize)
         if s.rec.known then t7.note_written(s.rec) end
         return true
      end
   elseif C.integer then return false end
   local done = run(each[o.C].copy, n, nil, s, o)
   if done and s.rec.known then t7.note_written(s.rec) end
   return done
end
