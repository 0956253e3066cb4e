-- Functions of Lua applied to every element, and the addresses of elements.
local t7 = ...
local torch = t7.torch
local getfenv = debug.getfenv

local function check(condition, fn, n, message, level)
   if not condition then
      error('bad argument #' .. n .. " to '" .. fn .. "' (" .. message .. ')', (level or 2) + 1)
   end
end
-- As the FFI refuses what is no number.
local function number(C, value)
   if type(value) ~= 'number' then error("cannot convert '" .. type(value) .. "' to '" .. C.real .. "'", 2) end
   return value
end
local function check_type(expected, actual, fn, n)
   check(expected == actual, fn, n, expected .. ' expected, got ' .. actual, 4)
end

function t7.element_functions(C)
   if C.kind == 'Half' then return end
   local mt, get, set = C.mt, C.get, C.set
   local is_contiguous, numel, each = t7.is_contiguous, t7.numel, t7.each
   local function put(rec, i, value)
      if value == nil then return end
      if not tonumber(value) then error('given function should return a number or nil', 0) end
      set(rec, i, tonumber(value))
   end

   rawset(mt, 'apply', function(self, func)
      if self:isContiguous() then
         local s = getfenv(self)
         local rec, off = s.rec, s.off
         for i = 0, numel(s) - 1 do
            local result = func(get(rec, off + i))
            if result then set(rec, off + i, number(C, result)) end
         end
         return self
      end
      local s = getfenv(self)
      each(function(i) put(s.rec, i, func(get(s.rec, i))) end, s)
      return self
   end)

   rawset(mt, 'map', function(self, src, func)
      check(torch.isTensor(src), 'map', 1, 'tensor expected')
      check_type(self:type(), src:type(), 'map', 1)
      local s, o = getfenv(self), getfenv(src)
      assert(src:nElement() == self:nElement(), 'size mismatch')
      each(function(i, j)
         local result = func(get(s.rec, i), get(o.rec, j))
         if result then set(s.rec, i, number(C, result)) end
      end, s, o)
      return self
   end)

   rawset(mt, 'map2', function(self, src1, src2, func)
      check(torch.isTensor(src1), 'map', 1, 'tensor expected')
      check(torch.isTensor(src2), 'map', 2, 'tensor expected')
      check_type(self:type(), src1:type(), 'map', 1)
      check_type(self:type(), src2:type(), 'map', 2)
      assert(src1:nElement() == self:nElement(), 'size mismatch')
      assert(src2:nElement() == self:nElement(), 'size mismatch')
      local s, o, p = getfenv(self), getfenv(src1), getfenv(src2)
      each(function(i, j, l)
         local result = func(get(s.rec, i), get(o.rec, j), get(p.rec, l))
         if result then set(s.rec, i, number(C, result)) end
      end, s, o, p)
      return self
   end)
end

if t7.ffi then
   function torch.data(self, asnumber)
      if not self then return nil end
      local data = self:data()
      return asnumber and t7.ffi.cast('intptr_t', data) or data
   end
   function torch.cdata(self, asnumber)
      if not self then return nil end
      return self:cdata()
   end
end
