-- Functions that make functions.
return function(moses)
   function moses.noop() end
   function moses.identity(value) return value end
   function moses.constant(value) return function() return value end end

   function moses.once(f)
      local called, results = false, nil
      return function(...)
         if not called then called, results = true, {f(...)} end
         return unpack(results)
      end
   end
   function moses.memoize(f, hash)
      local known = setmetatable({}, {__mode = 'kv'})
      hash = hash or moses.identity
      return function(...)
         local key = hash(...)
         if known[key] == nil then known[key] = f(...) end
         return known[key]
      end
   end
   function moses.after(f, count)
      local calls = 0
      return function(...)
         calls = calls + 1
         if calls >= count then return f(...) end
      end
   end

   -- The last function first, each with what the one after it gives.
   function moses.compose(...)
      local functions = moses.reverse{...}
      return function(...)
         local results = {...}
         for _, f in ipairs(functions) do results = {f(unpack(results))} end
         return unpack(results)
      end
   end
   function moses.pipe(value, ...) return moses.compose(...)(value) end
   function moses.complement(f) return function(...) return not f(...) end end
   function moses.juxtapose(value, ...)
      return unpack(moses.over(...)(value))
   end
   function moses.wrap(f, wrapper) return function(...) return wrapper(f, ...) end end
   function moses.times(n, f, ...)
      local found = {}
      for i = 1, n do found[i] = f(i, ...) end
      return found
   end

   function moses.bind(f, value) return moses.bindn(f, value) end
   function moses.bind2(f, value) return function(first, ...) return f(first, value, ...) end end
   function moses.bindn(f, ...)
      local bound = {...}
      return function(...) return f(unpack(moses.append(bound, {...}))) end
   end
   function moses.bindAll(object, ...)
      for _, name in ipairs{...} do
         if object[name] then object[name] = moses.bind(object[name], object) end
      end
      return object
   end

   local count = -1
   function moses.uniqueId(template)
      count = count + 1
      if moses.isString(template) then return template:format(count) end
      if moses.isFunction(template) then return template(count) end
      return count
   end
   function moses.iterator(f, value)
      return function()
         value = f(value)
         return value
      end
   end
   function moses.flip(f) return function(...) return f(unpack(moses.reverse{...})) end end

   function moses.over(...)
      local functions = {...}
      return function(...)
         local found = {}
         for i, f in ipairs(functions) do found[i] = f(...) end
         return found
      end
   end
   function moses.overEvery(...)
      local every = moses.over(...)
      return function(...)
         local passed = true
         for _, value in ipairs(every(...)) do passed = passed and value end
         return passed
      end
   end
   function moses.overSome(...)
      local every = moses.over(...)
      return function(...)
         local passed = false
         for _, value in ipairs(every(...)) do passed = passed or value end
         return passed
      end
   end
   function moses.overArgs(f, ...)
      local transforms = {...}
      return function(...)
         local args = {...}
         for i, transform in ipairs(transforms) do
            if i <= #args then args[i] = transform(args[i]) end
         end
         return f(unpack(args))
      end
   end

   -- Arguments for the places "_", and those that are left.
   local function filled(bound, args)
      local all, used = {}, 0
      for i, value in ipairs(bound) do
         if value == '_' then
            used = used + 1
            value = args[used]
         end
         all[i] = value
      end
      return all, moses.slice(args, used + 1)
   end
   function moses.partial(f, ...)
      local bound = {...}
      return function(...)
         local all, left = filled(bound, {...})
         return f(unpack(moses.append(all, left)))
      end
   end
   function moses.partialRight(f, ...)
      local bound = {...}
      return function(...)
         local all, left = filled(bound, {...})
         return f(unpack(moses.append(left, all)))
      end
   end
   function moses.curry(f, n)
      n = n or 2
      local function taking(args)
         return function(value)
            local all = moses.append(args, {value})
            if #all >= n then return f(unpack(all)) end
            return taking(all)
         end
      end
      return taking{}
   end
end
