-- A replay memory, epsilon-greedy policy, target nets
require 'nn'
torch.manualSeed(4)
math.randomseed(4)
local Memory = torch.class('ReplayMemory')
function Memory:__init(args)
   self.capacity = args.capacity
   self.dim = args.dim
   self.s = torch.FloatTensor(self.capacity, self.dim):fill(0)
   self.a = torch.LongTensor(self.capacity):fill(0)
   self.r = torch.zeros(self.capacity)
   self.term = torch.ByteTensor(self.capacity):fill(0)
   self.n, self.insertAt = 0, 0
end
function Memory:add(s, a, r, term)
   self.insertAt = self.insertAt % self.capacity + 1
   if self.n < self.capacity then self.n = self.n + 1 end
   self.s[self.insertAt]:copy(s)
   self.a[self.insertAt] = a
   self.r[self.insertAt] = r
   self.term[self.insertAt] = term and 1 or 0
end
function Memory:sample(n)
   local s = torch.FloatTensor(n, self.dim)
   local a, r, term = torch.LongTensor(n), torch.zeros(n), torch.ByteTensor(n)
   for i = 1, n do
      local j
      repeat j = torch.random(1, self.n) until self.term[j] == 0 or self.n < 3
      s[i] = self.s[j]
      a[i], r[i], term[i] = self.a[j], self.r[j], self.term[j]
   end
   return s, a, r, term
end
local net = nn.Sequential():add(nn.Linear(3, 8)):add(nn.ReLU()):add(nn.Linear(8, 2)):float()
local target = net:clone()
local mem = ReplayMemory{capacity = 6, dim = 3}
local state = torch.FloatTensor(3):uniform(-1, 1)
local eps, total = 1, 0
for step = 1, 12 do
   local q = net:forward(state)
   local action
   if torch.uniform() < eps then
      action = torch.random(1, 2)
   else
      local best, list = q[1], {1}
      for k = 2, q:size(1) do
         if q[k] > best then best, list = q[k], {k}
         elseif q[k] == best then list[#list + 1] = k end
      end
      action = list[torch.random(1, #list)]
   end
   local reward = action == 1 and 1 or -0.5
   total = total + reward
   local terminal = step % 5 == 0
   mem:add(state, action, reward, terminal)
   state = terminal and torch.FloatTensor(3):zero() or state:clone():add(0.1 * action)
   eps = math.max(0.1, eps - 0.1)
   if mem.n >= 4 and step % 2 == 0 then
      local s, a, r, term = mem:sample(4)
      local qt = target:forward(s):float()
      local max = qt:max(2):squeeze()
      local y = r:float() + max:clone():mul(0.9):cmul((term:float() * -1 + 1))
      local out = net:forward(s)
      local grad = out:clone():zero()
      for i = 1, 4 do grad[i][a[i]] = out[i][a[i]] - y[i] end
      net:zeroGradParameters()
      net:backward(s, grad)
      net:updateParameters(0.05)
      io.write(string.format('%d %.4f; ', step, grad:norm()))
   end
   if step % 6 == 0 then target = net:clone() end
end
print()
print(total, mem.n, mem.insertAt, eps, mem.term:sum())
print(torch.type(mem.s), mem.s[mem.insertAt]:size(1), mem.a:max())
local w = net:getParameters()
print(string.format('%.4f', w:norm()))
