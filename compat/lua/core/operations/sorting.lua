-- Sorting and choosing by order. Which of equal numbers comes first, and where NaNs go, follows from Torch7's algorithms:
-- Sedgewick's quicksort (1978), which leaves parts of up to ten to an insertion sort, and Hoare's selection, both with
-- the median of three as the pivot.
local t7 = ...
local argerror, fail, ffi = t7.argerror, t7.error, t7.ffi
local ops, class_of_kind = t7.ops, t7.class_of_kind
local getfenv = debug.getfenv
local alloc, copy_list, extent, resize_as = t7.alloc, t7.copy_list, t7.extent, t7.resize_as

-- Numbers `a` and their places `p` are counted from 0; AFTER is > for ascending order, < for descending.
local STEPS = [[
local function swap(a, p, i, j)
   a[i], a[j] = a[j], a[i]
   p[i], p[j] = p[j], p[i]
end
-- Splits the numbers l…r; returns the beginning of the right part and the place of the pivot, behind the left one.
local function split(a, p, l, r)
   swap(a, p, math.floor((l + r) / 2), l + 1)
   if a[l + 1] AFTER a[r] then swap(a, p, l + 1, r) end
   if a[l] AFTER a[r] then swap(a, p, l, r) end
   if a[l + 1] AFTER a[l] then swap(a, p, l + 1, l) end
   local i, j, pivot = l + 1, r, a[l]
   while true do
      repeat i = i + 1 until not (pivot AFTER a[i])
      repeat j = j - 1 until not (a[j] AFTER pivot)
      if j < i then break end
      swap(a, p, i, j)
   end
   swap(a, p, l, j)
   return i, j
end
local function insert(a, p, n)
   for i = n - 2, 0, -1 do
      if a[i] AFTER a[i + 1] then
         local number, place, j = a[i], p[i], i + 1
         repeat
            a[j - 1], p[j - 1] = a[j], p[j]
            j = j + 1
         until not (j < n and number AFTER a[j])
         a[j - 1], p[j - 1] = number, place
      end
   end
end
]]
local SORT = STEPS .. [[
local SMALL = 10
return function(a, p, n)
   local first, last, waiting = {}, {}, 0
   local l, r = 0, n - 1
   while n - 1 > SMALL do
      local i, j = split(a, p, l, r)
      local left, right = j - l, r - i + 1
      if left <= SMALL and right <= SMALL then
         if waiting == 0 then break end
         l, r, waiting = first[waiting], last[waiting], waiting - 1
      elseif left > right then
         if right > SMALL then
            waiting = waiting + 1
            first[waiting], last[waiting] = l, j - 1
            l = i
         else r = j - 1 end
      else
         if left > SMALL then
            waiting = waiting + 1
            first[waiting], last[waiting] = i, r
            r = j - 1
         else l = i end
      end
   end
   insert(a, p, n)
end]]
local SELECT = STEPS .. [[
return function(a, p, k, n)
   local l, r = 0, n - 1
   while r > l + 1 do
      local i, j = split(a, p, l, r)
      if j <= k then l = i end
      if j >= k then r = j - 1 end
   end
   if r == l + 1 and a[l] AFTER a[r] then swap(a, p, l, r) end
end]]
local function compiled(text, after) return assert(loadstring((text:gsub('AFTER', after)), '=(torch)'))() end
local ascending, descending, choose = compiled(SORT, '>'), compiled(SORT, '<'), compiled(SELECT, '>')

-- Calls f with the offsets of the beginnings of each row of s along d and of its row of o.
local function each_row(f, d, s, o, e, from, to)
   if e > s.n then return f(from, to) end
   if e == d then return each_row(f, d, s, o, e + 1, from, to) end
   for i = 0, s.sz[e] - 1 do each_row(f, d, s, o, e + 1, from + i * s.st[e], to + i * o.st[e]) end
end

-- Whether Lua reaches the numbers of a state.
local function in_reach(s)
   if not s.C.ctype or not s.rec.ptr then return false end
   local _, last = extent(s)
   if last >= s.rec.n then fail('the storage is too small for the tensor') end
   return true
