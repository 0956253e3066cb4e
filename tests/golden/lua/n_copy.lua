-- Nets copied and changed as training scripts do it: field by field, and by methods put in the place of others.
require 'torch'
require 'nn'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.ReLU(true))
net:add(nn.ConcatTable():add(nn.Identity()):add(nn.BatchNormalization(4))):add(nn.CAddTable())
local x = torch.rand(5, 3)
local y = net:forward(x):clone()

local function copied(t)
   local c = {}
   for k, v in pairs(t) do
      if type(v) == 'table' then c[k] = copied(v) else c[k] = v end
   end
   if torch.typename(t) then torch.setmetatable(c, torch.typename(t)) end
   return c
end

local clean = copied(net):float():clearState()
print(torch.type(clean), torch.type(clean:get(1).weight), torch.type(net:get(1).weight))
print(clean)
print((clean:forward(x:float()):double() - y):abs():max() < 1e-5)
print((net:forward(x) - y):abs():max())

local same = copied(net)
same:get(1).weight:fill(1)
print(net:get(1).weight:sum())
local file = os.tmpname()
torch.save(file, same)
print(torch.load(file):get(1).weight:sum())
os.remove(file)

local with = setmetatable({p = 0.25, v2 = true}, torch.getmetatable('nn.Dropout'))
print(torch.type(with), with.p, torch.isTypeOf(with, 'nn.Module'))

local module = torch.getmetatable('nn.Module')
local before = {getParameters = module.getParameters}
for name, method in pairs(before) do
   module[name] = function(self, ...)
      print(name .. ' of ' .. torch.type(self))
      return method(self, ...)
   end
end
print((net:getParameters():size(1)))
for name, method in pairs(before) do module[name] = method end
print((net:getParameters():size(1)))
