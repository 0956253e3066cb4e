-- A class of one's own with parameters of its own, in the methods of package dpnn.
require 'dpnn'
local Mine, parent = torch.class('nn.Mine', 'nn.Module')
function Mine:__init()
   parent.__init(self)
   self.w, self.gw = torch.ones(2), torch.zeros(2)
   self.dpnn_mediumEmpty = {unpack(self.dpnn_mediumEmpty)}
   table.insert(self.dpnn_mediumEmpty, 'x')
end
Mine.dpnn_parameters = {'w'}
Mine.dpnn_gradParameters = {'gw'}
function Mine:parameters() return {self.w}, {self.gw} end
function Mine:updateOutput(i) self.output:resizeAs(i):cmul(i, self.w) return self.output end
function Mine:updateGradInput(i, g) self.gradInput:resizeAs(i):cmul(g, self.w) return self.gradInput end
function Mine:accGradParameters(i, g, s) self.gw:addcmul(s or 1, i, g) end
local n = nn.Sequential():add(nn.Linear(2,2)):add(nn.Mine())
local c = n:sharedClone()
c:get(2).w:fill(5)
c:get(2).gw:fill(3)
print(n:get(2).w, n:get(2).gw, n:get(2).dpnn_parameters[1], nn.Linear(2,2).dpnn_parameters[2], #n:get(2).dpnn_mediumEmpty, #n:get(1).dpnn_mediumEmpty)
n:zeroGradParameters()
local x = torch.Tensor{1,2}
n:backward(x, n:forward(x))
n:updateParameters(0.1)
print(c:get(2).w:sum() == n:get(2).w:sum(), c:get(1).weight:sum() == n:get(1).weight:sum(), c:get(2).gw:sum()== n:get(2).gw:sum())
print(n:gradParamClip(0.1) > 0.1, c:get(2).gw:norm() < 0.1)
n:updateGradParameters(0.9)
n:weightDecay(0.1, 1)
n:maxParamNorm(1)
print(c:get(2).gw:norm() < 2)
local d = n:sharedClone(true, false)
d:get(2).w:fill(1) d:get(2).gw:fill(9)
print(n:get(2).w:sum(), n:get(2).gw:sum() == 18)
n:mediumSerial()
print(#n:get(2).dpnn_serialEmpty)
