-- Tensors made of sizes, of numbers or of other tensors.
local t7 = ...
local call, fail, argerror = t7.call, t7.error, t7.argerror
local k, ops = t7.python.kernels, t7.ops
local getfenv, getmetatable, unpack = debug.getfenv, getmetatable, unpack
local kernel_tensor, numel, sizes = t7.kernel_tensor, t7.numel, t7.sizes
local alloc, resize, put, adopt, sized = t7.alloc, t7.resize, t7.put, t7.adopt, t7.sized

for _, name in ipairs{'diag', 'tril', 'triu'} do t7.made(name) end

function ops.zeros(C, r, sz, n) return ops.zero(C, sized(C, r, sz, n)) end
function ops.ones(C, r, sz, n) return ops.fill(C, sized(C, r, sz, n), 1) end
function ops.reshape(C, r, a, sz, n)
   local u = sized(C, r, sz, n)
   t7.copy(getfenv(u), getfenv(a))
   return u
end

for _, name in ipairs{'range', 'linspace', 'logspace', 'eye'} do
   local f = k[name]
   ops[name] = function(C, r, ...)
      local base, address, n, dims, size = call(k.fresh, call(f, call(C.nothing), ...))
      if r ~= nil and dims == 1 and numel(getfenv(r)) == n then
         -- Any shape will do, if there is room for as many numbers.
         call(k.copy, kernel_tensor(getfenv(r)), base)
         return r
      end
      return adopt(C, r, base, address, n, dims, size, dims == 2 and n / size or nil)
   end
end

function ops.match(C, r, a, b, gain)
   local s, t = getfenv(a), getfenv(b)
   -- Torch7 makes matrices of the operands themselves.
   for _, o in ipairs{s, t} do
      if t7.is_contiguous(o) then resize(o, 2, {o.sz[1], numel(o) / o.sz[1]}) end
   end
   if numel(s) * t.sz[1] ~= numel(t) * s.sz[1] then argerror(3, 'm1 and m2 must have the same inner vector dim') end
   return put(C, r, call(k.match, kernel_tensor(s), kernel_tensor(t), gain))
end

function ops.cross(C, r, a, b, d)
   local s, t = getfenv(a), getfenv(b)
   if s.n ~= t.n then fail(('inconsistent tensor dimension %dD, %dD'):format(s.n, t.n)) end
   if not t7.same_size(s, t) then fail(('inconsistent tensor sizes %s, %s'):format(sizes(s), sizes(t))) end
   if d < 1 then
      d = 1
      while d <= s.n and s.sz[d] ~= 3 do d = d + 1 end
      if d > s.n then fail('no dimension of size 3 in a: ' .. sizes(s)) end
   end
   if d > s.n then argerror(3, 'dimension ' .. d .. ' out of range') end
   if s.sz[d] ~= 3 then argerror(3, 'dimension ' .. d .. ' does not have size 3') end
   return put(C, r, call(k.cross, kernel_tensor(s), kernel_tensor(t), d))
end

-- Joins tensors along a dimension, by default the last that one of them has. Those without dimensions are left out.
local function joined(C, r, states, d)
   local most, tensors = 0, {}
   for _, s in ipairs(states) do
      most = math.max(most, s.n)
      if s.n > 0 then tensors[#tensors + 1] = kernel_tensor(s) end
   end
   if d == nil or d == -1 then d = math.max(most, 1) end
   if d < 1 then argerror(4, 'invalid dimension ' .. d) end
   if #tensors == 0 then return r or alloc(C, 0, {}) end
   return put(C, r, call(k.cat, d, unpack(tensors)))
end
function ops.cat(C, r, a, b, d) return joined(C, r, {getfenv(a), getfenv(b)}, d) end
function ops.catArray(C, r, list, d)
   local states = {}
   for i = #list, 1, -1 do
      if getmetatable(list[i]) ~= C.mt then fail('expected ' .. C.short .. ' in tensor array') end
      states[i] = getfenv(list[i])
   end
   return joined(C, r, states, d)
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
