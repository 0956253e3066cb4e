-- A Torch7 script as people wrote them: a small convolutional net learns handwritten digits.
require 'torch'
require 'nn'
require 'optim'

local cmd = torch.CmdLine()
cmd:text('Train a net on handwritten digits')
cmd:option('-data', 'digits.t7', 'file with data and labels')
cmd:option('-epochs', 3, 'passes through the data')
cmd:option('-batchSize', 32, 'images in a step')
cmd:option('-learningRate', 0.2, 'size of a step')
cmd:option('-gpus', 0, 'devices among which a batch is divided; 0 for none')
cmd:option('-save', '', 'file for the net')
local opt = cmd:parse(arg)

torch.manualSeed(1)
local set = torch.load(opt.data)
local data, labels = set.data:double():div(16), set.labels:double()

local net = nn.Sequential()
   :add(nn.SpatialConvolution(1, 8, 3, 3))
   :add(nn.ReLU(true))
   :add(nn.SpatialMaxPooling(2, 2))
   :add(nn.View(8 * 3 * 3):setNumInputDims(3))
   :add(nn.Linear(8 * 3 * 3, 10))
   :add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
if opt.gpus > 0 then
   require 'cunn'
   net = nn.DataParallelTable(1):add(net, torch.range(1, opt.gpus):totable()):cuda()
   criterion, data, labels = criterion:cuda(), data:cuda(), labels:cuda()
end
print(net)

local parameters, gradients = net:getParameters()
local state = {learningRate = opt.learningRate, momentum = 0.9}
for epoch = 1, opt.epochs do
   local confusion = optim.ConfusionMatrix(10)
   local order = torch.randperm(data:size(1)):long()
   local total = 0
   for _, batch in ipairs(order:split(opt.batchSize)) do
      local input, target = data:index(1, batch), labels:index(1, batch)
      local function feval()
         gradients:zero()
         local output = net:forward(input)
         local loss = criterion:forward(output, target)
         net:backward(input, criterion:backward(output, target))
         confusion:batchAdd(output, target)
         total = total + loss * batch:size(1)
         return loss, gradients
      end
      optim.sgd(feval, parameters, state)
   end
   confusion:updateValids()
   print(('epoch %d: loss %.6f, %.2f%% right'):format(epoch, total / data:size(1), 100 * confusion.totalValid))
end
if opt.save ~= '' then torch.save(opt.save, net:clearState()) end
