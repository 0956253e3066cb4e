-- tds: hash maps and vectors outside of Lua's memory, which threads may share, and counters for all threads.
require 'torch'
local t7 = torch._t7
local call, getfenv = t7.call, debug.getfenv
local tables, locks = t7.raw_import('compat.lua.shared_tables'), t7.raw_import('compat.lua.workers')
local get, put, size, entry, kind = tables.get, tables.put, tables.size, tables.entry, tables.kind
local vec_get, vec_put = tables.vec_get, tables.vec_put
tds = {}

local hash_mt, make_hash, vec_mt, make_vec

-- Values on their way in and out.
local function inward(value)
   local what = type(value)
   if what == 'number' or what == 'string' or what == 'boolean' or value == nil then return value end
   local mt = debug.getmetatable(value)
   if mt == hash_mt or mt == vec_mt then return getfenv(value).py end
   if t7.tensor_classes[mt] then
      local rec = getfenv(value).rec
      if rec then rec.shared = true end
      return t7.export_tensor(value)
   elseif t7.storage_classes[mt] then
      getfenv(value).shared = true
      return call(tables.new_storage, t7.export_storage(value))
   end
   error('unsupported type <' .. (torch.typename(value) or what) .. '>', 3)
end
local function outward(value)
   if type(value) ~= 'userdata' then return value end
   local what = call(kind, value)
   if what == 'tensor' then return t7.import_tensor(value)
   elseif what == 'Storage' then return t7.import_tensor(call(tables.tensor_of, value)):storage()
   elseif what == 'Hash' then return make_hash{py = value}
   else return make_vec{py = value} end
end

local function is_list(t)
   for key in pairs(t) do if type(key) ~= 'number' then return false end end
   return true
end
local function fill(self, t)
   for key, value in pairs(t) do
      if type(value) == 'table' and not torch.typename(value) then
         value = is_list(value) and tds.Vec(value) or tds.Hash(value)
      end
      self[key] = value
   end
   return self
end

