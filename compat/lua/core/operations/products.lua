-- Products of matrices and vectors, and convolutions.
local t7 = ...
local call, fail, argerror = t7.call, t7.error, t7.argerror
local k, ops = t7.python.kernels, t7.ops
local getfenv = debug.getfenv
local kernel_tensor, put, product, sizes = t7.kernel_tensor, t7.put, t7.product, t7.sizes
local alloc, same_size, make_room = t7.alloc, t7.same_size, t7.make_room

local function size(s, d)
   if d > s.n then argerror(2, 'dimension ' .. d .. ' out of range of ' .. s.n .. 'D tensor') end
   return s.sz[d]
end
local function check_batches(a, b)
   if a.sz[1] ~= b.sz[1] then
      argerror(2, ('equal number of batches expected, got %d, %d'):format(a.sz[1], b.sz[1]))
   end
   if a.sz[3] ~= b.sz[2] then
      argerror(2, ('wrong matrix size, batch1: %dx%d, batch2: %dx%d'):format(a.sz[2], a.sz[3], b.sz[2], b.sz[3]))
   end
end
local function check_sizes(t, ...)
   for d = 1, select('#', ...) do
      if size(t, d) ~= (select(d, ...)) then argerror(1, 'output tensor of incorrect size') end
   end
end
local CHECKS = {}
function CHECKS.addmv(t, a, x)
   if a.sz[2] ~= x.sz[1] then fail(('size mismatch, %s, %s'):format(sizes(a), sizes(x))) end
   if t.n ~= 1 then fail('vector expected, got t: ' .. t.n .. 'D') end
   if t.sz[1] ~= a.sz[1] then fail(('size mismatch, t: %s, mat: %s'):format(sizes(t), sizes(a))) end
end
function CHECKS.addmm(t, a, b)
   if a.sz[2] ~= b.sz[1] then fail(('size mismatch, m1: %s, m2: %s'):format(sizes(a), sizes(b))) end
   if t.n ~= 2 then fail('matrix expected, got ' .. t.n .. 'D tensor for t') end
   if t.sz[1] ~= a.sz[1] or t.sz[2] ~= b.sz[2] then
      fail(('size mismatch, t: %s, m1: %s, m2: %s'):format(sizes(t), sizes(a), sizes(b)))
   end
end
function CHECKS.addr(t, a, b)
   if t.n ~= 2 then fail('expected matrix, got ' .. t.n .. 'D tensor for t') end
   if t.sz[1] ~= a.sz[1] or t.sz[2] ~= b.sz[1] then
      fail(('size mismatch, t: %s, vec1: %s, vec2: %s'):format(sizes(t), sizes(a), sizes(b)))
   end
end
function CHECKS.addbmm(t, a, b)
   check_batches(a, b)
   check_sizes(t, a.sz[2], b.sz[3])
end
function CHECKS.baddbmm(t, a, b)
   check_batches(a, b)
   check_sizes(t, a.sz[1], a.sz[2], b.sz[3])
end

for name, check in pairs(CHECKS) do
   local f = k[name]
   local few = name == 'addmv' or name == 'addmm'
   ops[name] = function(C, r, beta, t, alpha, a, b)
      local o, x, y = getfenv(t), getfenv(a), getfenv(b)
      check(o, x, y)
      make_room(r, o)
      local done = few and product(C, r, beta, o, alpha, x, y)
      if done then return done end
      return put(C, r, call(f, beta, kernel_tensor(o), alpha, kernel_tensor(x), kernel_tensor(y)))
   end
   ops[name .. '1'] = function(C, r, t, alpha, a, b) return ops[name](C, r, 1, t, alpha, a, b) end
end

-- Those without a summand: a result that is given is set to 0 first, and is not resized.
local FULL = {mv = 'addmv', mm = 'addmm', bmm = 'baddbmm', ger = 'addr'}
local SIZES = {
   mv = function(a) return {a.sz[1]} end,
   mm = function(a, b) return {a.sz[1], b.sz[2]} end,
   ger = function(a, b) return {a.sz[1], b.sz[1]} end,
   bmm = function(a, b) return {a.sz[1], a.sz[2], b.sz[3]} end,
}
for name, full in pairs(FULL) do
   local f, check, add = k[name], CHECKS[full], ops[full]
   local few = name == 'mv' or name == 'mm'
   ops[name] = function(C, r, a, b)
      if r then
         ops.zero(C, r)
         return add(C, r, 0, r, 1, a, b)
      end
      local x, y = getfenv(a), getfenv(b)
      local sz = SIZES[name](x, y)
      check({n = #sz, sz = sz}, x, y)
      return few and product(C, nil, 0, nil, 1, x, y) or put(C, nil, call(f, kernel_tensor(x), kernel_tensor(y)))
   end
end

function ops.dot(C, a, b)
   local s, t = getfenv(a), getfenv(b)
   if t7.numel(s) ~= t7.numel(t) then t7.inconsistent({'tensor', s}, {'src', t}) end
   if s.n == 0 then return 0 end
   local r = t7.compute_over('dot', s, t)
   if r and C.numbers == 'Float' then return tonumber(t7.ffi.new('float', r)) end -- as BLAS gives it
   return r or call(k.dot, kernel_tensor(s), kernel_tensor(t))
end

for _, kind in ipairs{'conv2', 'conv2c', 'conv2mv', 'conv3', 'conv3c', 'conv3mv', 'xcorr2', 'xcorr2c', 'xcorr2mv', 'xcorr3',
                      'xcorr3c', 'xcorr3mv'} do
   t7.made(kind)
end
