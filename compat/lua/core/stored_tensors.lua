-- How tensors and storages are written to files, and read.
local t7 = ...
local torch, fail = t7.torch, t7.error
local held, place_in, single = t7.files.held, t7.files.place_in, t7.single_in_files
local getfenv, getmetatable, rawset = debug.getfenv, debug.getmetatable, rawset
local call, python = t7.call, t7.python

local function equip(C)
   -- The numbers of a storage lie in a file as those of the CPU's.
   local kind, H = C.numbers, C.host or C
   rawset(C.smt, 'write', function(u, file)
      local rec = getfenv(u)
      file:writeLong(rec.n)
      if kind == 'Half' and not file:isBinary() then
         local numbers = t7.class_named.Float.new_storage(rec.n)
         for i = 1, rec.n do numbers[i] = u[i] end
         file:writeFloat(numbers)
      elseif kind == 'Half' then
         file:writeByte(t7.import_tensor(call(python.as_bytes, t7.export_storage(u))):storage())
      else file['write' .. kind](file, H.make_storage(t7.in_reach(rec))) end
   end)
   rawset(C.smt, 'read', function(u, file)
      local rec, f, start = getfenv(u), getfenv(file), getfenv(file).tell() or 0
      local n = single.Long.read(f)
      local most = held(f, kind == 'Half' and 'Short' or kind, n)
      if most < n then
         fail(('%s: found a storage of %d elements, expected at most the %d that the file holds'):format(place_in(f, start), n, most))
      end
      t7.resize_record(rec, n)
      if n == 0 then return end
      if kind == 'Half' and not f.binary then
         local numbers = file:readFloat(n)
         for i = 1, n do u[i] = numbers[i] end
      elseif kind == 'Half' then call(python.set_from_bytes, t7.export_storage(u), t7.export_storage(file:readByte(2 * n)))
      else
         local reached = t7.in_reach(rec)
         file['read' .. kind](file, H.make_storage(reached))
         if reached ~= rec then C.make_storage(rec):copy(H.make_storage(reached)) end
      end
   end)
   rawset(C.mt, 'write', function(u, file)
      local s = getfenv(u)
      file:writeInt(s.n)
      file:writeLong(t7.new_long_storage(s.sz, s.n))
      file:writeLong(t7.new_long_storage(s.st, s.n))
      file:writeLong(s.off + 1)
      file:writeObject(s.rec and C.make_storage(s.rec) or nil)
   end)
   rawset(C.mt, 'read', function(u, file)
      local f, start = getfenv(file), getfenv(file).tell() or 0
      local function refuse(defect) fail(('%s: %s'):format(place_in(f, start), defect)) end
      local n = single.Int.read(f)
      local defect = (n < 0 or n > 4) and call(python.check_geometry, n)
      if defect then refuse(defect) end
      local sz, st = {}, {}
      if f.binary then
         for d = 1, n do sz[d] = single.Long.read(f) end
         for d = 1, n do st[d] = single.Long.read(f) end
      else sz, st = t7.longs_of(file:readLong(n)), t7.longs_of(file:readLong(n)) end
      local off = single.Long.read(f) - 1
      local storage = file:readObject()
      if storage ~= nil and getmetatable(storage) ~= C.smt then
         refuse(('found %s, expected a %s or nil'):format(torch.type(storage), C.sname))
      end
      local rec = storage and getfenv(storage)
      local numbers, elements, last, is_usual = {}, 1, off, off >= 0
      for d = 1, n do
         numbers[d], numbers[n + d] = sz[d], st[d]
         elements = elements * sz[d]
         last = last + (sz[d] - 1) * st[d]
         is_usual = is_usual and sz[d] > 0 and st[d] >= 0
      end
      -- What lies in its storage needs no look by Python, which says what is wrong.
      if not (is_usual and elements < 2^53 and last < (rec and rec.n or 0)) then
         defect = call(python.check_geometry, n, off, rec and rec.n or 0, unpack(numbers, 1, 2 * n))
         if defect then refuse(defect) end
      end
      -- A size of 0 is one of no dimensions in Torch7.
      if elements == 0 then n = 0 end
      t7.set_geometry(getfenv(u), rec, off, n, sz, st)
   end)
end
for _, C in pairs(t7.class_named) do equip(C) end
t7.file_methods = equip
