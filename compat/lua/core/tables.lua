-- Tables that Lua and Python share. A table that Python keeps, in a field of a module for one, is Python's list or dict
-- (compat/lua/tables.py), and the table of Lua its face: it has no content of its own, reads and writes go to Python.
--
-- A table that is an argument of a call is lent (compat/lua/calls.py): it keeps its content while Python alone runs. When Lua
-- goes on, it becomes a face if Python has kept it; otherwise it gets what changed. So a table has one owner whenever
-- somebody can look.
local t7 = ...
local python, call = t7.python, t7.call
local tables, calls = python.tables, python.calls
local invoke, invoke_with_tables = calls.invoke, calls.invoke_with_tables
local LIST, DICT, MIXED, SAME, FOREIGN = calls.LIST, calls.DICT, calls.MIXED, calls.SAME, calls.FOREIGN
local type, select, rawequal = type, select, rawequal
local next, pairs, rawget, rawset, unpack = next, pairs, rawget, rawset, unpack
local setmetatable, getmetatable, pcall = setmetatable, debug.getmetatable, pcall

local REC = {}                                   -- the key of its record in a face
local face_mt = {}                               -- the metatable of faces
local known = setmetatable({}, {__mode = 'v'})   -- face by the identity of Python's list or dict
-- Tables that are lent, in Python's order, and their numbers; those up to the floor are of calls that called Lua.
local lent, n_lent, numbers, floor = {}, 0, {}, 0

local function record(t)
   if getmetatable(t) == face_mt then return rawget(t, REC) end
end
-- A table with `__index` is the metatable of others: it keeps its content in Lua.
local function is_plain(v) return type(v) == 'table' and getmetatable(v) == nil and rawget(v, '__index') == nil end
function t7.is_table(v) return is_plain(v) or type(v) == 'table' and record(v) ~= nil end

-- Calling Python ------------------------------------------------------------------------------------------

local to_python, to_lua, to_lua_as
-- Ways to Python for objects of classes: `exporters[metatable] = function(object)`; see exchange.lua.
local exporters = {}
t7.exporters = exporters

-- Whether a value is no table that may have entries for Python: an object or a face stands for itself.
local function is_one(v)
   if type(v) ~= 'table' then return true end
   local mt = getmetatable(v)
   return mt ~= nil and (mt == face_mt or exporters[mt] ~= nil)
end

-- What # gives in Torch7's LuaJIT.
local function length_of(t)
   local mt = getmetatable(t)
   local len = mt and rawget(mt, '__len')
   if len then return len(t) end
   return #t
end
t7.length = length_of

local encode
-- A table with a metatable as an argument: what it has under 1…n goes along.
local function encode_foreign(out, m, v, around)
   local has_length, n = pcall(length_of, v)
   local table = to_python(v)
   if not has_length or n == 0 or around[v] then
      out[m + 1] = table
      return m + 1
   end
   around[v] = true
   out[m + 1], out[m + 2], out[m + 3] = FOREIGN, n, table
   m = m + 3
   for i = 1, n do m = encode(out, m, v[i], false, around) end
   around[v] = nil
   return m
end

-- Writes a value into `out` behind `m` others: what tables hold after marks. Returns how many there are then.
-- `around`, where it is an argument: the tables with metatables that it lies in.
function encode(out, m, v, as_dict, around)
   if not is_plain(v) then
      if around and not is_one(v) then return encode_foreign(out, m, v, around) end
      out[m + 1] = to_python(v)
      return m + 1
   end
   if numbers[v] then
      out[m + 1], out[m + 2] = SAME, numbers[v] - floor - 1
      return m + 2
   end
   n_lent = n_lent + 1
   lent[n_lent], numbers[v] = v, n_lent
   -- Where values are missing, # may be any of several numbers.
   local n, count = 0, 0
   while v[n + 1] ~= nil do n = n + 1 end
   for _ in next, v do count = count + 1 end
   if as_dict then n = 0 end
   if count == n and not as_dict then out[m + 1], out[m + 2] = LIST, n
   elseif n == 0 then out[m + 1], out[m + 2] = DICT, 2 * count
   else
      -- How many entries there are comes before them.
      out[m + 1], out[m + 2], out[m + 3] = MIXED, 1 + n + 2 * (count - n), n
      m = m + 1
   end
   m = m + 2
   for i = 1, n do m = encode(out, m, v[i], false, around) end
   if count == n then return m end
   for key, value in next, v do
      if not (type(key) == 'number' and key >= 1 and key <= n and key % 1 == 0) then
         m = encode(out, encode(out, m, key), value, false, around)
      end
   end
   return m
