-- a recurrent net unrolled by hand
require 'nn'
torch.manualSeed(8)
local H, T = 3, 4
local i2h, h2h, act = nn.Linear(2, H), nn.Linear(H, H), nn.Tanh()
local inputs = {}
for t = 1, T do inputs[t] = torch.randn(2) end
local states = {[0] = torch.zeros(H)}
for t = 1, T do
   states[t] = act:forward(i2h:forward(inputs[t]) + h2h:forward(states[t - 1])):clone()
end
for t = 0, T do print(t, string.format('%.6f', states[t]:sum())) end
local loss = 0
for t = T, 1, -1 do loss = loss + (states[t] - 0.5):pow(2):sum() / t end
print(string.format('%.8f', loss))
local history = {}
for t, s in ipairs(states) do table.insert(history, s:norm()) end
print(#history, history[1] < history[2])
