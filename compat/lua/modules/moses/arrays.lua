-- What goes over lists.
return function(moses)
   local function matcher(f, ...)
      local extra = {...}
      return function(i, value) return f(i, value, unpack(extra)) end
   end
   local function first_place(list, wanted, from, to, step)
      for i = from or 1, to or #list, step or 1 do
         if wanted(i, list[i]) then return i end
      end
   end
   local function is(value) return function(_, entry) return entry == value end end

   function moses.sample(list, n, seed)
      n = n or 1
      if n < 1 then return end
      if n > 1 then return moses.slice(moses.shuffle(list, seed), 1, n) end
      if seed then math.randomseed(seed) end
      return list[math.random(1, #list)]
   end
   function moses.sampleProb(list, probability, seed)
      if seed then math.randomseed(seed) end
      return moses.select(list, function() return math.random() < probability end)
   end

   function moses.toArray(...) return {...} end
   function moses.find(list, value, from)
      return first_place(list, function(_, entry) return moses.isEqual(entry, value) end, from)
   end
   function moses.indexOf(list, value) return first_place(list, is(value)) end
   function moses.lastIndexOf(list, value) return first_place(list, is(value), #list, 1, -1) end
   function moses.findIndex(list, f, ...) return first_place(list, matcher(f, ...)) end
   function moses.findLastIndex(list, f, ...) return first_place(list, matcher(f, ...), #list, 1, -1) end

   function moses.reverse(list)
      local found = {}
      for i = #list, 1, -1 do found[#found + 1] = list[i] end
      return found
   end
   function moses.fill(list, value, i, j)
      for place = i or 1, j or moses.size(list) do list[place] = value end
      return list
   end

   -- How many entries at the start pass a test.
   local function run_length(list, f, ...)
      local count = 0
      for i, value in ipairs(list) do
         if not f(i, value, ...) then break end
         count = i
      end
      return count
   end
   function moses.selectWhile(list, f, ...) return moses.slice(list, 1, run_length(list, f, ...)) end
   function moses.dropWhile(list, f, ...) return moses.slice(list, run_length(list, f, ...) + 1) end

   function moses.sortedIndex(list, value, compare, sort)
      compare = compare or function(a, b) return a < b end
      if sort then table.sort(list, compare) end
      return first_place(list, function(_, entry) return not compare(entry, value) end) or #list + 1
   end

   function moses.addTop(list, ...)
      for _, value in ipairs{...} do table.insert(list, 1, value) end
      return list
   end
   function moses.push(list, ...)
      for _, value in ipairs{...} do list[#list + 1] = value end
      return list
   end
   -- The entries that are taken away.
   function moses.pop(list, n)
      local found = {}
      for i = 1, math.min(n or 1, #list) do found[i] = table.remove(list, 1) end
      return unpack(found)
   end
   function moses.unshift(list, n)
      local found = {}
      for i = 1, math.min(n or 1, #list) do found[i] = table.remove(list) end
      return unpack(found)
   end

   function moses.pull(list, ...)
      local values = {...}
      for i = #list, 1, -1 do
         if moses.include(values, list[i]) then table.remove(list, i) end
      end
      return list
   end
   function moses.removeRange(list, first, last)
      first, last = math.max(first or 1, 1), math.min(last or #list, #list)
      if first > last or moses.isEmpty(list) then return moses.clone(list) end
      for _ = first, last do table.remove(list, first) end
      return list
   end

   -- Neighbours for which `f` gives the same are one list.
   function moses.chunk(list, f, ...)
      if not moses.isArray(list) then return list end
      local chunks, before = {}, nil
      for i, value in ipairs(list) do
         local key = f(i, value, ...)
         if i == 1 or key ~= before then chunks[#chunks + 1] = {} end
         before = key
         table.insert(chunks[#chunks], value)
      end
      return chunks
   end

   function moses.slice(list, first, last)
      local found = {}
      for i = math.max(first or 1, 1), math.min(last or #list, #list) do found[#found + 1] = list[i] end
      return found
   end
   function moses.first(list, count) return moses.slice(list, 1, count or 1) end
   function moses.initial(list, count)
      if count and count < 0 then return end
      return moses.slice(list, 1, count and #list - math.min(count, #list) or #list - 1)
   end
   -- The last `count` entries; without it, all but the first.
   function moses.last(list, count)
      if count and count <= 0 then return end
      return moses.slice(list, count and #list - count + 1 or 2)
   end
   function moses.rest(list, from)
      if from and from > #list then return {} end
      return moses.slice(list, math.max(from or 1, 1))
   end
   function moses.nth(list, i) return list[i] end
   function moses.compact(list) return moses.select(list, function(_, value) return value end) end

   function moses.flatten(list, shallow)
      local found = {}
      for _, value in pairs(list) do
         if not moses.isTable(value) then found[#found + 1] = value
         else
            for _, inner in pairs(shallow and value or moses.flatten(value)) do found[#found + 1] = inner end
         end
      end
      return found
   end

   function moses.difference(list, other)
      if not other then return moses.clone(list) end
      return moses.select(list, function(_, value) return not moses.include(other, value) end)
   end
   function moses.union(...) return moses.unique(moses.flatten{...}) end
   function moses.intersection(list, ...)
      local others = {...}
      return moses.select(moses.unique(list), function(_, value)
         return moses.all(others, function(_, other) return moses.include(other, value) end)
      end)
   end
   function moses.symmetricDifference(list, other)
      return moses.append(moses.difference(list, other), moses.difference(other, list))
   end
   function moses.unique(list)
      local found = {}
      for _, value in ipairs(list) do
         if not moses.find(found, value) then found[#found + 1] = value end
      end
      return found
   end
   function moses.isunique(list) return moses.isEqual(list, moses.unique(list)) end

   function moses.zip(...)
      local lists, found, most = {...}, {}, 0
      for _, list in ipairs(lists) do most = math.max(most, #list) end
      for i = 1, most do found[i] = moses.pluck(lists, i) end
      return found
   end
   function moses.append(list, other)
      return moses.push(moses.slice(list), unpack(other))
   end
   function moses.interleave(...) return moses.flatten(moses.zip(...)) end
   function moses.interpose(value, list)
      local found = {}
      for i, entry in ipairs(list) do
         if i > 1 then found[#found + 1] = value end
         found[#found + 1] = entry
      end
      return found
   end

   function moses.range(...)
      local first, last, step = ...
      local n = select('#', ...)
      if n == 0 then return {} end
      if n == 1 then first, last, step = 0, first, 1 end
      step = step or 1
      if step == 0 or (last - first) / step < 0 then return {} end
      local found = {first}
      for i = 1, math.floor((last - first) / step) do found[i + 1] = first + step * i end
      return found
   end
   function moses.rep(value, n)
      local found = {}
      for i = 1, n do found[i] = value end
      return found
   end

   -- Iterators over parts of n entries, that begin `step` entries apart.
   local function parts(list, n, step, pad, stop)
      if n <= 0 then return function() end end
      return coroutine.wrap(function()
         for i = 1, stop, step do
            local part = moses.slice(list, i, i + n - 1)
            if pad ~= nil then
               for j = #part + 1, n do part[j] = pad end
            end
            coroutine.yield(part)
         end
      end)
   end
   function moses.partition(list, n, pad) return parts(list, n or 1, n or 1, pad, #list) end
   function moses.sliding(list, n, pad)
      n = n or 2
      return parts(list, n, math.max(n - 1, 1), pad, math.max(#list - 1, 1))
   end

   local function permute(list, n)
      if n == 0 then coroutine.yield(moses.slice(list)) end
      for i = 1, n do
         list[n], list[i] = list[i], list[n]
         permute(list, n - 1)
         list[n], list[i] = list[i], list[n]
      end
   end
   function moses.permutation(list)
      local own = moses.slice(list)
      return coroutine.wrap(function() permute(own, #own) end)
   end

   function moses.invert(list)
      local found = {}
      for i, value in pairs(list) do found[value] = i end
      return found
   end
   function moses.concat(list, separator, i, j)
      local texts = moses.map(list, function(_, value) return tostring(value) end)
      return table.concat(texts, separator, i or 1, j or #list)
   end
end