end

-- Of each row of s along d the `count` numbers, and their places, that arrange(numbers, places, n) has put behind the
-- place that it returns.
local function arranged(s, d, count, arrange)
   local C, L = s.C, class_of_kind(s.C, 'Long')
   local sz, n = copy_list(s.sz, s.n), s.sz[d]
   sz[d] = count
   local u, v = alloc(C, s.n, sz), alloc(L, s.n, copy_list(sz, s.n))
   local values, indices = getfenv(u), getfenv(v)
   local numbers, places = (C.host or C).array(n), ffi.new('int32_t[?]', n)
   -- Longs are more than Lua's numbers hold.
   local get, whole, step = C.get, C.numbers == 'Long', s.st[d]
   each_row(function(from, to)
      local rec = s.rec
      for i = 0, n - 1 do
         numbers[i] = whole and rec.ptr[from + i * step] or get(rec, from + i * step)
         places[i] = i
      end
      local start = arrange(numbers, places, n)
      for i = 0, count - 1 do
         values.rec.ptr[to + i * values.st[d]] = numbers[start + i]
         indices.rec.ptr[to + i * values.st[d]] = places[start + i] + 1
      end
   end, d, s, values, 1, s.off, 0)
   return u, v
end

local function into(r, u)
   if r == nil then return u end
   resize_as(getfenv(r), getfenv(u))
   t7.copy(getfenv(r), getfenv(u))
   return r
end

-- Makes an operation along a dimension, the last by default. `prepare` checks its numbers and returns how many it gives of
-- each row, and how they are arranged; PyTorch does it where Lua does not reach.
local function along(name, dimension, wrong, argument, prepare)
   t7.paired(name)
   local elsewhere = ops[name]
   ops[name] = function(C, r, indices, a, ...)
      local s, args = getfenv(a), {...}
      local d = args[dimension] or s.n
      args[dimension] = d
      if d < 1 or d > s.n then argerror(argument, wrong:format(d)) end
      local count, arrange = prepare(s.sz[d], unpack(args, 1, 4))
      if not in_reach(s) then return elsewhere(C, r, indices, a, unpack(args, 1, select('#', ...))) end
      local values, places = arranged(s, d, count, arrange)
      return into(r, values), into(indices, places)
   end
end

along('sort', 1, 'invalid dimension %d', 2, function(size, _, is_descending)
   local sort = is_descending and descending or ascending
   return size, function(numbers, places, n)
      sort(numbers, places, n)
      return 0
   end
end)
local function kth(k)
   return 1, function(numbers, places, n)
      choose(numbers, places, k - 1, n)
      return k - 1
   end
end
along('kthvalue', 2, 'dimension out of range', 3, function(size, k)
   if not (k > 0 and k <= size) then argerror(2, 'selected index out of range') end
   return kth(k)
end)
along('median', 1, 'dimension out of range', 3, function(size) return kth(math.floor((size + 1) / 2)) end)
-- The last place of the longest run of equal numbers, the first of such runs.
along('mode', 1, 'dimension out of range', 3, function()
   return 1, function(numbers, places, n)
      ascending(numbers, places, n)
      local longest, mode, length = 0, 0, 0
      for i = 0, n - 1 do
         length = length + 1
         if i == n - 1 or numbers[i] ~= numbers[i + 1] then
            if length > longest then longest, mode = length, i end
            length = 0
         end
      end
      return mode
   end
end)
along('topk', 2, 'dim not in range', 3, function(size, k, _, largest, is_sorted)
   if not (k > 0 and k <= size) then argerror(2, 'k not in range for dimension') end
   return k, function(numbers, places, n)
      if not largest then
         choose(numbers, places, k - 1, n)
         -- The last one is in its place already.
         if is_sorted then ascending(numbers, places, k - 1) end
         return 0
      end
      local start = n - k
      if start > 0 then choose(numbers, places, start - 1, n) end
      if is_sorted then descending(numbers + start, places + start, k) end
      return start
   end
end)
