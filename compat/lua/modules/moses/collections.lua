-- What goes over the entries of any table, in the order of pairs.
local function truth(_, value) return value end

return function(moses)
   local function each_value(t, f)
      for _, value in pairs(t) do f(value) end
   end

   function moses.each(t, f, ...)
      for key, value in pairs(t) do f(key, value, ...) end
   end

   -- Whole numbers as keys only, the smallest first.
   function moses.eachi(t, f, ...)
      local places = {}
      for key in pairs(t) do
         if moses.isInteger(key) then places[#places + 1] = key end
      end
      table.sort(places)
      for _, i in ipairs(places) do f(i, t[i], ...) end
   end

   function moses.at(t, ...)
      local found = {}
      for _, key in ipairs{...} do
         if t[key] ~= nil then found[#found + 1] = t[key] end
      end
      return found
   end

   function moses.count(t, value)
      return moses.countf(t, function(_, entry) return value == nil or moses.isEqual(entry, value) end)
   end

   function moses.countf(t, f, ...)
      local count = 0
      for key, value in pairs(t) do
         if f(key, value, ...) then count = count + 1 end
      end
      return count
   end

   function moses.cycle(t, n)
      n = n or 1
      if n <= 0 then return moses.noop end
      local key, round = nil, 1
      return function()
         local value
         key, value = next(t, key)
         if key == nil and round < n then
            round = round + 1
            key, value = next(t)
         end
         return key, value
      end
   end

   -- A callback may return (key, value) instead of a value.
   function moses.map(t, f, ...)
      local found = {}
      for key, value in pairs(t) do
         local first, second = f(key, value, ...)
         if second then found[first] = second else found[key] = first end
      end
      return found
   end

   -- Each state from left to right goes to `f(state, value)`; the first value is the first state if there is none.
   local function fold(t, f, state, each)
      for _, value in pairs(t) do
         if state == nil then state = value else state = f(state, value) end
         if each then each(state) end
      end
      return state
   end
   local function states(t, f, state)
      local found = {}
      fold(t, f, state, function(new) found[#found + 1] = new end)
      return found
   end
   function moses.reduce(t, f, state) return fold(t, f, state) end
   function moses.reduceby(t, f, state, wanted, ...) return fold(moses.select(t, wanted, ...), f, state) end
   function moses.reduceRight(t, f, state) return fold(moses.reverse(t), f, state) end
   function moses.mapReduce(t, f, state) return states(t, f, state) end
   function moses.mapReduceRight(t, f, state) return states(moses.reverse(t), f, state) end

   -- `value` may be a function that tells whether an entry is meant. Tables with the same entries are equal.
   function moses.detect(t, value)
      local meant = moses.isFunction(value) and value or function(entry) return moses.isEqual(entry, value) end
      for key, entry in pairs(t) do
         if meant(entry) then return key end
      end
   end
   function moses.include(t, value) return moses.detect(t, value) ~= nil end

   local function has_all(entry, properties)
      for key, value in pairs(properties) do
         if entry[key] ~= value then return false end
      end
      return true
   end
   function moses.where(t, properties)
      local found = moses.select(t, function(_, entry) return has_all(entry, properties) end)
      return #found > 0 and found or nil
   end
   function moses.findWhere(t, properties)
      local key = moses.detect(t, function(entry) return has_all(entry, properties) end)
      return key and t[key]
   end

   -- Lists of the values that are kept, in the order of pairs.
   function moses.select(t, f, ...)
      local found = {}
      for key, value in pairs(t) do
         if f(key, value, ...) then found[#found + 1] = value end
      end
      return found
   end
   function moses.reject(t, f, ...)
      local extra = {...}
      return moses.select(t, function(key, value) return not f(key, value, unpack(extra)) end)
   end
   function moses.all(t, f, ...) return moses.countf(t, f, ...) == moses.size(t) end

   -- A method by name where a value has it, else a function of the value.
   function moses.invoke(t, method, ...)
      local extra = {...}
      return moses.map(t, function(_, value)
         local own = moses.isTable(value) and moses.has(value, method) and value[method]
         if own and not moses.isCallable(own) then return own end
         local f = own or moses.isCallable(method) and method
         if f then return f(value, unpack(extra)) end
      end)
   end
   function moses.pluck(t, key)
      return moses.select(moses.map(t, function(_, value) return value[key] end), truth)
   end

   local function best(t, better, transform, ...)
      transform = transform or moses.identity
      local found
      for _, value in pairs(t) do
         local score = transform(value, ...)
         if found == nil or better(score, found) then found = score end
      end
      return found
   end
   function moses.max(t, transform, ...) return best(t, function(a, b) return a > b end, transform, ...) end
   function moses.min(t, transform, ...) return best(t, function(a, b) return a < b end, transform, ...) end

   -- Each entry in turn goes to a place drawn among those up to its own.
   function moses.shuffle(t, seed)
      if seed then math.randomseed(seed) end
      local found = {}
      for i, value in pairs(t) do
         local place = math.floor(math.random() * i) + 1
         found[i] = found[place]
         found[place] = value
      end
      return found
   end

   function moses.same(a, b)
      local function in_other(other) return function(_, value) return moses.include(other, value) end end
      return moses.all(a, in_other(b)) and moses.all(b, in_other(a))
   end

   function moses.sort(t, compare)
      table.sort(t, compare)
      return t
   end
   function moses.sortBy(t, transform, compare)
      local key_of = moses.isString(transform) and moses.property(transform) or transform or moses.identity
      compare = compare or function(a, b) return a < b end
      local entries, found = {}, {}
      each_value(t, function(value) entries[#entries + 1] = {key_of(value), value} end)
      table.sort(entries, function(a, b) return compare(a[1], b[1]) end)
      for i, entry in ipairs(entries) do found[i] = entry[2] end
      return found
   end

   function moses.groupBy(t, f, ...)
      local groups = {}
      for key, value in pairs(t) do
         local group = f(key, value, ...)
         groups[group] = groups[group] or {}
         table.insert(groups[group], value)
      end
      return groups
   end
   function moses.countBy(t, f, ...)
      return moses.map(moses.groupBy(t, f, ...), function(_, group) return #group end)
   end

   -- How many entries a table has, or how many arguments there are.
   function moses.size(...)
      local t = ...
      local count = 0
      for _ in pairs(moses.isTable(t) and t or {...}) do count = count + 1 end
      return count
   end

   function moses.containsKeys(t, other)
      for key in pairs(other) do
         if not t[key] then return false end
      end
      return true
   end
   function moses.sameKeys(a, b) return moses.containsKeys(a, b) and moses.containsKeys(b, a) end
end
