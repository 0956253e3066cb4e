-- Records what modules and criterions make of NaN, infinity and 0: luajit record.lua nonfinite.t7
require 'nn'
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)

local inf, nan = math.huge, 0 / 0
local values = torch.Tensor{
   {nan, inf, -inf, 0, 1, -2}, {0.25, nan, -0.25, 7, -7, inf}, {0.5, -0.5, nan, -inf, nan, 3}}

local function copy(x)
   if torch.isTensor(x) then return x:clone() end
   if type(x) ~= 'table' then return x end
   local copies = {}
   for key, value in pairs(x) do copies[key] = copy(value) end
   return copies
end

local modules = {}
for _, ctor in ipairs{
   'nn.Threshold()', 'nn.Threshold(0.5, -2)', 'nn.Threshold(0, 0)', 'nn.Threshold(-1, 4)',
   'nn.Threshold(0, 0, true)', 'nn.ReLU()', 'nn.ReLU(true)', 'nn.ReLU6()', 'nn.ReLU6(true)',
   'nn.HardTanh()', 'nn.HardTanh(-2, 3)', 'nn.HardTanh(-1, 1, true)', 'nn.Clamp(-1, 2)',
   'nn.HardShrink()', 'nn.SoftShrink()', 'nn.Abs()', 'nn.SoftSign()', 'nn.LogSigmoid()',
   'nn.CReLU(1)', 'nn.LeakyReLU(0.2)', 'nn.LeakyReLU(0.2, true)', 'nn.ELU()', 'nn.PReLU()',
   'nn.PReLU(6)', 'nn.Tanh()', 'nn.Sigmoid()', 'nn.SoftMax()', 'nn.LogSoftMax()', 'nn.Sqrt()',
   'nn.Square()', 'nn.Max(2)', 'nn.Linear(6, 2)', 'nn.Normalize(2)'} do
   torch.manualSeed(7)
   local module, input = loadstring('return ' .. ctor)(), values:clone()
   local output = module:forward(input):clone()
   local gradOutput = torch.randn(output:size())
   local gradInput = module:backward(input, gradOutput:clone()):clone()
   table.insert(modules, {
      class = ctor:match('nn%.(%w+)'), name = ctor, ctor = ctor, seed = 7, input = values:clone(),
      output = output, gradOutput = gradOutput, gradInput = gradInput})
end

local flat = values:view(-1)
local signs = torch.Tensor(18):apply(function() return torch.random(2) * 2 - 3 end)
local other = torch.randn(18)
local labels = torch.Tensor{1, 6, 3}
local criterions = {}
for _, case in ipairs{
   {'nn.HingeEmbeddingCriterion()', flat, signs}, {'nn.HingeEmbeddingCriterion(0.25)', flat, -signs},
   {'nn.MarginCriterion()', flat, signs}, {'nn.MarginCriterion(0.5)', flat, -signs},
   {'nn.MarginRankingCriterion()', {flat, other}, signs},
   {'nn.MarginRankingCriterion()', {torch.Tensor{nan}, torch.Tensor{1}}, 1},
   {'nn.CosineEmbeddingCriterion()', {values, torch.ones(3, 6)}, torch.Tensor{-1, -1, -1}},
   {'nn.CosineEmbeddingCriterion(0.1)', {values:narrow(2, 5, 2), torch.ones(3, 2)},
      torch.Tensor{1, -1, -1}},
   {'nn.MultiMarginCriterion()', values, labels}, {'nn.MultiMarginCriterion(2)', values, labels},
   {'nn.MultiLabelMarginCriterion()', values,
      torch.Tensor{{2, 3, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, {6, 1, 0, 0, 0, 0}}},
   {'nn.MultiLabelSoftMarginCriterion()', torch.Tensor{inf, 1, -1}, torch.Tensor{0, 1, 0}},
   {'nn.SoftMarginCriterion()', flat, signs}, {'nn.MSECriterion()', flat, other},
   {'nn.AbsCriterion()', flat, other}, {'nn.SmoothL1Criterion()', flat, other},
   {'nn.ClassNLLCriterion()', values, labels}} do
   local ctor, input, target = unpack(case)
   local criterion = loadstring('return ' .. ctor)()
   local output = criterion:forward(copy(input), copy(target))
   table.insert(criterions, {
      class = ctor:match('nn%.(%w+)'), name = ctor, ctor = ctor, seed = 7, input = copy(input),
      target = copy(target), output = output,
      gradInput = copy(criterion:backward(copy(input), copy(target)))})
end

torch.save(arg[1], {modules = modules, criterions = criterions})
