-- Sequences of steps on tensors that share memory, beside a plain model: a storage is a list of numbers, a tensor a storage
-- with an offset, sizes and strides. `choices` are the numbers by which steps are chosen; what differs is an error.
require 'torch'
local unpack = unpack

local function extent(m)
   local last = m.off
   for d = 1, #m.sz do last = last + (m.sz[d] - 1) * m.st[d] end
   return last + 1
end
local function is_inside(m) return #m.sz == 0 or extent(m) <= m.s.n end
local function count(m)
   if #m.sz == 0 then return 0 end
   local n = 1
   for _, z in ipairs(m.sz) do n = n * z end
   return n
end
local function copied(list)
   local new = {}
   for i, v in ipairs(list) do new[i] = v end
   return new
end
local function strides(sz)
   local st, z = {}, 1
   for d = #sz, 1, -1 do st[d] = z; z = z * sz[d] end
   return st
end
-- The places in the storage, row by row.
local function places(m)
   local found = {}
   local function go(d, at)
      if d > #m.sz then found[#found + 1] = at return end
      for i = 0, m.sz[d] - 1 do go(d + 1, at + i * m.st[d]) end
   end
   if #m.sz > 0 then go(1, m.off + 1) end
   return found
end
local function numbers(x)
   local list = {}
   local function go(t)
      for i = 1, #t do if type(t[i]) == 'table' then go(t[i]) else list[#list + 1] = t[i] end end
   end
   if x:dim() > 0 then go(x:totable()) end
   return list
end
local function same_sizes(a, b) return table.concat(a.sz, 'x') == table.concat(b.sz, 'x') end

-- Storages that grow hold anything behind the old numbers: here 0.
local function grow(entry, s, n)
   local storage = entry.x:storage()
   for i = s.n + 1, n do s[i] = 0; storage[i] = 0 end
   s.n = n
