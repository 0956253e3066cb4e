-- # lists with an entry of its own kind in each place
local function batch(n)
   local x = torch.ones(n, 3)
   return {x, n, 'name', {1, 2, 3}, x:clone():resize(n * 3)}
end
local data = {}
for i = 1, 3 do table.insert(data, batch(i)) end
for i = 1, #data do
   local d = data[i]
   local x, n, name, list = d[1], d[2], d[3], d[4]
   print(x[1]:sum(), n * 2, name:upper(), #list, list[2], d[5][2])
end

-- # lists of several kinds whose entries are moved, exchanged and replaced
local e = {3, 'b', 'a'}
table.remove(e, 1)
print(e[1]:upper(), #e)
local f = {1, 'z'}
f[1], f[2] = f[2], f[1]
print(f[1], f[2])
local g = {'k', 1}
table.sort(g, function(x, y) return tostring(x) < tostring(y) end)
print(g[1], g[2])
local q, i = {1, 'two'}, 2
print(q[i]:upper())
q[i] = 5
print(q[2] + 1)
local st = {0, nil, 'end'}
st[2] = torch.zeros(2)
print(st[2]:size(1), st[3]:upper(), st[1] + 1)
local h = {{1, 'a'}, {2, 'b'}}
for _, p in ipairs(h) do
   local n, s = unpack(p)
   print(n + 1, s:upper(), p[1] * 2, #p[2])
end

-- # lists of all arguments
local function pack(...) return {...} end
local a, b = pack(1, 'x', torch.ones(2)), pack(2, 'y', torch.ones(3))
print(a[1] + b[1], a[2]:upper(), b[3]:sum())
local function some(n) if n > 1 then return 'p', 2 end return 'q' end
local c, d = {some(2)}, {some(1)}
print(c[1]:upper(), c[2], d[1]:upper(), d[2])
local function one(...) local all = {...}; return all[1], all[2] end
print(one(1, 2), one('x'), one())

-- # jobs that are given on with what takes their results
local pool = {}
function pool:addjob(f1, f2) f2(f1()) end
local size, got = 0, {}
pool:addjob(function() return 7 end, function(c) size = c end)
local function get() return torch.ones(2, 3), {'a'} end
local function push(...)
   local res = {...}
   got[1] = res
end
pool:addjob(get, push)
print(size + 1)
local res = got[1]
local x, names = res[1], res[2]
got[1] = nil
print(x[1]:sum(), names[1]:upper())
local function try(f, y) return f(y) end
print(try(function(n) return n + 1 end, 2), try(function(s) return #s end, 'abc'))

-- # loops through what no call gives
local function named(t, extra)
   local names = {}
   if extra then for k, v in pairs(extra) do names[k] = v end end
   for i = 1, #t do table.insert(names, t[i]:upper()) end
   return names
end
local names = named({'a', 'b'}, nil)
print(#names, names[2], table.concat(names, ' '))

-- # lists whose entries are replaced one by one
local function upper(t)
   for i = 1, #t do t[i] = t[i]:upper() end
   return t
end
local all = {}
for i = 1, 3 do all[i] = 'n' .. i end
local got = upper(all)
print(#got, got[2], table.concat(got, ' '))
local sums = {}
for i = 1, 3 do sums[i] = 0 end
for k = 1, 6 do
   local j = (k - 1) % 3 + 1
   sums[j] = sums[j] + k
end
print(#sums, sums[1], sums[3])

-- # entries that may be numbers in what takes both
local function copied(dst, src, i)
   dst[i] = src[i]
   dst[i + 1] = src[i]
end
local a, b = torch.zeros(3), torch.range(1, 3)
copied(a, b, 1)
local c, d = torch.zeros(3, 2), torch.ones(3, 2)
copied(c, d, 2)
local ints = torch.LongTensor(3):zero()
copied(ints, b, 2)
print(a, c, ints)
local function less(img) return img:clone():add(-img:min()) end
local batch = torch.range(1, 12):resize(3, 1, 4)
for i = 1, 3 do batch[i] = less(batch[i]:squeeze()) end
print(batch)

-- # functions that give their argument in another type
require 'nn'
local function cast(x) return x:float() end
local net = cast(nn.Linear(3, 2))
local m, v = cast(torch.ones(2, 3)), cast(torch.range(1, 3))
print(net:forward(m):size(1), m[1]:sum(), v[1])
local function to(x, t) if t then return x:type(t) end return x end
local a, b = to(torch.ones(2, 3), 'torch.LongTensor'), to(torch.ones(3))
print(a[2]:sum(), b[2], torch.type(a))
local opt = {single = false}
local function fit(x) return opt.single and x:float() or x end
print(fit(torch.zeros(2, 2))[1]:size(1), fit(torch.zeros(2))[1])
local function again(x) x = x:double():clone(); return x end
print(again(torch.ones(2, 2))[1]:sum(), again(torch.ones(4))[3])

-- # tables of one form where an argument is given, and of another where it is not
local function reset(state, n, t)
   if t == nil then
      local u = {}
      for i = 1, #state do table.insert(u, state[i][{{1, n}}]) end
      return u
   else
      local u = {[t] = {}}
      for i = 1, #state do table.insert(u[t], state[i][{{1, n}}]) end
      return u
   end
end
local state = {torch.ones(3, 2), torch.zeros(3, 2)}
local all = reset(state, 2, 0)
for t = 1, 2 do
   local out = {}
   for j = 1, #all[t - 1] do table.insert(out, all[t - 1][j] + 1) end
   all[t] = out
end
print(#all[2], all[2][1]:sum(), all[0][2]:sum())
local one = reset(state, 1)
print(#one, one[#one]:size(1), one[1][1]:sum())
local function pick(x, n)
   if not n then return {x} end
   return {a = x, n = n}
end
local some
if os.time() < 0 then some = 1 end
print(#pick(3), pick(3)[1], pick(4, 5).n, pick(6, 7).a, pick(8, some)[1])

-- # rows of what has two dimensions or more
local function read(x, a, b)
   local rows = x:sub(a, b, 1, 3):transpose(1, 2)
   local list = {}
   for t = 1, rows:size(1) do list[t] = rows[t] end
   return list, rows
end
local box = {}
box.x = torch.range(1, 24):resize(4, 6)
local s, r = read(box.x, 1, 2)
print(#s, s[1], r[2], r[3][2])
print(torch.range(1, 4):resize(2, 2):sum(2)[1])

-- # indices that are multiples of a loop's number
local t = {}
for L = 1, 4 do table.insert(t, L); table.insert(t, -L) end
for L = 1, 4 do io.write(t[2 * L - 1], ' ', t[L * 2], ' ') end
for L = 2, 4 do io.write(t[(L - 1) * 2], ' ', t[L * 2 - 2], ' ') end
for L = 0, 1 do io.write(tostring(t[L * 2 - 1]), ' ') end
print()

-- # types of tensors by the names of others
local opt = {kind = 'torch.FloatTensor'}
local x = torch[opt.kind:match('torch.(%a+)')](2, 3):fill(1)
print(x[1]:sum(), torch.type(x))
local store = torch[opt.kind:match('torch.(%a+)'):gsub('Tensor', 'Storage')](4)
local y = torch[opt.kind:match('torch.(%a+)')](store, 1, 4):fill(2)
print(y:sum(), #store)

-- # lists of one length that are unpacked
local cfg = {[18] = {{2, 2}, 512, 'basic'}, [34] = {{3, 4}, 256, 'wide'}}
local def, n, name = unpack(cfg[34])
print(def[1], n, name:upper())
local list = {}
for i = 1, 2 do table.insert(list, {i, torch.ones(i)}) end
for _, p in ipairs(list) do
   local i, x = unpack(p)
   print(i + 1, x:sum())
end
local function both(e) local a, b = unpack(e) return a, b end
print(both({1, 2}))
print(unpack({1, 2}))
local q, r = {1}, {1, 2, 3}
q[2] = 'x'
local a, b = unpack(q)
r[4] = 5
print(a, b, unpack(r))
print(select('#', unpack(r)))
local s = {unpack(list[2])}
print(#s, s[1])
local function some(i) if i > 1 then return 1, 2 end return 3 end
local v, w = {0, some(1)}, {0, some(2)}
local a, b, c = unpack(v)
print(a, b, c, unpack(w))

-- # classes of one package or the other
require 'nn'
if os.time() < 0 then require 'cudnn' backend = cudnn else backend = nn end
local lib = os.time() < 0 and cudnn or nn
local net = nn.Sequential():add(backend.Linear(3, 2)):add(lib.ReLU(true, 5)):add(backend.Reshape(2))
print(net:forward(torch.ones(3)):size(1), #net.modules)
print(torch.type(backend.Tanh()), backend.SpatialConvolution(1, 2, 3, 3, 1, 1).nOutputPlane)

-- # lists of several kinds that get shorter, and what false decides
local t = {1, 2, 3}
table.remove(t)
local a, b, c = unpack(t)
print(a, b, c)
local u = {1, 'x', 3}
u[#u] = nil
local a, b, c = unpack(u)
print(a, b, c)
local function give(flag, x)
   if flag then return {x, x} else return {n = x} end
end
print(#give(true, 1), give(false, 2).n, give(nil, 3).n, #give('y', 4))
local function set(t, i, v) t[i] = v end
local r = {1, 'a'}
set(r, 1, 'x')
print(r[1]:upper(), #r)
local m, v = torch.ones(2):gt(0), torch.FloatTensor(2)
v[m] = torch.ones(3)[2]
print(v)
local function fill(x, m, y) x[m] = y[1] end
fill(v, m, torch.zeros(2))
print(v)

-- # entries of tables that another takes the place of at once
local t, k = {}, 'a'
t.k, t = 1, {}
print(t.k)
local u = {}
u[k], k = 1, 'b'
print(u[k])
local w = {k = 1}
w, w.k = {}, 3
print(w.k)

-- # entries that a metatable does not let in
local t = setmetatable({}, {__newindex = function() end})
t.k = 1
print(t.k)

-- # entries past the end of a list in a loop that shortens it, or goes on behind it
local u = {5, 6, 7}
for i = 1, #u do
  table.remove(u, 1)
  print(u[i])
end
local n = {3, 4}
for i = 1, #n + 1 do print(n[i]) end

-- # entries past the end of a list that a function shortens in the loop
local function drop(a) table.remove(a) end
local a = {1, 2, 3}
for i = 1, #a do drop(a); print(a[i]) end
local Q = {items = {1, 2, 3}}
function Q:take() return table.remove(self.items, 1) end
for i = 1, #Q.items do
  local x = Q.items[i]
  if x == 2 then Q:take() end
  print(i, x)
end

-- # a file that is not open for what is wanted
local path = os.tmpname()
local f = io.open(path, 'w')
print((f:read()))
f:close()
f = io.open(path)
print((f:write('x')))
f:close()
os.remove(path)

-- # a cell that a line lacks is no number
local head = {'id', 'score', 'more'}
for _, line in ipairs{'1,2.5', '2', '3,4,x'} do
  local cells, row = {}, {}
  for c in line:gmatch('[^,]+') do cells[#cells + 1] = c end
  for i, name in ipairs(head) do row[name] = tonumber(cells[i]) end
  print(row.id, row.score, row.more)
end
