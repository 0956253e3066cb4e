-- Random numbers: the generator, what it draws, and its state.
local t7 = ...
local torch, python, call, fail, argerror = t7.torch, t7.python, t7.call, t7.error, t7.argerror
local k, ops, class_of_kind = python.kernels, t7.ops, t7.class_of_kind
local getfenv, getmetatable = debug.getfenv, getmetatable
local kernel_tensor, numel, put, sized = t7.kernel_tensor, t7.numel, t7.put, t7.sized

local mt, make_generator = t7.userdata_class('torch.Generator', nil,
   function() return t7.make_generator(call(k.new_generator)) end,
   function() return t7.make_generator(call(k.new_generator)) end)
t7.Generator = mt
local known = setmetatable({}, {__mode = 'v'})
-- The generator behind which Python's is: the same one each time.
function t7.make_generator(py)
   local u = py and known[py] or make_generator{py = py}
   if py then known[py] = u end
   return u
end
function mt.write(u, file) file:writeByte(t7.import_tensor(call(k.generator_state, getfenv(u).py)):storage()) end
function mt.read(u, file) call(k.setRNGState, getfenv(u).py, t7.export_storage(file:readByte(5048))) end

local function generator(u) return u and getfenv(u).py or nil end
-- The generator of an argument that may be something else: then Torch7's own.
function t7.python_generator(value) return getmetatable(value) == mt and getfenv(value).py or nil end

for _, name in ipairs{'uniform', 'normal', 'cauchy', 'logNormal', 'exponential', 'geometric', 'bernoulli'} do
   local f, fill = k[name], k[name .. '_']
   ops[name] = function(_, g, ...) return call(f, generator(g), ...) end
   ops[name .. '_'] = function(_, r, g, ...)
      local s = getfenv(r)
      local p = t7.state((...))
      if p and numel(p) ~= numel(s) then t7.inconsistent({'self', s}, {'p', p}) end
      if s.n > 0 then
         if p then call(fill, kernel_tensor(s), generator(g), kernel_tensor(p))
         else call(fill, kernel_tensor(s), generator(g), ...) end
      end
      return r
   end
end
-- A rate of 0 gives infinities.
for name, scaled in pairs{exponential = function(_, x) return x * math.huge end,
                          exponential_ = function(C, r) return (ops.mul(C, r, r, math.huge)) end} do
   local draw = ops[name]
   ops[name] = function(C, ...)
      local args, n = {...}, select('#', ...)
      if args[n] ~= 0 then return draw(C, ...) end
      args[n] = 1
      return scaled(C, draw(C, unpack(args, 1, n)))
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
   local s = getfenv(p)
   if s.n == 0 then argerror(2, 'dimension 1 out of range of 0D tensor') end
   -- Torch7 makes a vector a matrix while it draws: numbers lie one after the other from then on.
   local is_vector, K = s.n == 1, s.sz[1]
   if is_vector then t7.resize(s, 2, {1, K}) end
   for _ = 3, s.n do s = getfenv(t7.selected(s, 3, 0)) end
   if is_vector then t7.resize(s, 1, {K}) end
   return put(class_of_kind(C, 'Long'), r, call(k.multinomial, generator(g), kernel_tensor(s), n, replacement))
end
function ops.multinomialAliasSetup(C, p, J, q)
   local j, w = call(k.multinomialAliasSetup, kernel_tensor(getfenv(p)))
   return put(class_of_kind(C, 'Long'), J, j), put(C, q, w)
end
function ops.multinomialAlias(C, r, g, J, q)
   call(k.multinomialAlias, kernel_tensor(getfenv(r)), generator(g), kernel_tensor(getfenv(J)), kernel_tensor(getfenv(q)))
   -- Torch7 counts from 0 inside, and forgets to go back.
   ops.subs(class_of_kind(C, 'Long'), J, J, 1)
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
for _, name in ipairs{'seed', 'initialSeed'} do
   with_generator(name, function(g, ...)
      if select('#', ...) > 0 then wrong('[Generator]', ...) end
      return call(k[name], generator(g))
   end)
end
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
