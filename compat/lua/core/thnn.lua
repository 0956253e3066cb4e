-- THNN, the C library under nn: for each type of tensor a table of its functions, which take tensors or their cdata.
-- What they take is in kernels/thnn/signatures.py.
local t7 = ...
local torch, python, call = t7.torch, t7.python, t7.call
local getfenv, type, unpack, select = debug.getfenv, type, unpack, select
local kernel_tensor, numel, copy_list = t7.kernel_tensor, t7.numel, t7.copy_list
local resize, set_geometry, put = t7.resize, t7.set_geometry, t7.put

local signatures = {}
local function signature(name)
   local known = signatures[name]
   if known then return known end
   local function read(kernel, ...)
      local s = {kernel = kernel, n = select('#', ...) / 5}
      for i = 1, s.n do
         local argument, kind, like, class, optional = select(5 * i - 4, ...)
         s[i] = {name = argument, kind = kind, like = like > 0 and like, class = class ~= '' and class,
                 optional = optional}
         if kind == 'inplace' then s.inplace = i end
      end
      return s
   end
   signatures[name] = read(call(python.thnn_function, name))
   return signatures[name]
end

-- The tensor that an argument is, or nil for none.
local function tensor(a, value, i, C)
   local u = t7.tensor_of_cdata(value)
   if u == nil then
      if value ~= nil and not t7.is_null(value) then
         t7.argerror(i, "cannot convert '" .. torch.type(value) .. "' to '" .. C.name .. "'")
      elseif not a.optional then t7.argerror(i, a.name .. ' is a tensor that must be given') end
      return nil
   end
   local given = getfenv(u).C
   if given ~= C and (not a.class or given.cuda ~= C.cuda) then
      t7.argerror(i, "cannot convert '" .. given.name .. "' to '" .. C.name .. "'")
   end
   return u
end

-- Gives a result its size, or where the function works in place the memory of what it is computed from.
local function prepare(s, i, states, inplace)
   local like = s[i].like
   local source = states[like]
   if inplace then
      set_geometry(states[i], source.rec, source.off, source.n, copy_list(source.sz, source.n),
                   copy_list(source.st, source.n))
   else
      local size = states[s[like].like or like]
      resize(states[i], size.n, size.sz)
   end
end

-- A tensor in the shape of another, which has as many elements.
local function shaped(s, i, states)
   local state, other = states[i], states[s[i].like]
   local n, m = numel(other), numel(state)
   if n ~= m then
      local function text(name, o, count)
         return name .. '[' .. table.concat(copy_list(o.sz, o.n), ' x ') .. '] has ' .. count .. ' elements'
      end
      local first, second = s[s[i].like].name, s[i].name
      t7.error(first .. ' and ' .. second .. ' have different number of elements: ' .. text(first, other, n) ..
               ', while ' .. text(second, state, m))
   end
   return t7.operand(state, other)
end

local function finish(C, s, tensors, ...)
   local r = 0
   for i = 1, s.n do
      if s[i].kind == 'result' then
         r = r + 1
         local u = tensors[i]
         if u then put(getfenv(u).C, u, (select(r, ...))) end
      end
   end
end

local function bind(C, name)
   local s = signature(name)
   return function(...)
      local tensors, states = {}, {}
      for i = 1, s.n do
         local a = s[i]
         local kind = a.kind
         if kind == 'tensor' or kind == 'sized' or kind == 'result' then
            local u = tensor(a, (select(i, ...)), i, C)
            tensors[i], states[i] = u, u and getfenv(u)
         end
      end
      local inplace = s.inplace and select(s.inplace, ...)
      local args, n = {}, 0
      for i = 1, s.n do
         local kind = s[i].kind
         if kind == 'sized' then
            if states[i] then prepare(s, i, states, inplace) end
            n = n + 1
            args[n] = states[i] and kernel_tensor(states[i])
         elseif kind == 'tensor' then
            n = n + 1
            if states[i] then args[n] = s[i].like and shaped(s, i, states) or kernel_tensor(states[i]) end
         elseif kind == 'generator' then
            n = n + 1
            args[n] = t7.python_generator((select(i, ...)))
         end
      end
      for i = 1, s.n do
         if s[i].kind == 'number' then
            n = n + 1
            args[n] = (select(i, ...))
         end
      end
      finish(C, s, tensors, call(s.kernel, unpack(args, 1, n)))
      t7.release_cdata()
   end
end

local exists
function t7.is_thnn_function(name)
   if not exists then
      exists = {}
      for _, known in ipairs{call(python.thnn_names)} do exists[known] = true end
   end
   return exists[name]
end

-- The functions for one type, made when they are first used.
function t7.thnn(C)
   if not C.thnn then
      C.thnn = setmetatable({}, {__index = function(self, name)
         if not t7.is_thnn_function(name) then return nil end
         local f = bind(C, name)
         self[name] = f
         return f
      end})
   end
   return C.thnn
end
