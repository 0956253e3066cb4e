-- LAPACK, each function with results given or new.
local t7 = ...
local call, argerror = t7.call, t7.argerror
local k, ops, class_of_kind = t7.python.kernels, t7.ops, t7.class_of_kind
local getfenv, unpack = debug.getfenv, unpack
local put, computed, resize, is_contiguous = t7.put, t7.computed, t7.resize, t7.is_contiguous

local function check_matrix(a)
   if a.n ~= 2 then argerror(1, 'A should be 2 dimensional') end
end
local function check_square(a)
   check_matrix(a)
   if a.sz[1] ~= a.sz[2] then argerror(1, 'A should be square') end
end
local function check_rows(b, a)
   if a.n ~= 2 then argerror(2, 'A should have 2 dimensions, but has ' .. a.n) end
   if b.n ~= 1 and b.n ~= 2 then argerror(1, 'B should have 1 or 2 dimensions, but has ' .. b.n) end
end
local function check_fit(b, a)
   if a.sz[1] ~= b.sz[1] then
      argerror(2, ('A,B size incompatible - A has %d rows, B has %d'):format(a.sz[1], b.sz[1]))
   end
end
local function check_system(b, a)
   check_rows(b, a)
   if a.sz[1] ~= a.sz[2] then argerror(2, ('A should be square, but is %dx%d'):format(a.sz[1], a.sz[2])) end
   check_fit(b, a)
end
local function check_least_squares(b, a)
   check_rows(b, a)
   check_fit(b, a)
end

-- What is asked of the arguments, and of each result whether it is by rows or by columns.
local FUNCTIONS = {
   gesv = {check_system, 'columns', 'columns'}, gels = {check_least_squares, 'columns', 'columns'},
   trtrs = {check_system, 'columns', 'columns'}, potrs = {check_system, 'columns'},
   symeig = {check_square, 'rows', 'columns'}, eig = {check_square, 'rows', 'columns'},
   svd = {check_matrix, 'columns', 'rows', 'rows'},
   inverse = {check_square, 'columns'}, potrf = {check_square, 'columns'}, potri = {check_square, 'columns'},
   pstrf = {check_square, 'columns', 'rows'},
   qr = {check_matrix, 'columns', 'rows'}, geqrf = {check_matrix, 'columns', 'rows'},
   orgqr = {check_matrix, 'columns'}, ormqr = {check_matrix, 'columns'},
}

-- Puts a matrix that lies by columns into a result: its transpose is what is contiguous.
local function put_by_columns(C, r, tensor)
   local transposed = call(k.by_columns, tensor)
   if r == nil then
      local u = put(C, nil, transposed)
      local s = getfenv(u)
      t7.set_geometry(s, s.rec, 0, 2, {s.sz[2], s.sz[1]}, {s.st[2], s.st[1]})
      return u
   end
   local s, o = getfenv(put(C, nil, transposed)), getfenv(r)
   resize(o, 2, s.sz)
   if is_contiguous(o) then t7.set_geometry(o, o.rec, o.off, 2, {o.sz[2], o.sz[1]}, {o.st[2], o.st[1]}) end
   t7.set_geometry(s, s.rec, 0, 2, {s.sz[2], s.sz[1]}, {s.st[2], s.st[1]})
   t7.copy(o, s)
   return r
end

for name, description in pairs(FUNCTIONS) do
   local f, check, results = k[name], description[1], #description - 1
   local function run(C, given, ...)
      local a, b = ...
      check(getfenv(a), t7.state(b))
      local columns = name == 'gels' and getfenv(b).sz[2]
      local out = {computed(f, ...)}
      for i = 1, results do
         local class = name == 'pstrf' and i == 2 and class_of_kind(C, 'Int') or C
         local place = description[i + 1] == 'columns' and put_by_columns or put
         -- eig has no vectors to give when it is asked for none.
         if not (name == 'eig' and i == 2 and select(2, ...) == 'N') then out[i] = place(class, given[i], out[i])
         else out[i] = given[i] or t7.alloc(C, 0, {}) end
      end
      if columns then
         -- The solution has the room that LAPACK needs.
         local s = getfenv(out[1])
         t7.set_geometry(s, s.rec, s.off, 2, {columns, s.sz[2]}, s.st)
      end
      return unpack(out, 1, results)
   end
   ops[name] = function(C, ...)
      local given = {}
      for i = 1, results do given[i] = (select(i, ...)) end
      return run(C, given, select(results + 1, ...))
   end
   ops[name .. 'New'] = function(C, ...) return run(C, {}, ...) end
end