end

local function clear(t) for k in next, t do t[k] = nil end end

local function become_face(t, py, id)
   clear(t)
   rawset(t, REC, {py = py, id = id})
   known[id] = t
   return setmetatable(t, face_mt)
end

local function fill(t, keys, values, n)
   for i = 1, n do t[keys and to_lua(keys[i]) or i] = to_lua_as(values[3 * i - 2], values[3 * i - 1], values[3 * i]) end
   return t
end

-- Gives lent tables back as Python says in `changes`; `again`: the call goes on. Tables that Python keeps become faces
-- first, because what others have changed to may refer to them.
local function return_lent(changes, again)
   local i = 1
   while changes and changes[i] do
      if changes[i + 1] == 'kept' then become_face(lent[changes[i]], changes[i + 2], changes[i + 3]) end
      i = i + (changes[i + 1] == 'kept' and 4 or 5)
   end
   i = 1
   while changes and changes[i] do
      if changes[i + 1] == 'changed' then
         local t = lent[changes[i]]
         local rec = record(t)
         if rec then
            known[rec.id] = nil
            setmetatable(t, nil)
            rawset(t, REC, nil)
         end
         clear(t)
         fill(t, changes[i + 2], changes[i + 3], changes[i + 4])
      end
      i = i + (changes[i + 1] == 'kept' and 4 or 5)
   end
   for j = floor + 1, n_lent do
      numbers[lent[j]] = nil
      if not again then lent[j] = nil end
   end
   if not again then n_lent = floor end
end

-- Forgets the lent tables after a conversion failed: otherwise the next call would settle tables of this one.
local foreign = {} -- tables with metatables that are being given
local function forget()
   for t in next, foreign do foreign[t] = nil end
   for j = floor + 1, n_lent do numbers[lent[j]], lent[j] = nil, nil end
   n_lent = floor
end

-- After an error in Python.
function t7.return_lent()
   if n_lent > floor then return_lent(call(calls.return_lent)) end
end

local function results(...)
   local n = select('#', ...)
   if n <= 3 then return to_lua_as(...) end
   local values = {...}
   local found = {}
   for i = 1, n, 3 do found[(i + 2) / 3] = to_lua_as(values[i], values[i + 1], values[i + 2]) end
   return unpack(found, 1, n / 3)
end

local function receive(changes, ...)
   if n_lent > floor then return_lent(changes) end
   return results(...)
end

-- So many arguments a call can have: gives Python what comes before the last ones, and returns these.
local MOST = 4000
local function send_first(out, m)
   local from = 1
   while m - from >= MOST do
      call(calls.add, unpack(out, from, from + MOST - 1))
      from = from + MOST
   end
   return unpack(out, from, m)
end

local function send_with_tables(f, n, ...)
   if n_lent > floor then forget() end
   local out, m = {}, 0
   for i = 1, n do m = encode(out, m, (select(i, ...)), false, foreign) end
   return receive(call(invoke_with_tables, f, send_first(out, m)))
end

-- Calls a function of Python with `n` values of Lua.
function t7.send(f, n, ...)
   if n == 0 then return receive(call(invoke, f))
   elseif n == 1 then
      local a = ...
      if is_one(a) then return receive(call(invoke, f, to_python(a))) end
   elseif n == 2 then
      local a, b = ...
      if is_one(a) and is_one(b) then return receive(call(invoke, f, to_python(a), to_python(b))) end
   elseif n == 3 then
      local a, b, c = ...
      if is_one(a) and is_one(b) and is_one(c) then
         return receive(call(invoke, f, to_python(a), to_python(b), to_python(c)))
      end
   end
   return send_with_tables(f, n, ...)
end

-- Lua runs because Python calls it: what waits for its return waits below the floor.
function t7.enter(changes, is_called)
   if n_lent > floor then return_lent(changes, is_called) end
   local before = floor
   floor = n_lent
   return before
end
function t7.leave(before, has_answered)
   if not has_answered then forget() end
   floor = before
end
-- What Lua returns is lent to Python as arguments are.
function t7.encoded(...)
   local out, m = {}, 0
   for i = 1, select('#', ...) do m = encode(out, m, (select(i, ...))) end
   return send_first(out, m)
end

-- Faces ---------------------------------------------------------------------------------------------------

-- The face of a list or dict. `holder`: what in Python was seen to have it.
local function table_from_python(py, id, holder)
   local t = known[id]
   if not t then
      t = setmetatable({[REC] = {py = py, id = id, holder = holder}}, face_mt)
      known[id] = t
   end
   return t
