-- What + - * / % and unary minus do with tensors.
local t7 = ...
local fail, argerror = t7.error, t7.argerror
local ops = t7.ops
local getfenv, getmetatable = debug.getfenv, getmetatable
local alloc, copy_list = t7.alloc, t7.copy_list

function t7.operators(C)
   local mt, name = C.mt, C.name
   local function number(v, n)
      if type(v) == 'number' then return v end
      return type(v) == 'string' and tonumber(v) or t7.luatypeerror(n, 'number', 2, v)
   end
   local cast = C.cast
   local function pair(a, b)
      return getmetatable(a) == mt, getmetatable(b) == mt
   end
   local function none() fail('expecting two ' .. name .. 's or one ' .. name .. ' and one number') end
   function mt.__add__(a, b)
      local x, y = pair(a, b)
      if x and y then return (ops.cadd(C, nil, a, 1, b)) end
      if x then return (ops.adds(C, nil, a, cast(number(b, 2)))) end
      if y then return (ops.adds(C, nil, b, cast(number(a, 1)))) end
      none()
   end
   function mt.__sub__(a, b)
      local x, y = pair(a, b)
      if x and y then return (ops.csub(C, nil, a, 1, b)) end
      if x then return (ops.subs(C, nil, a, cast(number(b, 2)))) end
      if y then
         local v = cast(number(a, 1))
         local r = alloc(C, getfenv(b).n, copy_list(getfenv(b).sz, getfenv(b).n))
         ops.fill(C, r, v)
         return (ops.csub(C, r, r, 1, b))
      end
      none()
   end
   function mt.__mul__(a, b)
      local x, y = pair(a, b)
      if x and y then
         local n, m = getfenv(a).n, getfenv(b).n
         if n == 1 and m == 1 then return (ops.dot(C, a, b)) end
         if n == 2 and m == 1 then return (ops.mv(C, nil, a, b)) end
         if n == 2 and m == 2 then return (ops.mm(C, nil, a, b)) end
         fail('multiplication between ' .. n .. 'D and ' .. m .. 'D tensors not yet supported')
      end
      if x then return (ops.mul(C, nil, a, cast(number(b, 2)))) end
      if y then return (ops.mul(C, nil, b, cast(number(a, 1)))) end
      none()
   end
   local function left(a)
      if getmetatable(a) ~= mt then t7.typerror(1, name, a) end
   end
   function mt.__div__(a, b)
      left(a)
      if not tonumber(b) then argerror(2, 'number expected') end
      return (ops.div(C, nil, a, cast(tonumber(b))))
   end
   function mt.__mod__(a, b)
      left(a)
      if not tonumber(b) then argerror(2, 'number expected') end
      return (ops.remainder(C, nil, a, cast(tonumber(b))))
   end
   function mt.__unm__(a)
      left(a)
      return (ops.mul(C, nil, a, -1))
   end
   if C.kind == 'Half' then
      mt.__add__, mt.__sub__, mt.__mul__, mt.__div__, mt.__mod__, mt.__unm__ = nil
   end
   for _, f in pairs{mt.__add__, mt.__sub__, mt.__mul__, mt.__div__, mt.__mod__, mt.__unm__} do
      t7.placeless[f] = true
   end
end
