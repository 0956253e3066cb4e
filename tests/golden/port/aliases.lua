-- Views that share memory, and copies that do not
require 'torch'
local x = torch.range(1, 12):resize(3, 4)
local row = x[2]
row[1] = 100
print(x[2][1], x:sum())
local col = x:select(2, 3)
col:fill(0)
print(x:sum(), col:size(1), col:isContiguous())
local block = x[{{1, 2}, {1, 2}}]
block:mul(2)
print(x[1][1], x[2][2], x[3][1])
local c = x:clone()
c:zero()
print(x:sum(), c:sum())
local v = x:view(12)
v[12] = -1
print(x[3][4])
local t = x:t()
t[1][3] = 7
print(x[3][1], t:size(1), t:size(2))
local n = x:narrow(1, 2, 2)
n:add(1)
print(x[1][1], x[2][1], x[3][1])
local y = x
y:add(1)
print(x == y, x[1][1] == y[1][1])
local s = x:storage()
print(s:size(), x:storageOffset(), row:storageOffset())
local flat = torch.Tensor(6)
local w, b = flat:narrow(1, 1, 4):view(2, 2), flat:narrow(1, 5, 2)
flat:fill(1)
w:mul(3)
b:fill(0.5)
print(flat:sum(), flat[5])
local e = torch.Tensor(1, 3):fill(2):expand(4, 3)
print(e:sum(), e:size(1))
local idx = torch.LongTensor{3, 1}
local sel = x:index(1, idx)
sel:zero()
print(x:sum() == 0, sel:size(1))
local mask = x:gt(10)
print(mask:sum(), x[mask]:size(1), x:maskedSelect(mask):min() > 10)
x[mask] = 0
print(x:gt(10):sum())
x:maskedFill(x:lt(5), -1)
print(x:eq(-1):sum())
local bytes = torch.ByteTensor{1, 0, 2}
print(bytes:eq(1):sum(), bytes:gt(0):sum(), bytes:sum())
local a, bb = torch.ByteTensor{1, 0, 1}, torch.ByteTensor{1, 1, 0}
print(a:eq(bb):sum(), torch.cmul(a, bb):sum(), (a + bb):sum(), a:ne(bb):sum())
local both = torch.cmul(x:gt(0), x:lt(9))
print(both:sum(), torch.type(both))
print(x:gt(0):any(), x:lt(100):all())
local state = {h = torch.zeros(2)}
local keep = state.h
state.h = state.h + 1
print(keep:sum(), state.h:sum())
state.h:add(1)
local again = state.h
again:add(1)
print(state.h:sum())
local list = {x[1], x[2]}
list[1]:fill(9)
print(x[1]:sum())
x[1] = torch.Tensor{1, 2, 3, 4}
print(x[1]:sum(), list[1]:sum())
x[{1, 2}] = 50
print(list[1][2])
x[{{}, 1}] = torch.Tensor{5, 6, 7}
print(x:select(2, 1):sum())
local z = torch.Tensor(2, 2):copy(torch.range(1, 4))
print(z[2][1])
z:apply(function(v) return v > 2 and v * 10 or nil end)
print(z[1][1], z[2][2])
local r = torch.Tensor(2, 2)
torch.add(r, z, z)
print(r[2][2])
print(torch.Tensor{1, 2, 3} * torch.Tensor{1, 2, 3}, torch.dot(torch.ones(3), torch.ones(3)))
print(x:max(), (x:max(1)):size(1), #x, x:dim())
local mx, mi = x:max(2)
print(mi[1][1], mx[1][1])
local sums = x:sum(1):squeeze()
print(sums:size(1), sums[1])
