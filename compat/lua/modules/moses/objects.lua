-- What tables and values are.
return function(moses)
   local function is(kind) return function(x) return type(x) == kind end end
   moses.isTable, moses.isString, moses.isFunction = is 'table', is 'string', is 'function'
   moses.isNumber, moses.isBoolean, moses.isNil = is 'number', is 'boolean', is 'nil'

   function moses.isCallable(x)
      if moses.isFunction(x) then return true end
      local mt = moses.isTable(x) and getmetatable(x)
      return mt and mt.__call ~= nil or false
   end
   function moses.isArray(x)
      if not moses.isTable(x) then return false end
      for i = 1, moses.size(x) do
         if x[i] == nil then return false end
      end
      return true
   end
   function moses.isIterable(x) return (pcall(pairs, x)) end
   function moses.isEmpty(x)
      if moses.isNil(x) then return true end
      if moses.isString(x) then return x == '' end
      return not moses.isTable(x) or next(x) == nil
   end
   function moses.isNaN(x) return moses.isNumber(x) and x ~= x end
   function moses.isFinite(x) return moses.isNumber(x) and x > -math.huge and x < math.huge end
   function moses.isInteger(x) return moses.isNumber(x) and math.floor(x) == x end

   -- Two tables with the same `__eq` are compared by it if that is asked for.
   function moses.isEqual(a, b, use_mt)
      if type(a) ~= type(b) then return false end
      if not moses.isTable(a) then return a == b end
      local mt_a, mt_b = getmetatable(a), getmetatable(b)
      if use_mt and (mt_a or mt_b) and ((mt_a or {}).__eq or (mt_b or {}).__eq) then
         local equal = (mt_a or {}).__eq or (mt_b or {}).__eq
         return equal(a, b)
      end
      if moses.size(a) ~= moses.size(b) then return false end
      for key, value in pairs(a) do
         if b[key] == nil or not moses.isEqual(value, b[key], use_mt) then return false end
      end
      return true
   end

   function moses.keys(x)
      local found = {}
      for key in pairs(x) do found[#found + 1] = key end
      return found
   end
   function moses.values(x)
      local found = {}
      for _, value in pairs(x) do found[#found + 1] = value end
      return found
   end
   function moses.kvpairs(x)
      local found = {}
      for key, value in pairs(x) do found[#found + 1] = {key, value} end
      return found
   end
   function moses.toObj(kvpairs)
      local found = {}
      for _, entry in ipairs(kvpairs) do found[entry[1]] = entry[2] end
      return found
   end

   function moses.property(key) return function(x) return x[key] end end
   function moses.propertyOf(x) return function(key) return x[key] end end
   function moses.toBoolean(value) return not not value end

   function moses.extend(target, ...)
      for _, source in ipairs{...} do
         if moses.isTable(source) then
            for key, value in pairs(source) do target[key] = value end
         end
      end
      return target
   end
   -- The names of the functions in a table, and of those that it inherits.
   function moses.functions(x, inherited)
      x = x or moses
      local found = {}
      for key, value in pairs(x) do
         if moses.isFunction(value) then found[#found + 1] = key end
      end
      local mt = inherited and getmetatable(x)
      if mt and mt.__index then moses.push(found, unpack(moses.functions(mt.__index))) end
      return found
   end

   function moses.clone(x, shallow)
      if not moses.isTable(x) then return x end
      local copy = {}
      for key, value in pairs(x) do
         copy[key] = shallow and value or moses.clone(value)
      end
      return copy
   end
   function moses.tap(x, f, ...)
      f(x, ...)
      return x
   end
   function moses.has(x, key) return x[key] ~= nil end

   function moses.pick(x, ...)
      local found = {}
      for _, key in ipairs(moses.flatten{...}) do found[key] = x[key] end
      return found
   end
   function moses.omit(x, ...)
      local found, left_out = {}, moses.invert(moses.flatten{...})
      for key, value in pairs(x) do
         if not left_out[key] then found[key] = value end
      end
      return found
   end
   function moses.template(x, template)
      for key, value in pairs(template or {}) do
         if x[key] == nil then x[key] = value end
      end
      return x
   end
   function moses.result(x, method, ...)
      local own = x[method]
      if own ~= nil then return moses.isCallable(own) and own(x, ...) or own end
      if moses.isCallable(method) then return method(x, ...) end
   end
end
