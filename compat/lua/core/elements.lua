-- The elements of tensors one after the other: functions of Lua applied to each, and operations whose order shows.
local t7 = ...
local fail, luatypeerror = t7.error, t7.luatypeerror
local getfenv, getmetatable, select, tonumber, type = debug.getfenv, getmetatable, select, tonumber, type
local numel, methods = t7.numel, t7.methods

-- Runs f(offsets…) for every element of up to three states of as many elements, in row-major order of each.
local function each(f, ...)
   local n = select('#', ...)
   local states = {...}
   local offsets, counters = {}, {}
   for j = 1, n do
      offsets[j], counters[j] = states[j].off, {}
      for d = 1, states[j].n do counters[j][d] = 0 end
   end
   for _ = 1, numel(states[1]) do
      f(offsets[1], offsets[2], offsets[3])
      for j = 1, n do
         local s, c = states[j], counters[j]
         local d = s.n
         while d > 0 do
            c[d] = c[d] + 1
            offsets[j] = offsets[j] + s.st[d]
            if c[d] < s.sz[d] then break end
            offsets[j] = offsets[j] - c[d] * s.st[d]
            c[d] = 0
            d = d - 1
         end
      end
   end
end

-- Where elements are --------------------------------------------------------------------------------------

local function extent(s)
   local last = s.off
   for d = 1, s.n do last = last + (s.sz[d] - 1) * s.st[d] end
   return s.off, last
end
t7.extent = extent
-- Do two states of one storage share elements at different places, so that the order of writing shows?
function t7.tangled(s, o)
   local first, last = extent(s)
   local ofirst, olast = extent(o)
   if last < ofirst or olast < first then return false end
   local same = s.n == o.n
   for d = 1, s.n do same = same and (s.st[d] == o.st[d] or s.sz[d] == 1) and s.sz[d] == o.sz[d] end
   if not same then return true end
   if s.off == o.off then return false end
   -- Columns of one matrix lie between each other.
   local rows = s.st[1] or 0
   local inner = 1
   for d = 2, s.n do inner = inner + (s.sz[d] - 1) * s.st[d] end
   local shift = math.abs(s.off - o.off) % (rows > 0 and rows or 1)
   return not (rows > 0 and shift >= inner and rows - shift >= inner)
end
-- An operation on elements in Torch7's order, one after the other.
function t7.sequential(name, s, a, v, b)
   local C = s.C
   local get, set, from = C.get, C.set, a.C.get
   if name == 'copy' then
      each(function(i, j) set(s.rec, i, from(a.rec, j)) end, s, a)
   elseif name == 'cadd' then
      each(function(i, j, k) set(s.rec, i, get(a.rec, j) + v * get(b.rec, k)) end, s, a, b)
   elseif name == 'csub' then
      each(function(i, j, k) set(s.rec, i, get(a.rec, j) - v * get(b.rec, k)) end, s, a, b)
   elseif name == 'cmul' then
      each(function(i, j, k) set(s.rec, i, get(a.rec, j) * get(b.rec, k)) end, s, a, b)
   elseif name == 'cdiv' then
      each(function(i, j, k) set(s.rec, i, get(a.rec, j) / get(b.rec, k)) end, s, a, b)
   end
end

-- Functions of Lua ----------------------------------------------------------------------------------------

-- Puts what a function gives for elements into the first of the states, which have names for errors.
local function apply(func, narg, names, ...)
   if type(func) ~= 'function' then luatypeerror(narg, 'function', narg, func) end
   local states, words = {...}, {}
   local s, o, p = ...
   local get, set = s.C.get, s.C.set
   for i, state in ipairs(states) do
      words[i] = {names[i], state}
      if numel(state) ~= numel(s) then words.differ = true end
   end
   if words.differ then t7.inconsistent(unpack(words)) end
   each(function(i, j, k)
      local value = func(get(s.rec, i), o and get(o.rec, j), p and get(p.rec, k))
      if value == nil then return end
      set(s.rec, i, tonumber(value) or fail('given function should return a number or nil'))
   end, ...)
end
local function own(s, u, n)
   if getmetatable(u) ~= s.C.mt then t7.typerror(n, s.C.name, u) end
   return getfenv(u)
end
function methods.apply(s, u, func)
   apply(func, 2, {'tensor'}, s)
   return u
end
function methods.map(s, u, src, func)
   apply(func, 3, {'tensor', 'src'}, s, own(s, src, 2))
   return u
end
function methods.map2(s, u, src1, src2, func)
   apply(func, 4, {'tensor', 'src1', 'src2'}, s, own(s, src1, 2), own(s, src2, 3))
   return u
end
