-- Records the files of this folder and of dpnn_criterion beside it: luajit record.lua FOLDER CRITERION_FOLDER, with
-- Torch7's dpnn. In the place of nnx there is what dpnn uses of it.
package.preload.nnx = function() return {} end
require 'dpnn'
torch.setdefaulttensortype('torch.DoubleTensor')
local folder, criterion_folder = arg[1], arg[2]

function with(object, field, value)
   object[field] = value
   return object
end

-- nnx's computation is that of nn's SpatialUpSamplingBilinear, for any gradOutput.
local ReSampling, parent = torch.class('nn.SpatialReSampling', 'nn.SpatialUpSamplingBilinear')
function ReSampling:__init(sizes) parent.__init(self, {oheight = sizes.oheight, owidth = sizes.owidth}) end
function ReSampling:updateGradInput(input, gradOutput)
   self:updateOutput(input)
   return parent.updateGradInput(self, input, gradOutput)
end

local function copied(value)
   if torch.isTensor(value) then return value:clone() end
   if type(value) ~= 'table' then return value end
   local copy = {}
   for key, entry in pairs(value) do copy[key] = copied(entry) end
   return copy
end

local function like(value)
   if torch.isTensor(value) then return value.new():resizeAs(value):copy(torch.randn(value:size())) end
   local made = {}
   for key, entry in ipairs(value) do made[key] = like(entry) end
   return made
end

local function is_empty(value)
   return value == nil or (torch.isTensor(value) and value:nElement() == 0)
end

local function as_file(object) return torch.deserialize(torch.serialize(object)) end

-- `before` is called with the module before the first pass, such as to set a field that no constructor sets.
local function case(name, ctor, input, options)
   options = options or {}
   local seed = 100 + #name + #ctor
   torch.manualSeed(seed)
   local module = loadstring('return ' .. ctor)()
   local result = {name = name, seed = seed, ctor = ctor, mode = options.mode or 'training'}
   result.params0 = module:parameters() and copied((module:parameters())) or nil
   if options.uncleared then result.cleared = false else module:clearState() end
   result.module = as_file(module)
   module = as_file(module)
   if result.mode == 'evaluate' then module:evaluate() else module:training() end
   result.input = copied(input)
   result.forwardSeed = 7
   torch.manualSeed(7)
   local output = module:forward(input)
   result.output = copied(output or module.output)
   if options.reward then
      result.reward = options.reward:clone()
      module:reinforce(options.reward)
   end
   if options.forward_only then return result end
   result.gradOutput = options.gradOutput or like(result.output)
   result.scale = options.scale or 1
   module:zeroGradParameters()
   module:backward(input, copied(result.gradOutput), result.scale)
   result.gradInput = copied(module.gradInput)
   if is_empty(result.gradInput) then result.gradInput = nil end
   if result.params0 then
      local _, gradients = module:parameters()
      result.gradParams = copied(gradients)
      module:updateParameters(0.1)
      result.params1 = copied((module:parameters()))
   end
   if options.extra then
      result.extra = {}
      for _, field in ipairs(options.extra) do result.extra[field] = copied(module[field]) end
   end
   return result
end

local function save(class, cases)
   torch.save(folder .. '/' .. class .. '.t7', {class = 'nn.' .. class, cases = cases})
end

torch.manualSeed(1)
local rows = torch.rand(5, 3)
local reward = torch.randn(5)
local function probabilities(n, k)
   local p = torch.rand(n, k) + 0.1
   return p:cdiv(p:sum(2):expandAs(p))
end
local image, images = torch.randn(2, 9, 8), torch.randn(3, 2, 9, 8)

