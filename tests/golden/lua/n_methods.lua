-- Methods that classes derived from ours, or single objects, have of their own: backward, type, share, __tostring__.
require 'nn'
torch.manualSeed(1)
local M,p=torch.class('nn.R','nn.Linear')
function M:backward(x,g,s) print('called') return p.backward(self,x,g*-1,s) end
local s=nn.Sequential():add(nn.Linear(2,2)):add(nn.R(2,2))
s:zeroGradParameters()
s:forward(torch.ones(2)); print(s:backward(torch.ones(2),torch.ones(2))); print(s:get(2).gradBias)
local t=nn.Sequential():add(nn.Linear(2,2)):add(nn.Linear(2,2))
t:get(2).backward=function(self,x,g) return nn.Linear.backward(self,x,g*3) end
t:zeroGradParameters()
t:forward(torch.ones(2)); print(t:backward(torch.ones(2),torch.ones(2))); print(t:get(2).gradBias)
function M:__tostring__() return 'Mine!'..p.__tostring__(self) end
print(s)
function M:share(other, ...) print('share') return p.share(self, other, ...) end
local c = s:clone()
s:share(c, 'weight')
c:get(2).weight:fill(7)
print(s:get(2).weight)
local V, vp = torch.class('nn.V', 'nn.Tanh')
function V:__tostring__() return 'V!' .. torch.type(self) end
print(nn.Sequential():add(nn.V()))
print(nn.Tanh(), nn.MSECriterion(), nn.SpatialConvolution(1,2,3,3))

local L, lp = torch.class('nn.L', 'nn.Linear')
function L:__init(a, b) lp.__init(self, a, b) self.mask = torch.Tensor(2):fill(1) end
function L:type(t, c)
   if not t then return self._type end
   lp.type(self, t, c)
   self.extra = torch.Tensor(2):type(t)
   print('type', t)
   return self
end
local n = nn.Sequential():add(nn.L(2, 2)):add(nn.Sequential():add(nn.Tanh()):add(nn.L(2, 2)))
n:float()
print(torch.type(n:get(1).extra), torch.type(n:get(1).mask), torch.type(n:get(2):get(2).extra), n:get(1):type())
print(n:forward(torch.FloatTensor{1, 2}))
n:double()
print(n:type(), torch.type(n:get(1).weight))
local own = nn.Linear(2, 2)
own.type = function(self, t, c) print('own', t) return nn.Linear.type(self, t, c) end
local m = nn.Sequential():add(own)
m:float()
print(torch.type(own.weight))
