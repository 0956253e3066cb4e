local threads = require 'threads'
local n, base = 2, 10
threads.Threads.serialization('threads.sharedserialize')
local pool = threads.Threads(n, function(id) require 'torch' end, function(id) worker = id; offset = base end)
local sums, order = {}, {}
for job = 1, 6 do
  pool:addjob(
    function(k) local x = torch.Tensor(3):fill(job * k); return job, x:sum() + offset, x end,
    function(j, s, x) sums[j] = s; order[#order + 1] = x[1] end,
    2)
end
pool:synchronize()
for j = 1, 6 do io.write(sums[j], ' ') end print(#order)
table.sort(order)
print(table.concat(order, ' '))
local total = 0
pool:addjob(function() return __threadid ~= nil, type(worker) end, function(a, b) total = total + 1; print(a, b, total) end)
pool:synchronize()
pool:terminate()