end
local function check(entry, log)
   local x, m = entry.x, entry.m
   assert(x:dim() == #m.sz, log)
   for d = 1, #m.sz do assert(x:size(d) == m.sz[d] and x:stride(d) == m.st[d], log) end
   if not is_inside(m) then
      assert(not pcall(function() return x:sum() end), log)
      return
   end
   local got = numbers(x)
   local at = places(m)
   assert(#got == #at, log)
   for i = 1, #at do assert(got[i] == m.s[at[i]], log) end
end

return function(choices, hold)
   local all, log, position = {}, {}, 0
   local function pick(n)
      position = position + 1
      return (choices[position] or 0) % n + 1
   end
   local function entry() return all[pick(#all)] end
   local function usable()
      local e = entry()
      return is_inside(e.m) and #e.m.sz > 0 and e or nil
   end
   local function put(x, m) all[#all + 1] = {x = x, m = m} end
   local function new_sizes()
      local sz = {}
      -- Some are too large for the memory of small tensors.
      for d = 1, pick(3) do sz[d] = d == 1 and pick(12) == 1 and 1030 or pick(4) end
      return sz
   end
   local function written(e, f)
      for _, at in ipairs(places(e.m)) do e.m.s[at] = f(e.m.s[at]) end
   end
   local STEPS = {}
   function STEPS.new()
      local sz, v = new_sizes(), pick(9)
      local s = {n = 1}
      for _, z in ipairs(sz) do s.n = s.n * z end
      for i = 1, s.n do s[i] = v end
      put((pick(2) == 1 and torch.DoubleTensor or torch.FloatTensor)(unpack(sz)):fill(v),
          {s = s, off = 0, sz = sz, st = strides(sz)})
   end
   function STEPS.narrow()
      local e = entry()
      if #e.m.sz == 0 then return end
      local d = pick(#e.m.sz)
      local first = pick(e.m.sz[d])
      local length = pick(e.m.sz[d] - first + 1)
      local sz = copied(e.m.sz)
      sz[d] = length
      put(e.x:narrow(d, first, length), {s = e.m.s, off = e.m.off + (first - 1) * e.m.st[d], sz = sz, st = copied(e.m.st)})
   end
   function STEPS.select()
      local e = entry()
      if #e.m.sz < 2 then return end
      local d = pick(#e.m.sz)
      local i = pick(e.m.sz[d])
      local sz, st = copied(e.m.sz), copied(e.m.st)
      local off = e.m.off + (i - 1) * st[d]
      table.remove(sz, d)
      table.remove(st, d)
      put(e.x:select(d, i), {s = e.m.s, off = off, sz = sz, st = st})
   end
   function STEPS.transpose()
      local e = entry()
      if #e.m.sz == 0 then return end
      local a, b = pick(#e.m.sz), pick(#e.m.sz)
      local sz, st = copied(e.m.sz), copied(e.m.st)
      sz[a], sz[b], st[a], st[b] = sz[b], sz[a], st[b], st[a]
      put(e.x:transpose(a, b), {s = e.m.s, off = e.m.off, sz = sz, st = st})
   end
   function STEPS.resize()
      local e, sz = entry(), new_sizes()
      local m = e.m
      local known = m.s
      local same = same_sizes(m, {sz = sz})
      e.x:resize(torch.LongStorage(sz))
      if same then return end
      m.sz, m.st = sz, strides(sz)
      if extent(m) > known.n then grow(e, known, extent(m)) end
   end
   function STEPS.set()
      local e, o = entry(), entry()
      if e.x:type() ~= o.x:type() then return end
      e.x:set(o.x)
      e.m = {s = o.m.s, off = o.m.off, sz = copied(o.m.sz), st = copied(o.m.st)}
      if extent(e.m) > e.m.s.n then grow(e, e.m.s, extent(e.m)) end
   end
   function STEPS.set_storage()
      local e, o = entry(), usable()
      if not o or e.x:type() ~= o.x:type() or not is_inside(o.m) then return end
      local off, n = pick(o.m.s.n), pick(6)
      local m = {s = o.m.s, off = off - 1, sz = {n}, st = {pick(2)}}
      local storage = o.x:storage()
      e.x:set(storage, off, n, m.st[1])
      e.m = m
      if extent(m) > m.s.n then grow(e, m.s, extent(m)) end
   end
   function STEPS.expand()
      local e = usable()
      if not e or e.m.sz[1] ~= 1 then return end
      local sz, st = copied(e.m.sz), copied(e.m.st)
      for d = 1, #sz do if sz[d] == 1 then st[d] = 0 end end
      sz[1] = 3
      local x = e.x:expand(unpack(sz))
      put(x, {s = e.m.s, off = e.m.off, sz = sz, st = st})
   end
   function STEPS.shrink_storage()
      local e = usable()
      if not e then return end
      local n = pick(e.m.s.n)
      e.x:storage():resize(n)
      for i = n + 1, e.m.s.n do e.m.s[i] = nil end
      e.m.s.n = n
   end
   function STEPS.add()
      local e, v = usable(), pick(7) - 4
      if not e then return end
      e.x:add(v)
      written(e, function(n) return n + v end)
   end
   function STEPS.add_tensor()
      local e, o = usable(), usable()
      if not e or not o or e.x:type() ~= o.x:type() or not same_sizes(e.m, o.m) then return end
      e.x:add(-1, o.x)
      local to, from = places(e.m), places(o.m)
      for i = 1, #to do e.m.s[to[i]] = e.m.s[to[i]] - o.m.s[from[i]] end
      e.x:remainder(101)
      written(e, function(n) return n - 101 * math.floor(n / 101) end)
   end
   function STEPS.copy()
      local e, o = usable(), usable()
      if not e or not o or count(e.m) ~= count(o.m) then return end
      e.x:copy(o.x)
      local to, from = places(e.m), places(o.m)
      for i = 1, #to do e.m.s[to[i]] = o.m.s[from[i]] end
   end
   function STEPS.fill()
      local e, v = usable(), pick(9)
      if not e then return end
      e.x:fill(v)
      written(e, function() return v end)
   end
   function STEPS.element()
      local e, v = usable(), pick(9)
      if not e or #e.m.sz ~= 1 then return end
      local i = pick(e.m.sz[1])
      e.x[i] = v
      e.m.s[e.m.off + (i - 1) * e.m.st[1] + 1] = v
   end
   function STEPS.pointer()
      local e, v = usable(), pick(9)
      if not e then return end
      e.x:data()[0] = v
      e.m.s[e.m.off + 1] = v
   end
   local function replaced(e, x)
      local s = {n = count(e.m)}
      for i, at in ipairs(places(e.m)) do s[i] = e.m.s[at] end
      put(x, {s = s, off = 0, sz = copied(e.m.sz), st = strides(e.m.sz)})
   end
   function STEPS.clone()
      local e = usable()
      if e then replaced(e, e.x:clone()) end
   end
   function STEPS.convert()
      local e = usable()
      if e then replaced(e, e.x:type() == 'torch.FloatTensor' and e.x:double() or e.x:float()) end
   end
   function STEPS.save()
      local e = usable()
      if not e then return end
      local s = copied(e.m.s)
      s.n = e.m.s.n
      put(torch.deserialize(torch.serialize(e.x)), {s = s, off = e.m.off, sz = copied(e.m.sz), st = copied(e.m.st)})
   end
   -- Python keeps the tensor, and writes into it.
   function STEPS.cross()
      local e = usable()
      if not e then return end
      for d = 1, #e.m.sz do if e.m.st[d] == 0 then return end end
      hold(e.x)
      local seen = {}
      for _, at in ipairs(places(e.m)) do
         if not seen[at] then e.m.s[at] = -e.m.s[at] end
         seen[at] = true
      end
   end
   function STEPS.drop() table.remove(all, pick(#all)) end
   function STEPS.collect() collectgarbage() end
   local NAMES = {'new', 'new', 'narrow', 'select', 'transpose', 'resize', 'set', 'set_storage', 'expand', 'shrink_storage', 'add',
                  'add_tensor', 'copy', 'fill', 'element', 'pointer', 'clone', 'convert', 'save', 'cross', 'drop', 'collect',
                  'narrow', 'transpose', 'add', 'add_tensor', 'copy', 'cross'}
   while position < #choices do
      local name = #all > 0 and NAMES[pick(#NAMES)] or 'new'
      log[#log + 1] = name
      local ok, message = pcall(STEPS[name])
      if not ok then error(table.concat(log, ' ') .. ': ' .. tostring(message), 0) end
   end
   local steps = table.concat(log, ' ')
   for i, e in ipairs(all) do check(e, steps .. ': tensor ' .. i) end
end
