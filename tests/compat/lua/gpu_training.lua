-- Small trainings as scripts write them; what they print, without a net of more than one device if `devices` is 1. With
-- `there` false everything stays on the CPU.
require 'cunn'
require 'optim'
require 'rnn'
require 'nngraph'

local Scale, parent = torch.class('nn.ScaleOfTest', 'nn.Module')
function Scale:__init(n)
   parent.__init(self)
   self.weight, self.gradWeight = torch.Tensor(n):fill(0.5), torch.Tensor(n):zero()
end
function Scale:updateOutput(x)
   self.buffer = self.buffer or x.new()
   self.buffer:resizeAs(x):copy(self.weight:view(1, -1):expandAs(x))
   self.output:resizeAs(x):cmul(x, self.buffer)
   return self.output
end
function Scale:updateGradInput(x, g)
   self.gradInput:resizeAs(x):cmul(g, self.buffer)
   return self.gradInput
end
function Scale:accGradParameters(x, g, scale) self.gradWeight:add(scale or 1, torch.cmul(x, g):sum(1):view(-1)) end

local function convolutions(second)
   return nn.Sequential():add(nn.SpatialConvolution(1, 2, 3, 3)):add(second):add(nn.ReLU(true))
      :add(nn.SpatialMaxPooling(2, 2)):add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(18, 4)):add(nn.LogSoftMax())
end

function trainings(there, devices)
   local lines = {}
   local function to(x) return there and x:cuda() or x:float() end
   local expected = there and 'torch.CudaTensor' or 'torch.FloatTensor'
   local function train(name, net, criterion, batch, optimize)
      net, criterion = to(net), to(criterion)
      local w, g = net:getParameters()
      assert(w:type() == expected and g:type() == expected)
      local state = {learningRate = 0.05}
      for i = 1, 3 do
         local x, y = batch()
         local _, losses = optimize(function()
            g:zero()
            local loss = criterion:forward(net:forward(x), y)
            net:backward(x, criterion:backward(net.output, y))
            g:clamp(-5, 5)
            return loss, g
         end, w, state)
         lines[#lines + 1] = string.format('%s %.4f', name, losses[1])
      end
      for _, result in ipairs{net.output, net.gradInput, criterion.gradInput} do
         while torch.type(result) == 'table' do result = result[1] end
         assert(torch.type(result) == expected, name .. ' has a result of the type ' .. torch.type(result))
      end
   end
   torch.manualSeed(1)
   local function images() return to(torch.randn(4, 1, 8, 8)), to(torch.LongTensor(4):random(1, 4)) end
   local function rows() return to(torch.randn(4, 6)), to(torch.rand(4, 6)) end
   for _, name in ipairs{'sgd', 'adam', 'rmsprop'} do
      train(name, convolutions(nn.SpatialBatchNormalization(2)), nn.ClassNLLCriterion(), images, optim[name])
   end
   local step = nn.Sequential():add(nn.FastLSTM(6, 5)):add(nn.Linear(5, 9)):add(nn.LogSoftMax())
   local words = nn.Sequential():add(nn.LookupTable(9, 6)):add(nn.SplitTable(1)):add(nn.Sequencer(step))
   train('lstm', words, nn.SequencerCriterion(nn.ClassNLLCriterion()), function()
      local targets = {}
      for i = 1, 3 do targets[i] = to(torch.LongTensor(2):random(1, 9)) end
      return to(torch.LongTensor(3, 2):random(1, 9)), targets
   end, optim.sgd)
   local input = nn.Identity()()
   local hidden = nn.Tanh()(nn.Linear(6, 6)(input))
   train('graph', nn.gModule({input}, {nn.CAddTable()({hidden, nn.Linear(6, 6)(input)})}), nn.MSECriterion(), rows, optim.sgd)
   local mine = nn.Sequential():add(nn.Linear(6, 6)):add(nn.ScaleOfTest(6)):add(nn.Sigmoid())
   train('mine', mine, nn.MSECriterion(), rows, optim.sgd)
   if there then
      assert(mine:get(2).buffer:type() == expected and mine:get(2).buffer:getDevice() == 1)
   end
   for _, container in ipairs{'one', 'several'} do
      local net = convolutions(nn.Identity())
      if there and container == 'several' and devices > 1 then
         net = nn.DataParallelTable(1, true):add(net:cuda(), torch.range(1, devices):totable())
      end
      train('in ' .. container, net, nn.ClassNLLCriterion(), images, optim.sgd)
      net:evaluate()
      local again = torch.deserialize(torch.serialize(net))
      local x = images()
      local difference = (again:forward(x):float() - net:forward(x):float()):abs():max()
      assert(difference < 1e-6, 'what was saved computes something else')
   end
   return table.concat(lines, '\n')
end
