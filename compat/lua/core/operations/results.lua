-- Where the results of operations go: into a tensor that is given, or a new one.
local t7 = ...
local call, fail = t7.call, t7.error
local k, ops = t7.python.kernels, t7.ops
local getfenv, unpack = debug.getfenv, unpack
local kernel_tensor, same_size, copy_list = t7.kernel_tensor, t7.same_size, t7.copy_list
local alloc, resize, record_of = t7.alloc, t7.resize, t7.record_of

-- Torch7 resizes a result before it looks at the operands, one of which it may be.
function t7.make_room(r, s)
   if r then
      local o = getfenv(r)
      if o ~= s and not same_size(o, s) then resize(o, s.n, s.sz) end
   end
end

-- The result of an operation on each element of a state.
function t7.like(C, r, s)
   if r == nil then
      local u = alloc(C, s.n, copy_list(s.sz, s.n))
      return u, getfenv(u)
   end
   t7.make_room(r, s)
   return r, getfenv(r)
end

-- A result of these sizes, its numbers not set.
function t7.sized(C, r, sz, n)
   if r == nil then return C.new(unpack(sz, 1, n)) end
   resize(getfenv(r), n, sz)
   return r
end

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
t7.adopt = adopt
local fresh = k.fresh
function t7.put(C, r, tensor) return adopt(C, r, call(fresh, tensor)) end
local put = t7.put

-- Gives a result the shape of a new torch.Tensor; whether it had another.
local function reshape_as(r, _, _, _, dims, ...)
   local s, sz = getfenv(r), {...}
   local same = s.n == dims
   for d = 1, dims do same = same and s.sz[d] == sz[d] end
   if not same then resize(s, dims, sz) end
   return not same
end

-- What a kernel gives for arguments as they come, tensors among them.
local function computed(f, ...)
   local args, n = {...}, select('#', ...)
   for i = 1, n do
      local s = t7.state(args[i])
      if s then args[i] = kernel_tensor(s) end
   end
   return call(f, unpack(args, 1, n))
end
t7.computed = computed

local function is_among(r, ...)
   for i = 1, r and select('#', ...) or 0 do if (select(i, ...)) == r then return true end end
   return false
end
-- The same for results that are given, one of which may be an operand: the operand has the result's shape by then.
local function computed_into(f, first, second, ...)
   local values, places = computed(f, ...)
   if is_among(first, ...) and reshape_as(first, call(fresh, values)) or
      is_among(second, ...) and reshape_as(second, call(fresh, places)) then
      return computed(f, ...)
   end
   return values, places
end

-- Operations of one new tensor.
function t7.made(name)
   local f = k[name]
   ops[name] = function(C, r, ...) return put(C, r, (computed_into(f, r, nil, ...))) end
end
-- Operations that give values and their places.
function t7.paired(name)
   local f = k[name]
   ops[name] = function(C, r, indices, ...)
      local values, places = computed_into(f, r, indices, ...)
      return put(C, r, values), put(t7.class_of_kind(C, 'Long'), indices, places)
   end
end

-- Sizes as errors tell them.
function t7.sizes(s) return '[' .. table.concat(copy_list(s.sz, s.n), ' x ') .. ']' end

-- Sizes must agree in every dimension but one.
function t7.same_but(...)
   local args = {...}
   local d = args[#args]
   local states, words = {}, {}
   for i = 1, #args - 1, 2 do
      states[#states + 1] = args[i + 1]
      words[#words + 1] = args[i] .. ' ' .. t7.sizes(args[i + 1])
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
