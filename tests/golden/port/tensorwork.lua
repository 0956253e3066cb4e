-- shapes, parts and sums of tensors
require 'torch'
torch.manualSeed(1)
local x = torch.range(1, 12):view(3, 4)
print(x:size(1), x:size(2), x:nElement(), x:dim())
print(x:t(), x[2], x[{2, 3}], x[{{1, 2}, {2, 3}}], x:select(2, 4))
print(x:sum(), x:mean(), x:max(), x:min(), x:std() > 3)
print(x:sum(1), x:mean(2))
local values, indices = x:max(1)
print(values, indices)
local y = x:clone():mul(2):add(-1)
y[{{}, 1}] = 0
y[2]:fill(5)
print(y, torch.cat(x:narrow(1, 1, 1), y:narrow(1, 3, 1), 1))
print(torch.dot(x[1], y[1]), torch.mm(x, y:t()), x * y[1])
print(x:gt(6):sum(), x[x:gt(10)], torch.cumsum(x[1]))
local z = torch.zeros(2, 3)
for i = 1, z:size(1) do
   for j = 1, z:size(2) do z[i][j] = i * 10 + j end
end
print(z, z:view(-1)[4], torch.add(z, 1)[1][1], torch.cmul(z, z):sum())
print(torch.linspace(0, 1, 5), torch.eye(2), torch.ones(2):mul(3))
local sorted, order = torch.sort(torch.Tensor{3, 1, 2}, true)
print(sorted, order, torch.abs(torch.Tensor{-1, 2}), torch.pow(torch.Tensor{2, 3}, 2))
print(torch.randperm(5):long(), string.format('%.5f %.5f', torch.uniform(), torch.normal()))
