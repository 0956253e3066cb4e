-- What Lua takes for nothing: of lists, nets, empty tensors; what fits and what does not.
require 'nn'
local x = torch.zeros(2, 3)
for _, n in ipairs{'lt', 'gt'} do
   local r = torch.ByteTensor()
   x[n](r, x, 4)
   print(r)
end
local s = torch.DoubleStorage(5):fill(2)
local sub = torch.DoubleStorage(s, 2, 3)
print(#sub, sub[1])
sub[1] = 55
print(s[2])
print(torch.LongStorage(3):size())
local m = setmetatable({p = 0.25, v2 = true}, torch.getmetatable('nn.Dropout'))
print(torch.type(m), m.p)
local function f(a) return a end
print(f(select(2, torch.svd(torch.eye(2)))))
local e = torch.Tensor()
print(e:dim(), e:size())
local ok, err = pcall(function() error('x') end)
print(ok, err ~= nil)
local ok2 = pcall(function() error('x') end)
print(nn.Sequential():add(nn.Tanh()):get(-1))
local grown = torch.DoubleStorage{1, 2, 3}
grown:resize(5)
grown[5] = 7
print(#grown, grown:size(), grown[3], grown[5])