-- A text of at most 20 lines of values.
local function describe(name, n, iterate, label)
   local lines = {('%s[%d]{'):format(name, n)}
   local count = 0
   for key, value in iterate do
      local head = label(key)
      local text = tostring(value):gsub('\n', '\n' .. (' '):rep(#head))
      lines[#lines + 1] = head .. text
      count = count + 1
      if count == 20 then
         lines[#lines + 1] = '...'
         break
      end
   end
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end

-- Hash ----------------------------------------------------------------------------------------------------

local function new_hash(t)
   local self = make_hash{py = call(tables.new_hash)}
   if type(t) == 'table' then fill(self, t)
   elseif t ~= nil then error('lua table expected', 2) end
   return self
end
hash_mt, make_hash = t7.userdata_class('tds.Hash', nil, new_hash, function() return new_hash() end)
rawset(hash_mt, '__index', function(self, key)
   assert(key ~= nil, 'hash index is nil')
   return outward(call(get, getfenv(self).py, inward(key)))
end)
rawset(hash_mt, '__newindex', function(self, key, value)
   assert(key ~= nil, 'hash index is nil')
   call(put, getfenv(self).py, inward(key), inward(value))
end)
local function same(a, b) return getfenv(a).py == getfenv(b).py end
rawset(hash_mt, '__eq', same)
rawset(hash_mt, '__len', function(self) return call(size, getfenv(self).py) end)
local function each(self)
   local py = getfenv(self).py
   local names, i, n = call(tables.keys, py), 0, call(size, py)
   return function()
      local key, value
      repeat
         i = i + 1
         if i > n then return nil end
         key, value = call(entry, py, names, i)
      until value ~= nil
      return outward(key), outward(value)
   end
end
rawset(hash_mt, '__pairs', each)
local function label(key)
   local what = type(key)
   return (what == 'string' or what == 'number' or what == 'boolean') and tostring(key) or torch.type(key)
end
rawset(hash_mt, '__tostring', function(self)
   local width, count = 0, 0
   for key in each(self) do
      width, count = math.max(width, #label(key)), count + 1
      if count == 20 then break end
   end
   return describe('tds.Hash', #self, each(self), function(key)
      return label(key) .. (' '):rep(width - #label(key)) .. ' : '
   end)
end)
rawset(hash_mt, '__write', function(self, file)
   file:writeLong(#self)
   for key, value in each(self) do
      file:writeObject(key)
      file:writeObject(value)
   end
end)
rawset(hash_mt, '__read', function(self, file)
   for _ = 1, file:readLong() do
      local key = file:readObject()
      self[key] = file:readObject()
   end
end)

-- Vec -----------------------------------------------------------------------------------------------------

local methods = {}
local function new_vec(...)
   local self = make_vec{py = call(tables.new_vec)}
   local first = ...
   if select('#', ...) == 1 and type(first) == 'table' and not torch.typename(first) then
      assert(is_list(first), 'lua table with number keys expected')
      return fill(self, first)
   end
   return fill(self, {...})
end
vec_mt, make_vec = t7.userdata_class('tds.Vec', nil, new_vec, function() return new_vec() end)
rawset(vec_mt, '__index', function(self, key)
   if type(key) ~= 'number' then return methods[key] or error('invalid key (number) or method name') end
   assert(key > 0, 'positive number expected as key')
   return outward(call(vec_get, getfenv(self).py, key))
end)
rawset(vec_mt, '__newindex', function(self, key, value)
   assert(type(key) == 'number' and key > 0, 'positive number expected as key')
   call(vec_put, getfenv(self).py, key, inward(value))
end)
rawset(vec_mt, '__eq', same)
rawset(vec_mt, '__len', function(self) return call(size, getfenv(self).py) end)
local function in_order(self)
   local i = 0
   return function()
      i = i + 1
      if i <= #self then return i, self[i] end
   end
end
rawset(vec_mt, '__pairs', in_order)
rawset(vec_mt, '__ipairs', in_order)
rawset(vec_mt, '__tostring', function(self)
   return describe('tds.Vec', #self, in_order(self), function(i) return ('%5d : '):format(i) end)
end)
function methods:insert(...)
   local i, value = ...
   if select('#', ...) == 1 then i, value = #self + 1, i end
   assert(type(i) == 'number' and i > 0, 'positive number expected as key')
   call(tables.vec_insert, getfenv(self).py, i, inward(value))
end
function methods:remove(i)
   i = i or #self
   assert(type(i) == 'number' and i > 0, 'positive number expected as key')
   if i <= #self then call(tables.vec_remove, getfenv(self).py, i) end
end
function methods:resize(n)
   assert(type(n) == 'number' and n >= 0, 'size must be a positive number')
   call(tables.vec_resize, getfenv(self).py, n)
end
function methods:concat(separator, first, last)
   local parts = {}
   for i = first or 1, last or #self do parts[#parts + 1] = tostring(self[i]) end
   return table.concat(parts, separator)
end
function methods:concatstorage(...) return torch.CharStorage():string(self:concat(...)) end
-- As C's qsort does it, which merges halves: what is equal comes out the other way round, since
-- tds never tells it that two are equal.
local function sorted(values, compare)
   if #values < 2 then return values end
   local parts, found, i, j = {{}, {}}, {}, 1, 1
   for k, value in ipairs(values) do table.insert(parts[k <= math.floor(#values / 2) and 1 or 2], value) end
   local a, b = sorted(parts[1], compare), sorted(parts[2], compare)
   while i <= #a or j <= #b do
      if j > #b or i <= #a and compare(a[i], b[j]) then found[#found + 1], i = a[i], i + 1
      else found[#found + 1], j = b[j], j + 1 end
   end
   return found
end
function methods:sort(compare)
   assert(type(compare) == 'function', 'compare function must be a lua or C function')
   local values = {}
   for i = 1, #self do values[i] = self[i] end
   for i, value in ipairs(sorted(values, compare)) do self[i] = value end
end
rawset(vec_mt, '__write', function(self, file)
   file:writeLong(#self)
   for _, value in in_order(self) do file:writeObject(value) end
end)
rawset(vec_mt, '__read', function(self, file)
   for i = 1, file:readLong() do self[i] = file:readObject() end
end)

-- Counters ------------------------------------------------------------------------------------------------

local counter_methods, counter_mt, make_counter = {}, nil, nil
local function counter(number)
   number = call(locks.share, 'counter', number)
   return make_counter{number = number, user = call(locks.user, number)}
end
counter_mt, make_counter = t7.userdata_class('tds.AtomicCounter', nil, function() return counter() end, function() return counter() end)
rawset(counter_mt, '__index', function(_, name) return counter_methods[name] or error('no such method') end)
rawset(counter_mt, '__tostring', function(self) return 'tds.AtomicCounter=' .. self:get() end)
local function add(self, by) return call(locks.count, getfenv(self).number, by) end
function counter_methods:inc() return add(self, 1) - 1 end   -- what it was before
function counter_methods:get() return add(self, 0) end
function counter_methods:set(value) call(locks.set_count, getfenv(self).number, value) end
rawset(counter_mt, '__write', function(self, file) file:writeLong(self:get()) end)
rawset(counter_mt, '__read', function(self, file) self:set(file:readLong()) end)

-- How threads get the very object: `save(object)` gives what passes, `load` the object again.
t7.passed_by_reference = {
   [hash_mt] = {save = function(u) return getfenv(u).py end, load = function(py) return make_hash{py = py} end},
   [vec_mt] = {save = function(u) return getfenv(u).py end, load = function(py) return make_vec{py = py} end},
   [counter_mt] = {save = function(u) return getfenv(u).number end, load = counter},
}

tds.Hash, tds.Vec, tds.AtomicCounter = torch.getconstructortable('tds.Hash'), torch.getconstructortable('tds.Vec'),
   torch.getconstructortable('tds.AtomicCounter')
tds.hash, tds.vec, tds.atomic_counter = tds.Hash, tds.Vec, tds.AtomicCounter

-- Lua 5.1 knows no __pairs.
for name, event in pairs{pairs = '__pairs', ipairs = '__ipairs'} do
   local plain = _G[name]
   _G[name] = function(t)
      local mt = type(t) == 'userdata' and debug.getmetatable(t)
      local iterate = mt and rawget(mt, event)
      if iterate then return iterate(t) end
      return plain(t)
   end
end

return tds
