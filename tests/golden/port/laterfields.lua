-- Layers that ask for fields before they set them.
require 'nn'
local L, parent = torch.class('nn.MyBN', 'nn.Module')
function L:__init(n)
   parent.__init(self)
   self.mean = torch.zeros(n)
end
function L:updateOutput(input)
   self.eps = self.eps or 1e-5
   if self.momentum == nil then self.momentum = 0.1 end
   self.buffer = self.buffer or input.new()
   self.buffer:resizeAs(input):copy(input):add(self.eps)
   if not self.count then self.count = 0 end
   self.count = self.count + 1
   self.output:resizeAs(input):copy(self.buffer):mul(self.momentum)
   return self.output
end
function L:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.momentum)
   return self.gradInput
end
local m = nn.Sequential():add(nn.MyBN(3))
print(m:forward(torch.ones(2, 3)):sum(), m:get(1).eps, m:get(1).count)
m:forward(torch.ones(2, 3))
print(m:get(1).count, m:backward(torch.ones(2, 3), torch.ones(2, 3)):sum())
local t = torch.class('Trainer')
function t:__init(opt) self.opt = opt end
function t:step() self.n = (self.n or 0) + 1; return self.n end
local tr = Trainer{lr = 1}
tr:step()
print(tr:step(), tr.opt.lr, tr.opt.missing, tr.missing)
