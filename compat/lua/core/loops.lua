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

-- Each element of the result, from those of the operands, x, y, z, and a number, v.
local EACH = {
   adds = 'x + v', subs = 'x - v', mul = 'x * v', div = 'x / v', cadd = 'x + v * y', csub = 'x - v * y',
   cmul = 'x * y', cdiv = 'x / y', addcmul = 'x + v * y * z', addcdiv = 'x + v * y / z',
   abs = 'math.abs(x)', neg = '-x', sqrt = 'math.sqrt(x)', floor = 'math.floor(x)', ceil = 'math.ceil(x)', cinv = '1 / x',
   exp = 'math.exp(x)', log = 'math.log(x)', tanh = 'math.tanh(x)', sigmoid = '1 / (1 + math.exp(-x))', pow = 'x ^ v',
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
}
-- What calls the C library for each element takes longer.
local LIMITS = {exp = 128, log = 128, tanh = 128, sigmoid = 128, pow = 128}
-- Integers of C are not Lua's numbers: they are only compared, counted and set.
local INTEGERS = {lt = true, gt = true, le = true, ge = true, eq = true, ne = true, ltT = true, gtT = true, leT = true,
                  geT = true, eqT = true, neT = true, fill = true, copy = true, sumall = true, minall = true, maxall = true}

local function element(C, pointer, i)
   return (C.kind == 'Long' and 'tonumber(%s[%s])' or '%s[%s]'):format(pointer, i)
end
local function loaded(C, text)
   local lines = {}
   for name, p in pairs{x = 'a', y = 'b', z = 'c'} do
      if text:find('%f[%w]' .. name .. '%f[%W]') then
         lines[#lines + 1] = ('local %s = %s'):format(name, element(C, p, ('%so + i * %ss'):format(p, p)))
      end
   end
   return table.concat(lines, ' ')
end
local function compiled(text) return assert(loadstring(text, '=(torch)'))(ffi.new('float[1]')) end

-- Each operand is a pointer, an offset and a stride.
local function compile_each(C, result)
   -- A number that meets floats is one.
   local rounded = C.kind == 'Float' and 'if v then single[0] = v v = single[0] end' or ''
   return compiled(([[
local single = ...
local math, tonumber = math, tonumber
return function(n, v, r, ro, rs, a, ao, as, b, bo, bs, c, co, cs)
   %s
   for i = 0, n - 1 do %s r[ro + i * rs] = %s end
end]]):format(rounded, loaded(C, result), result))
end
local function compile_over(C, parts)
   local start = parts[1] == 'x0' and element(C, 'a', 'ao') or parts[1]
   return compiled(([[
local math, tonumber = math, tonumber
return function(n, a, ao, as, b, bo, bs)
   local s = %s
   for i = 0, n - 1 do %s %s end
   return %s
end]]):format(start, loaded(C, parts[2]), parts[2], parts[3]))
end

-- Loops by type and name, compiled when first used; false where there is none.
local function table_of(texts, compile)
   return setmetatable({}, {__mode = 'k', __index = function(self, C)
      local set = setmetatable({}, {__index = function(set, name)
         local there = C.array and texts[name] and (not C.integer or INTEGERS[name])
         local f = there and compile(C, texts[name]) or false
         rawset(set, name, f)
         return f
      end})
      rawset(self, C, set)
      return set
   end})
end
local each, over = table_of(EACH, compile_each), table_of(OVER, compile_over)

-- Whether the n elements of a state are inside its storage, and lie one after the other: then they are one row.
local function in_line(s, n)
   if is_contiguous(s) then return s.off + n <= s.rec.n, true end
   local _, last = extent(s)
   return last < s.rec.n, false
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
   if n > (LIMITS[name] or FEW) or n == 0 then return nil end
   local f = each[C][name]
   if not f then return nil end
   local o
   if r == nil then
      r = alloc(R, s.n, copy_list(s.sz, s.n))
      o = getfenv(r)
   else
      o = getfenv(r)
      if not o.C.array then return nil end
      if o ~= s and not same_size(o, s) then resize(o, s.n, s.sz) end
      if o.rec.known then return nil end
   end
   return run(f, n, v, o, s, t, p) and r or nil
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

-- Copies n numbers of o to s; whether that was possible here.
local ffi_copy = ffi and ffi.copy
function t7.copy_here(s, o, n)
   local C = s.C
   if n > FEW or not C.array or not o.C.array or s.rec.known then return false end
   if C == o.C then
      local s_in, s_line = in_line(s, n)
      local o_in, o_line = in_line(o, n)
      if s_in and o_in and s_line and o_line then
         ffi_copy(s.rec.ptr + s.off, o.rec.ptr + o.off, n * C.esize)
         return true
      end
   elseif C.integer then return false end
   return run(each[o.C].copy, n, nil, s, o)
end
