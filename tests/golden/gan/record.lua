-- Records what Lua Torch7 does where a net goes back again after an update of its parameters:
-- th record.lua OUT.t7
require 'nn'
require 'optim'

torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)

local netG = nn.Sequential()
netG:add(nn.SpatialFullConvolution(5, 4, 3, 3))
netG:add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
netG:add(nn.SpatialFullConvolution(4, 2, 4, 4, 2, 2, 1, 1)):add(nn.Tanh())

local netD = nn.Sequential()
netD:add(nn.SpatialConvolution(2, 3, 4, 4, 2, 2, 1, 1)):add(nn.LeakyReLU(0.2, true))
netD:add(nn.SpatialConvolution(3, 4, 3, 3)):add(nn.SpatialBatchNormalization(4))
netD:add(nn.LeakyReLU(0.2, true)):add(nn.View(4)):add(nn.Linear(4, 1)):add(nn.Sigmoid())
netD:add(nn.View(1):setNumInputDims(1))

local criterion = nn.BCECriterion()
local record = {netG = netG:clone(), netD = netD:clone(), steps = {}}

local xD, dD = netD:getParameters()
local xG, dG = netG:getParameters()
local configD = {learningRate = 0.01, beta1 = 0.5}
local configG = {learningRate = 0.01, beta1 = 0.5}
local batch = 4

for i = 1, 4 do
   local real, noise = torch.randn(batch, 2, 6, 6), torch.randn(batch, 5, 1, 1)
   local step = {real = real:clone(), noise = noise:clone()}
   local input = torch.Tensor(batch, 2, 6, 6)
   local label = torch.Tensor(batch, 1)

   local function discriminate()
      dD:zero()
      input:copy(real)
      label:fill(1)
      local output = netD:forward(input)
      local lossReal = criterion:forward(output, label)
      netD:backward(input, criterion:backward(output, label))
      local fake = netG:forward(noise)
      input:copy(fake)
      label:fill(0)
      output = netD:forward(input)
      local lossFake = criterion:forward(output, label)
      netD:backward(input, criterion:backward(output, label))
      step.lossD = lossReal + lossFake
      return step.lossD, dD
   end

   local function generate()
      dG:zero()
      label:fill(1)
      step.lossG = criterion:forward(netD.output, label)
      local down = netD:updateGradInput(input, criterion:backward(netD.output, label))
      step.down = down:clone()
      netG:backward(noise, down)
      return step.lossG, dG
   end

   optim.adam(discriminate, xD, configD)
   -- As backward left them, though the parameters are others now.
   step.output, step.gradInput = netD:get(3).output:clone(), netD:get(4).gradInput:clone()
   optim.adam(generate, xG, configG)
   step.xD, step.xG = xD:clone(), xG:clone()
   record.steps[i] = step
end
torch.save(arg[1], record)
