-- two nets against each other
require 'nn'
require 'optim'
torch.manualSeed(9)
local nz, batch = 2, 6
local netG = nn.Sequential():add(nn.Linear(nz, 4)):add(nn.Tanh()):add(nn.Linear(4, 1))
local netD = nn.Sequential():add(nn.Linear(1, 4)):add(nn.Tanh()):add(nn.Linear(4, 1)):add(nn.Sigmoid())
local criterion = nn.BCECriterion()
local real_label, fake_label = 1, 0
local input, noise, label = torch.Tensor(batch, 1), torch.Tensor(batch, nz), torch.Tensor(batch, 1)
local errD, errG
local paramsD, gradD = netD:getParameters()
local paramsG, gradG = netG:getParameters()
local stateD, stateG = {learningRate = 0.05}, {learningRate = 0.05}
local fDx = function(x)
   gradD:zero()
   input:normal(3, 0.5)
   label:fill(real_label)
   local output = netD:forward(input)
   local errReal = criterion:forward(output, label)
   netD:backward(input, criterion:backward(output, label))
   noise:uniform(-1, 1)
   local fake = netG:forward(noise)
   input:copy(fake)
   label:fill(fake_label)
   output = netD:forward(input)
   local errFake = criterion:forward(output, label)
   netD:backward(input, criterion:backward(output, label))
   errD = errReal + errFake
   return errD, gradD
end
local fGx = function(x)
   gradG:zero()
   label:fill(real_label)
   local output = netD.output
   errG = criterion:forward(output, label)
   local df_do = criterion:backward(output, label)
   local df_dg = netD:updateGradInput(input, df_do)
   netG:backward(noise, df_dg)
   return errG, gradG
end
for i = 1, 6 do
   optim.adam(fDx, paramsD, stateD)
   optim.adam(fGx, paramsG, stateG)
   print(('%d D %.6f G %.6f'):format(i, errD, errG))
end
