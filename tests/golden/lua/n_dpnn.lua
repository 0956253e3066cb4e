-- Package dpnn: rewards, noise contrastive estimation, training by its methods, decorated files.
require 'dpnn'
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(11)
print(dpnn.version, torch.type(nn.Reinforce), nn.Module.dpnn_parameters[1])

-- A net that looks at images and is rewarded.
local locator = nn.Sequential():add(nn.Linear(4, 2)):add(nn.HardTanh()):add(nn.ReinforceNormal(0.3)):add(nn.Clip(-1, 1))
local eye = nn.ConcatTable():add(nn.SelectTable(1)):add(nn.Sequential():add(nn.SelectTable(2)):add(locator))
local scores = nn.Sequential():add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(2 * 9, 3)):add(nn.LogSoftMax())
local baseline = nn.Sequential():add(nn.Constant(1, 1)):add(nn.Add(1))
local both = nn.ConcatTable():add(scores):add(nn.ConcatTable():add(scores):add(baseline))
local net = nn.Sequential():add(eye):add(nn.Identity())
local head = nn.ConcatTable():add(nn.Identity()):add(baseline)
local images, hints = torch.randn(5, 1, 6, 6), torch.randn(5, 4)
print(net)
local labels = torch.LongTensor{1, 3, 2, 2, 1}
local reward = nn.VRClassReward(net, 2)
for step = 1, 3 do
   local place = net:forward{images, hints}
   local classes = nn.Linear(2, 3):forward(place[2])
   local guess = torch.Tensor(5, 1):fill(0.4)
   print(step, reward:forward({classes, guess}, labels))
   local gradients = reward:backward({classes, guess}, labels)
   print(gradients[1]:sum(), gradients[2]:sum(), reward.vrReward:sum())
   net:zeroGradParameters()
   net:backward({images, hints}, {torch.zeros(5, 1, 6, 6), torch.zeros(5, 2)})
   print(locator:get(1).gradWeight:norm())
   net:gradParamClip(0.5)
   print(locator:get(1).gradWeight:norm())
   net:updateGradParameters(0.9, 0)
   net:weightDecay(0.01)
   net:updateParameters(0.1)
   net:maxParamNorm(0.8)
end
print(locator:get(1).weight)
net:evaluate()
print(net:forward{images, hints}[2])

-- A class of one's own.
local Coin, parent = torch.class('nn.Coin', 'nn.Reinforce')
function Coin:__init(p)
   parent.__init(self)
   self.p = p
end
function Coin:updateOutput(input)
   self.output:resizeAs(input):bernoulli(self.p):cmul(input)
   return self.output
end
function Coin:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(self:rewardAs(input)):mul(-1)
   return self.gradInput
end
local coins = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Coin(0.5))
print(coins:forward(torch.ones(3, 2)))
coins:reinforce(torch.Tensor{1, -2, 3})
print(coins:backward(torch.ones(3, 2), torch.zeros(3, 2)))
print(coins)

-- Many classes.
local nce = nn.NCEModule(3, 20, 6, torch.range(1, 20))
local criterion = nn.NCECriterion()
local inputs, targets = torch.randn(8, 3), torch.LongTensor(8):random(1, 20)
for step = 1, 4 do
   local output = nce:forward{inputs, targets}
   local loss = criterion:forward(output, targets)
   nce:zeroGradParameters()
   local gradInput = nce:backward({inputs, targets}, criterion:backward(output, targets))
   nce:updateParameters(0.5)
   print(step, loss, gradInput[1]:norm(), #nce.output, nce.sampleidx:size(1))
end
nce.batchnoise = false
print(criterion:forward(nce:forward{inputs, targets}, targets))
nce.normalized = true
nce:evaluate()
print(nce:forward{inputs, targets}:sum())
print(nce.Z, nce.unigrams:sum())

-- Copies and files.
local mlp = nn.Sequential():extend(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
local clone = mlp:sharedClone()
mlp:get(1).weight:fill(0.5)
print(clone:get(1).weight:sum(), clone:get(1) == mlp:get(1))
local serial = mlp:Serial('torch.FloatTensor')
serial:forward(inputs)
serial:mediumSerial()
local again = torch.deserialize(torch.serialize(serial))
print(torch.type(again), again:type(), again:get(1):get(1).weight:sum(), serial:type())
print(again)
serial:lightSerial()
again = serial:clone()
print(again:get(1):get(1).weight:type())
print(mlp:outside{4, 3})
local function shape(size) return table.concat(size:totable(), ' ') end
print(shape(mlp:toBatch(torch.zeros(3), 1):size()), shape(mlp:fromBatch(torch.zeros(1, 2), 1):size()))

-- The rest.
print(nn.ArgMax(1, 1):forward(torch.randn(4, 3)))
print(nn.TotalDropout(0.5), nn.SpatialRegionDropout(0.3), nn.SimpleColorTransform(3, torch.ones(3)))
print(nn.PCAColorTransform(3, torch.eye(3), torch.ones(3)), nn.SpatialBinaryConvolution(3, 4, 3, 3), nn.FireModule(4, 2, 3, 3))
print(nn.ReinforceCategorical():forward(nn.SoftMax():forward(torch.randn(4, 3))))
print(nn.ReinforceBernoulli():forward(torch.rand(2, 5)))
print(nn.SpatialRegionDropout(0.3):forward(torch.ones(1, 4, 4)))
print(nn.SpatialFeatNormalization(torch.Tensor{1, 2}):forward(torch.ones(2, 1, 2)))
local entropy = nn.CategoricalEntropy()
local p = nn.SoftMax():forward(torch.randn(4, 3))
entropy:forward(p)
print(entropy:backward(p, torch.zeros(4, 3)), entropy.entropy)
local binary = nn.BinaryLogisticRegression()
print(binary:forward(torch.randn(4), torch.Tensor{1, -1, 1, -1}))
print(torch.random())