save('Reinforce', {case('rows', 'nn.Reinforce()', rows, {reward = reward})})
save('ReinforceBernoulli', {
   case('rows', 'nn.ReinforceBernoulli()', rows, {reward = reward}),
   case('float', 'nn.ReinforceBernoulli():float()', rows:float(), {reward = reward:float()}),
   case('vector', 'nn.ReinforceBernoulli()', torch.rand(5), {reward = reward}),
   case('evaluate', 'nn.ReinforceBernoulli()', rows, {mode = 'evaluate', reward = reward}),
   case('stochastic', 'nn.ReinforceBernoulli(true)', rows, {mode = 'evaluate', reward = reward}),
})
save('ReinforceCategorical', {
   case('rows', 'nn.ReinforceCategorical()', probabilities(5, 4), {reward = reward}),
   case('float', 'nn.ReinforceCategorical():float()', probabilities(5, 4):float(), {reward = reward:float()}),
   case('evaluate', 'nn.ReinforceCategorical()', probabilities(5, 4), {mode = 'evaluate', reward = reward}),
})
save('ReinforceNormal', {
   case('number', 'nn.ReinforceNormal(0.3)', rows, {reward = reward}),
   case('float', 'nn.ReinforceNormal(0.3):float()', rows:float(), {reward = reward:float()}),
   case('sample', 'nn.ReinforceNormal(torch.Tensor({0.1, 2, 1}))', rows, {reward = reward}),
   case('table', 'nn.ReinforceNormal()', {rows, torch.rand(5, 3) + 0.5}, {reward = reward, uncleared = true}),
   case('one sample', 'nn.ReinforceNormal(0.5)', torch.rand(3), {reward = torch.Tensor{1.5}}),
   case('evaluate', 'nn.ReinforceNormal(0.3)', rows, {mode = 'evaluate', reward = reward}),
})
local weights = 'torch.Tensor({5, 1, 3, 2, 2, 4, 0.5})'
local features, labels = torch.randn(4, 3), torch.LongTensor{2, 7, 7, 1}
save('NCEModule', {
   case('batch noise', 'nn.NCEModule(3, 7, 5, ' .. weights .. ', 2)', {features, labels}, {scale = 0.5}),
   case('estimated', 'nn.NCEModule(3, 7, 5, ' .. weights .. ')', {features, labels}, {extra = {'Z'}}),
   case('own noise', "with(nn.NCEModule(3, 7, 5, " .. weights .. ", 2), 'batchnoise', false)", {features, labels}),
   case('own noise estimated', "with(nn.NCEModule(3, 7, 5, " .. weights .. "), 'batchnoise', false)", {features, labels}),
   case('float', 'nn.NCEModule(3, 7, 5, ' .. weights .. ', 1):float()', {features:float(), labels}),
   case('evaluate', 'nn.NCEModule(3, 7, 5, ' .. weights .. ', 2)', {features, labels}, {mode = 'evaluate'}),
   case('normalized', "with(nn.NCEModule(3, 7, 5, " .. weights .. ", 2), 'normalized', true)", {features, labels},
      {mode = 'evaluate', forward_only = true}),
   case('logarithms',
      "with(with(nn.NCEModule(3, 7, 5, " .. weights .. ", 2), 'normalized', true), 'logsoftmax', true)",
      {features, labels}, {mode = 'evaluate', forward_only = true}),
})
save('TotalDropout', {
   case('kept', 'nn.TotalDropout(0.1)', rows),
   case('dropped', 'nn.TotalDropout(0.9)', rows),
   case('evaluate', 'nn.TotalDropout()', rows, {mode = 'evaluate', forward_only = true}),
})
save('SpatialRegionDropout', {
   case('image', 'nn.SpatialRegionDropout(0.3)', image, {extra = {'regionType'}}),
   case('images', 'nn.SpatialRegionDropout(0.5)', images, {extra = {'regionType'}}),
   case('evaluate', 'nn.SpatialRegionDropout()', images, {mode = 'evaluate', forward_only = true}),
})
save('ArgMax', {
   case('vector', 'nn.ArgMax()', torch.randn(5), {gradOutput = torch.LongTensor{1}}),
   case('rows', 'nn.ArgMax(1, 1)', rows, {gradOutput = torch.LongTensor(5)}),
   case('columns', 'nn.ArgMax(1)', rows, {gradOutput = torch.LongTensor(3)}),
   case('numbers', 'nn.ArgMax(1, 1, false)', rows),
})
save('CategoricalEntropy', {
   case('rows', 'nn.CategoricalEntropy()', probabilities(4, 5), {extra = {'entropy'}}),
   case('scaled', 'nn.CategoricalEntropy(0.5, 12)', probabilities(4, 5), {extra = {'entropy'}}),
   case('enough', 'nn.CategoricalEntropy(1, 0.1)', probabilities(4, 5), {extra = {'entropy'}}),
   case('float', 'nn.CategoricalEntropy():float()', probabilities(4, 5):float()),
})
save('Clip', {
   case('rows', 'nn.Clip(0.3, 0.6)', rows),
   case('crossed', 'nn.Clip(0.6, 0.3)', rows),
   case('edge_values', 'nn.Clip(-1, 1)', torch.Tensor{-1, 1, 0, -2, 2, 0/0}),
})
save('FireModule', {
   case('usual', 'nn.FireModule(2, 2, 3, 2)', images),
   case('tanh', "nn.FireModule(2, 2, 3, 2, 'Tanh')", images, {scale = 0.5}),
})
save('SpatialBinaryConvolution', {
   case('image', 'nn.SpatialBinaryConvolution(2, 3, 3, 2)', image),
   case('images', 'nn.SpatialBinaryConvolution(2, 3, 3, 3, 2, 1, 1)', images, {scale = 0.5}),
   case('evaluate', 'nn.SpatialBinaryConvolution(2, 3, 3, 2)', images, {mode = 'evaluate', forward_only = true}),
})
save('SpatialFeatNormalization', {
   case('image', 'nn.SpatialFeatNormalization(torch.Tensor({1, 2}), torch.Tensor({0.5, 3}))', image),
   case('images', 'nn.SpatialFeatNormalization(torch.Tensor({1, 2}))', images),
})
save('SimpleColorTransform', {
   case('image', 'nn.SimpleColorTransform(2, torch.Tensor({1, 2}))', image),
   case('images', 'nn.SimpleColorTransform(2, torch.Tensor({1, 2}))', images),
   case('evaluate', 'nn.SimpleColorTransform(2, torch.Tensor({1, 2}))', images, {mode = 'evaluate', forward_only = true}),
})
local vectors = 'torch.Tensor({{0.6, 0.8}, {-0.8, 0.6}})'
save('PCAColorTransform', {
   case('image', 'nn.PCAColorTransform(2, ' .. vectors .. ', torch.Tensor({3, 1}))', image),
   case('images', 'nn.PCAColorTransform(2, ' .. vectors .. ', torch.Tensor({3, 1}), 0.5)', images),
   case('evaluate', 'nn.PCAColorTransform(2, ' .. vectors .. ', torch.Tensor({3, 1}))', images,
      {mode = 'evaluate', forward_only = true}),
})
save('SpatialUniformCrop', {
   case('image', 'nn.SpatialUniformCrop(4)', image),
   case('images', 'nn.SpatialUniformCrop(4, 5)', images),
   case('scaled', 'nn.SpatialUniformCrop(4, 5, {0.8, 1.4})', images),
   case('scaled with names', 'nn.SpatialUniformCrop(4, 5, {min = 0.5, max = 1})', image),
   case('evaluate', 'nn.SpatialUniformCrop(4, 5)', images, {mode = 'evaluate', forward_only = true}),
})
local places = torch.Tensor{{0, 0}, {-1, 0.3}, {0.9, 1}}
save('SpatialGlimpse', {
   case('image', 'nn.SpatialGlimpse(4)', {image, torch.Tensor{0.1, -0.7}}),
   case('images', 'nn.SpatialGlimpse(3)', {images, places}),
   case('oblong', 'nn.SpatialGlimpse({2, 4}, 2)', {images, places}),
   case('resampled', 'nn.SpatialGlimpse(3, 3, 1.5)', {images, places}),
   case('one', 'nn.SpatialGlimpse(5, 1)', {images, places}),
})