end
t7.table_from_python = table_from_python

local function get(rec, k)
   if type(k) == 'table' then
      -- One that Python never got is no key of its.
      if is_plain(k) then return nil end
      k = to_python(k)
   elseif type(k) ~= 'string' and type(k) ~= 'number' then k = to_python(k)
   end
   local value, kind, id = call(tables.get, rec.py, k)
   if kind == nil then return value end
   if kind == 'table' then return table_from_python(value, id, rec.py) end
   return to_lua_as(value, kind, id)
end

-- The table has become another object of Python's.
local function switch(t, rec, py, id)
   call(tables.replace, rec.py, py, rec.holder)
   known[rec.id] = nil
   rec.py, rec.id, known[id] = py, id, t
end

local function put(t, rec, k, v)
   if k == nil then error('table index is nil', 3) end
   if k ~= k then error('table index is NaN', 3) end
   local py, id = call(tables.put, rec.py, to_python(k), to_python(v))
   if py then switch(t, rec, py, id) end
   local inner = type(v) == 'table' and record(v)
   if inner then inner.holder = rec.py end
end

local function length(rec) return call(tables.length, rec.py) end

local function keys_of(rec)
   local keys, n = call(tables.keys, rec.py)
   for i = 1, n do keys[i] = to_lua(keys[i]) end
   return keys, n
end

-- The content of a face, and the length of a list.
local function items_of(rec)
   local keys, values, n = call(calls.items, rec.py)
   local t = fill({}, keys, values, n)
   if keys then return t end
   while n > 0 and t[n] == nil do n = n - 1 end
   return t, n
end

local function order(rec)
   local keys, n = keys_of(rec)
   local places = {}
   for i = 1, n do places[keys[i]] = i end
   rec.keys, rec.places, rec.n = keys, places, n
end

-- The first entry behind a place.
local function entry_from(rec, i)
   for j = i + 1, rec.n do
      local value = get(rec, rec.keys[j])
      if value ~= nil then return rec.keys[j], value end
   end
end

local function face_next(rec, k)
   if k == nil then
      order(rec)
      return entry_from(rec, 0)
   end
   if not (rec.places and rec.places[k]) then order(rec) end
   if not rec.places[k] then error("invalid key to 'next'", 3) end
   local key, value = entry_from(rec, rec.places[k])
   if key ~= nil then return key, value end
   -- There may be keys that came later.
   order(rec)
   return entry_from(rec, rec.places[k] or rec.n)
end

function face_mt.__index(t, k) return get(rawget(t, REC), k) end
function face_mt.__newindex(t, k, v) put(t, rawget(t, REC), k, v) end
function face_mt.__len(t) return length(rawget(t, REC)) end
function face_mt.__pairs(t)
   local rec, i = rawget(t, REC), 0
   local keys, n = keys_of(rec)
   return function()
      while i < n do
         i = i + 1
         local value = get(rec, keys[i])
         if value ~= nil then return keys[i], value end
      end
   end, t, nil
end
function face_mt.__ipairs(t)
   local rec = rawget(t, REC)
   return function(_, i)
      local value = get(rec, i + 1)
      if value ~= nil then return i + 1, value end
   end, t, 0
end

-- Between the two -----------------------------------------------------------------------------------------

-- Makes a table Python's for good, and those in it. Returns Python's list or dict.
local function keep(new)
   for j = floor + 1, n_lent do become_face(lent[j], new[2 * (j - floor) - 1], new[2 * (j - floor)]) end
   forget()
   return new and new[1]
end
local function share(t, as_dict)
   local rec = record(t)
   if rec then return rec.py end
   if n_lent > floor then forget() end
   local out = {}
   return keep(call(calls.keep, send_first(out, encode(out, 0, t, as_dict))))
end
t7.table_to_python = share

-- Calls a function of Python that keeps the keys and values of a table, but not the table: with them in turn, after
-- `first` and `second`. It returns the tables among them, as `calls.keep` does.
function t7.give_content(f, first, second, t)
   if n_lent > floor then forget() end
   local out, m = {}, 0
   for k, v in next, t do m = encode(out, encode(out, m, k), v) end
   keep(call(f, first, second, send_first(out, m)))
end

-- The same, as a dict.
function t7.share_as_dict(t)
   if not t7.is_table(t) then return t end
   share(t, true)
   local rec = record(t)
   local py, id = call(tables.as_dict, rec.py)
   if py then switch(t, rec, py, id) end
   return t
end

