-- Records donkeys.t7: what two pools of donkeys do, see README.md. Run in this folder with Lua Torch7.
require 'nn'
require 'optim'
local threads = require 'threads'
threads.Threads.serialization('threads.sharedserialize')
torch.setdefaulttensortype('torch.FloatTensor')

local opt = {seed = 7, nClasses = 3, perClass = 5, loadSize = 10, cropSize = 7,
             batchSize = 4, epochSize = 3, nEpochs = 2, LR = 0.1, momentum = 0.9, weightDecay = 1e-3}

local function newDonkeys(n)
   local options = opt
   return threads.Threads(n,
      function() require 'torch' end,
      function(idx)
         opt = options
         tid = idx
         torch.setdefaulttensortype('torch.FloatTensor')
         torch.manualSeed(opt.seed + idx)

         local size, crop = opt.loadSize, opt.cropSize
         local function image(class, i) -- what a file would hold
            local img = torch.range(1, 3 * size * size):view(3, size, size)
            return img:mul(0.1 * class):add(i):sin()
         end
         local function cropped(img, x, y)
            return img[{{}, {y + 1, y + crop}, {x + 1, x + crop}}]
         end
         local function jittered(img)
            local y = math.ceil(torch.uniform(1e-2, size - crop))
            local x = math.ceil(torch.uniform(1e-2, size - crop))
            local out = cropped(img, x, y):clone()
            if torch.uniform() > 0.5 then
               out = out:index(3, torch.range(crop, 1, -1):long())
            end
            return out:add(-0.2):div(0.7)
         end
         local function batch(n)
            return torch.Tensor(n, 3, crop, crop), torch.Tensor(n)
         end

         trainLoader = {classes = {'one', 'two', 'three'}}
         function trainLoader:sample(n)
            local inputs, labels = batch(n)
            for i = 1, n do
               local class = math.ceil(torch.uniform(1e-2, opt.nClasses))
               local k = math.ceil(torch.uniform(1e-2, opt.perClass))
               inputs[i]:copy(jittered(image(class, k)))
               labels[i] = class
            end
            return inputs, labels
         end

         testLoader = {}
         function testLoader:size() return opt.nClasses * 2 end
         function testLoader:get(first, last)
            local inputs, labels = batch(last - first + 1)
            local middle = math.ceil((size - crop) / 2)
            for i = first, last do
               local class = (i - 1) % opt.nClasses + 1
               inputs[i - first + 1]:copy(cropped(image(class, 100 + i), middle, middle))
               labels[i - first + 1] = class
            end
            return inputs, labels
         end
         return idx, torch.initialSeed()
      end)
end

local recorded = {opt = opt}

-- One donkey: the batches come in the order of the jobs.
local donkeys = newDonkeys(1)
local nTest
donkeys:addjob(function() return trainLoader.classes end, function(c) recorded.classes = c end)
donkeys:addjob(function() return testLoader:size() end, function(n) nTest = n end)
donkeys:synchronize()

torch.manualSeed(opt.seed)
local model = nn.Sequential()
   :add(nn.SpatialConvolution(3, 4, 3, 3)):add(nn.ReLU()):add(nn.SpatialMaxPooling(2, 2))
   :add(nn.View(4 * 2 * 2)):add(nn.Linear(4 * 2 * 2, opt.nClasses)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local parameters, gradParameters = model:getParameters()
local optimState = {learningRate = opt.LR, momentum = opt.momentum, dampening = 0,
                    weightDecay = opt.weightDecay}
recorded.losses, recorded.labels, recorded.sums = {}, {}, {}
recorded.testLosses, recorded.right = {}, {}

local function trainBatch(inputs, labels)
   local function feval()
      model:zeroGradParameters()
      local outputs = model:forward(inputs)
      local err = criterion:forward(outputs, labels)
      model:backward(inputs, criterion:backward(outputs, labels))
      return err, gradParameters
   end
   local _, fs = optim.sgd(feval, parameters, optimState)
   table.insert(recorded.losses, fs[1])
   table.insert(recorded.labels, labels:clone())
   table.insert(recorded.sums, inputs:sum())
end

for epoch = 1, opt.nEpochs do
   model:training()
   for i = 1, opt.epochSize do
      donkeys:addjob(function() return trainLoader:sample(opt.batchSize) end, trainBatch)
   end
   donkeys:synchronize()
   model:evaluate()
   local loss, right = 0, 0
   for first = 1, nTest, opt.batchSize do
      local last = math.min(nTest, first + opt.batchSize - 1)
      donkeys:addjob(
         function() return testLoader:get(first, last) end,
         function(inputs, labels)
            local outputs = model:forward(inputs)
            loss = loss + criterion:forward(outputs, labels) * outputs:size(1)
            local _, best = outputs:max(2)
            right = right + best:view(-1):eq(labels:long()):sum()
         end)
   end
   donkeys:synchronize()
   table.insert(recorded.testLosses, loss / nTest)
   table.insert(recorded.right, right)
end
donkeys:terminate()

-- Two donkeys, each told its jobs: the batches of each come in the order of its jobs.
local pool, initres = newDonkeys(2)
table.sort(initres, function(a, b) return a[1] < b[1] end)
recorded.initres = initres
recorded.specific = {{}, {}}
pool:specific(true)
for job = 1, 6 do
   local id = (job - 1) % 2 + 1
   pool:addjob(id, function(n)
      local inputs, labels = trainLoader:sample(n)
      return tid, inputs:sum(), labels
   end, function(tid, sum, labels)
      table.insert(recorded.specific[tid], {sum, labels:clone()})
   end, job)
end
pool:synchronize()
pool:terminate()

torch.save('donkeys.t7', recorded)
print(recorded.losses, recorded.testLosses, recorded.right)