local function criterion_case(name, ctor, input, target)
   local seed = 100 + #name + #ctor
   torch.manualSeed(seed)
   local criterion = loadstring('return ' .. ctor)()
   local result = {name = name, seed = seed, ctor = ctor, criterion = as_file(criterion)}
   result.input, result.target = copied(input), copied(target)
   result.output = criterion:forward(input, target)
   result.gradInput = copied(criterion:backward(input, target))
   if criterion.module then result.reward = criterion.module.reward:clone() end
   return result
end
local function save_criterion(class, cases)
   torch.save(criterion_folder .. '/' .. class .. '.t7', {class = 'nn.' .. class, cases = cases})
end
local function signs(...) return torch.randn(...):sign() end

local scores, baseline = torch.randn(5, 3), torch.rand(5, 1)
save_criterion('VRClassReward', {
   criterion_case('rows', 'nn.VRClassReward(nn.Reinforce())', {scores, baseline}, torch.LongTensor{1, 3, 2, 2, 1}),
   criterion_case('scaled', 'nn.VRClassReward(nn.Reinforce(), 3, nn.AbsCriterion())', {scores, baseline}, torch.Tensor{1, 3, 2, 2, 1}),
   criterion_case('float', 'nn.VRClassReward(nn.Reinforce()):float()', {scores:float(), baseline:float()}, torch.IntTensor{1, 3, 2, 2, 1}),
   criterion_case('sample', 'nn.VRClassReward(nn.Reinforce())', {scores[1], baseline[1]}, torch.LongTensor{2}),
   criterion_case('sum', "with(nn.VRClassReward(nn.Reinforce()), 'sizeAverage', false)", {scores, baseline}, torch.LongTensor{1, 3, 2, 2, 1}),
})
save_criterion('BinaryClassReward', {
   criterion_case('rows', 'nn.BinaryClassReward(nn.Reinforce())', {torch.rand(5), baseline}, torch.LongTensor{1, 0, 0, 1, 1}),
   criterion_case('vectors', 'nn.BinaryClassReward(nn.Reinforce(), 2)', {torch.rand(5), torch.rand(5)}, torch.Tensor{1, 0, 0, 1, 1}),
})
save_criterion('BinaryLogisticRegression', {
   criterion_case('vector', 'nn.BinaryLogisticRegression()', torch.randn(6), signs(6)),
   criterion_case('column', 'nn.BinaryLogisticRegression(false)', torch.randn(6, 1), signs(6)),
   criterion_case('row', 'nn.BinaryLogisticRegression()', torch.randn(1, 6), signs(6, 1)),
   criterion_case('float', 'nn.BinaryLogisticRegression():float()', torch.randn(6):float(), signs(6):float()),
})
save_criterion('SpatialBinaryLogisticRegression', {
   criterion_case('image', 'nn.SpatialBinaryLogisticRegression()', torch.randn(1, 3, 4), signs(1, 3, 4)),
   criterion_case('images', 'nn.SpatialBinaryLogisticRegression()', torch.randn(2, 1, 3, 4), signs(2, 1, 3, 4)),
   criterion_case('sum', "with(nn.SpatialBinaryLogisticRegression(), 'sizeAverage', false)", torch.randn(2, 1, 3, 4), signs(2, 1, 3, 4)),
})
local chances = {torch.rand(4), torch.rand(4, 3), torch.rand(4), torch.rand(4, 3)}
local singles = {}
for i, chance in ipairs(chances) do singles[i] = chance:float() end
save_criterion('NCECriterion', {
   criterion_case('rows', 'nn.NCECriterion()', chances),
   criterion_case('sum', "with(nn.NCECriterion(), 'sizeAverage', false)", chances),
   criterion_case('float', 'nn.NCECriterion():float()', singles),
})