-- The table for a list or dict that nobody in Python has.
function t7.take_table(py) return fill({}, call(calls.take, py)) end
-- The table for a tuple.
function t7.content(py) return fill({}, call(calls.items, py)) end

-- Notes what in Python has a table.
function t7.held_by(t, py)
   local rec = type(t) == 'table' and record(t)
   if rec then rec.holder = py end
end

-- The content of a face, and of those in it, as tables of their own; any other value as it is.
function t7.plain(t)
   local rec = type(t) == 'table' and record(t)
   if not rec then return t end
   t = items_of(rec)
   for k, v in next, t do t[k] = t7.plain(v) end
   return t
end

-- What Lua's functions do without metamethods, they do with faces, too --------------------------------------

local faces = {}
for name in ('next rawget rawset rawlen unpack setmetatable getmetatable'):gmatch('%S+') do faces[name] = _G[name] end
local function wrapped(f, with_face)
   return function(...)
      local t = ...
      local rec = type(t) == 'table' and record(t)
      if rec then return with_face(t, rec, select(2, ...)) end
      return f(...)
   end
end
local function of_content(f) return function(_, rec, ...) return f(items_of(rec), ...) end end

_G.next = wrapped(next, function(_, rec, k)
   local key, value = face_next(rec, k)
   if key == nil then return nil end
   return key, value
end)
_G.rawget = wrapped(rawget, function(_, rec, k) return get(rec, k) end)
_G.rawset = wrapped(rawset, function(t, rec, k, v) put(t, rec, k, v) return t end)
if rawlen then _G.rawlen = wrapped(rawlen, function(_, rec) return length(rec) end) end
local function unpacked(rec, ...)
   if select('#', ...) > 1 then return results(...) end
   local t, n = items_of(rec)
   return unpack(t, 1, n or length(rec))
end
_G.unpack = wrapped(unpack, function(_, rec, i, j)
   if i == nil and j == nil then return unpacked(rec, call(calls.entries, rec.py)) end
   local t, n = items_of(rec)
   return unpack(t, i or 1, j or n or length(rec))
end)
_G.getmetatable = wrapped(_G.getmetatable, function() return nil end)
-- A table with a metatable is Lua's: it gets its content back, and Python has it as any such table.
local function give_metatable(t, rec, mt)
   if mt == nil then return t end
   local content = items_of(rec)
   known[rec.id] = nil
   setmetatable(t, nil)
   t[REC] = nil
   for k, v in next, content do t[k] = v end
   call(tables.replace, rec.py, call(python.make_table, t, t7.pointer(t)), rec.holder)
   return setmetatable(t, mt)
end
-- Makes a table Lua's again.
function t7.give_back(t)
   local rec = record(t)
   if rec then setmetatable(give_metatable(t, rec, {}), nil) end
end
_G.setmetatable = wrapped(setmetatable, give_metatable)
debug.setmetatable = wrapped(debug.setmetatable, give_metatable)

local lua = {}
for name, f in next, table do lua[name] = f end
for _, name in ipairs{'concat', 'maxn', 'foreach', 'foreachi'} do
   if lua[name] then table[name] = wrapped(lua[name], of_content(lua[name])) end
end
table.unpack = _G.unpack
if lua.getn then table.getn = wrapped(lua.getn, function(_, rec) return length(rec) end) end
-- Those that write: on a copy, which the face then takes over.
local function on_copy(f)
   return function(t, rec, ...)
      local copy = items_of(rec)
      local before = {}
      for k, v in next, copy do before[k] = v end
      local function finish(...)
         for k in next, before do if copy[k] == nil then put(t, rec, k, nil) end end
         for k, v in next, copy do if not rawequal(before[k], v) then put(t, rec, k, v) end end
         return ...
      end
      return finish(f(copy, ...))
   end
end
table.sort = wrapped(lua.sort, on_copy(lua.sort))
local remove_in_copy = on_copy(lua.remove)
table.remove = wrapped(lua.remove, function(t, rec, ...)
   local n = length(rec)
   if (...) ~= nil and (...) ~= n then return remove_in_copy(t, rec, ...) end
   local last = get(rec, n)
   if n > 0 then put(t, rec, n, nil) end
   return last
end)
local insert_in_copy = on_copy(lua.insert)
table.insert = wrapped(lua.insert, function(t, rec, ...)
   if select('#', ...) == 1 then return put(t, rec, length(rec) + 1, (...)) end
   return insert_in_copy(t, rec, ...)
end)

function t7.begin_tables() to_python, to_lua, to_lua_as = t7.to_python, t7.to_lua, t7.to_lua_as end
