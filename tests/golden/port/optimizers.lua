-- the same function by several methods
require 'optim'
require 'torch'
local function rosenbrock(x)
   local a, b = x[1], x[2]
   local f = (1 - a) ^ 2 + 100 * (b - a * a) ^ 2
   local g = torch.Tensor{-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)}
   return f, g
end
local methods = {
   {'sgd', optim.sgd, {learningRate = 1e-3, momentum = 0.5}},
   {'adam', optim.adam, {learningRate = 0.05}},
   {'adagrad', optim.adagrad, {learningRate = 0.1}},
   {'rmsprop', optim.rmsprop, {learningRate = 0.01}},
}
for _, m in ipairs(methods) do
   local name, method, state = m[1], m[2], m[3]
   local x = torch.Tensor{-0.5, 0.5}
   local first, last
   for i = 1, 20 do
      local _, fs = method(rosenbrock, x, state)
      first = first or fs[1]
      last = fs[1]
   end
   print(string.format('%-8s %.6f -> %.6f at %.5f %.5f', name, first, last, x[1], x[2]))
end
