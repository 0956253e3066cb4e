-- Records the models of torch-rnn and char-rnn, and checkpoints in their shape:
--   luajit record.lua FOLDER_OF_TORCH_RNN FOLDER_OF_CHAR_RNN
package.path = arg[1] .. '/?.lua;' .. arg[2] .. '/?.lua;' .. package.path
package.preload.cjson = function() return {} end  -- for files that are not needed here
require 'torch'
require 'nn'
require 'nngraph'
require 'LanguageModel'
require 'util.OneHot'
torch.setdefaulttensortype('torch.DoubleTensor')

local tokens = {'a', 'b', ' ', '\n', '\195', '\169'}

local function flat(tensors)
  local all = {}
  for i, tensor in ipairs(tensors) do all[i] = tensor:clone():view(-1) end
  return torch.cat(all, 1)
end

local cases = {}
for _, set in ipairs{{'lstm', 2, 0, 0}, {'rnn', 1, 0, 1}, {'lstm', 2, 0.5, 1}, {'rnn', 2, 0.5, 0}} do
  local kwargs = {idx_to_token = tokens, model_type = set[1], wordvec_size = 3, rnn_size = 4,
                  num_layers = set[2], dropout = set[3], batchnorm = set[4]}
  local case = {seed = 10 + #cases, kwargs = kwargs}
  torch.manualSeed(case.seed)
  local model = nn.LanguageModel(kwargs)
  local params, grads = model:parameters()
  case.params = flat(params)
  case.print = tostring(model)
  model:training()
  model:zeroGradParameters()
  case.calls = {}
  for i = 1, 2 do  -- the second goes on from the states of the first
    local call = {input = torch.Tensor(2, 5):random(1, #tokens), gradOutput = torch.randn(2, 5, #tokens)}
    call.seed = 20 + i
    torch.manualSeed(call.seed)
    call.output = model:forward(call.input):clone()
    model:backward(call.input, call.gradOutput)
    call.grads = flat(grads)
    case.calls[i] = call
  end
  model:evaluate()
  case.samples = {}
  for i, options in ipairs{{length = 30, start_text = 'ab', temperature = 0.7},
                           {length = 12, start_text = '', sample = 1},
                           {length = 12, start_text = 'b\195\169', sample = 0}} do
    torch.manualSeed(30)
    case.samples[i] = {options = options, text = model:sample(options)}
  end
  if #cases == 0 then
    model:resetStates()
    model:clearState()
    torch.save('torch_rnn.t7', {
      model = model:float(), i = 2, opt = {model_type = 'lstm', batch_size = 2, rnn_size = 4},
      train_loss_history = {3.5, 3.25}, val_loss_history = {}, forward_backward_times = {},
    })
  end
  cases[#cases + 1] = case
end

local onehot = OneHot(4)
local numbers = torch.Tensor{3, 1, 4, 1}
local ones = {input = numbers, output = onehot:forward(numbers):clone(), module = onehot}

torch.save('models.t7', {cases = cases, onehot = ones})

-- char-rnn: a net of single steps, whose options, vocabulary and states are tables.
torch.manualSeed(40)
local rnn = require('model.LSTM').lstm(4, 3, 1, 0)
local input = {torch.Tensor{2, 4}, torch.zeros(2, 3), torch.randn(2, 3)}
local output = rnn:forward(input)
torch.save('char_rnn.t7', {
  protos = {rnn = rnn, criterion = nn.ClassNLLCriterion()}, vocab = {a = 1, b = 2, [' '] = 3, ['\n'] = 4},
  opt = {rnn_size = 3, num_layers = 1, model = 'lstm'}, i = 7, epoch = 0.5,
  train_losses = {1.5, 1.25, 1}, val_losses = {[5] = 2}, -- by iteration
  input = input, output = output,
})
