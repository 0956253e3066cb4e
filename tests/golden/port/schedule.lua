-- A training script with schedule, early stopping, checkpoints and a log
require 'torch'
require 'nn'
require 'optim'
torch.manualSeed(42)
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:option('-lr', 0.1, 'learning rate')
cmd:option('-epochs', 4, 'epochs')
cmd:option('-batch', 5, 'batch size')
cmd:option('-clip', 1, 'largest gradient')
cmd:option('-name', 'net', 'name')
cmd:option('-verbose', false, 'more text')
local opt = cmd:parse(arg or {})

local Data = {}
Data.__index = Data

function Data.new(n)
   local self = setmetatable({}, Data)
   self.x = torch.randn(n, 6)
   self.w = torch.randn(6, 1)
   self.y = torch.mm(self.x, self.w):add(0.1):view(n)
   self.n = n
   self.at = 1
   return self
end

function Data:reset(shuffle)
   self.at = 1
   self.order = shuffle and torch.randperm(self.n):long() or torch.range(1, self.n):long()
   return self
end

function Data:next(size)
   if self.at > self.n then return nil end
   local last = math.min(self.at + size - 1, self.n)
   local idx = self.order[{{self.at, last}}]
   self.at = last + 1
   return self.x:index(1, idx), self.y:index(1, idx)
end

local function build(nin, nhid)
   local net = nn.Sequential()
   net:add(nn.Linear(nin, nhid)):add(nn.ReLU())
   net:add(nn.Dropout(0.2))
   net:add(nn.Linear(nhid, 1))
   net:add(nn.View(-1))
   return net
end

local net, criterion = build(6, 10), nn.MSECriterion()
local params, grads = net:getParameters()
local train, valid = Data.new(22), Data.new(8)
local config = {learningRate = opt.lr, momentum = 0.9, nesterov = true, dampening = 0}

local function evaluate(data)
   net:evaluate()
   data:reset()
   local total, count = 0, 0
   while true do
      local x, y = data:next(opt.batch)
      if not x then break end
      total = total + criterion:forward(net:forward(x), y) * x:size(1)
      count = count + x:size(1)
   end
   net:training()
   return total / count
end

local best, since, log = math.huge, 0, {}
for epoch = 1, opt.epochs do
   train:reset(true)
   local sum, n = 0, 0
   local x, y = train:next(opt.batch)
   while x do
      local feval = function(p)
         if p ~= params then params:copy(p) end
         grads:zero()
         local out = net:forward(x)
         local loss = criterion:forward(out, y)
         net:backward(x, criterion:backward(out, y))
         local norm = grads:norm()
         if norm > opt.clip then grads:mul(opt.clip / norm) end
         return loss, grads
      end
      local _, f = optim.sgd(feval, params, config)
      sum, n = sum + f[1], n + 1
      x, y = train:next(opt.batch)
   end
   local v = evaluate(valid)
   log[#log + 1] = {epoch = epoch, train = sum / n, valid = v}
   local mark = ''
   if v < best then
      best, since, mark = v, 0, ' *'
      torch.save(opt.name .. '.t7', {net = net:clone():clearState(), epoch = epoch, best = best, opt = opt, log = log})
   else
      since = since + 1
      if since >= 2 then
         config.learningRate = config.learningRate / 10
         since = 0
      end
   end
   print(('%2d | %.4f | %.4f | lr %g%s'):format(epoch, sum / n, v, config.learningRate, mark))
   if opt.verbose then print('verbose') end
end

local check = torch.load(opt.name .. '.t7')
print(check.epoch, string.format('%.4f', check.best), check.opt.lr, #check.log)
local again = check.net
again:evaluate()
valid:reset()
local x, y = valid:next(8)
print(string.format('%.4f', criterion:forward(again:forward(x), y)))
for i, entry in ipairs(log) do
   io.write(string.format('%d:%.3f ', entry.epoch, entry.valid))
end
print()
print(torch.type(params), params:size(1), x:type())
local lines = {}
for i = 1, 3 do lines[i] = table.concat({i, log[i].epoch, string.format('%.2f', log[i].train)}, '\t') end
print(table.concat(lines, '\n'))
