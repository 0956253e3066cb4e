require 'torch'
local threads = require 'threads'
local offset, shared = 10, torch.zeros(3)
local function helper(x) return x * 2 end
local pool, inits = threads.Threads(2, function(i) require 'torch' torch.manualSeed(i) seen = offset return i end,
                                    function(i) return i * 100 end)
local sum = 0
for _, init in ipairs(inits) do sum = sum + init[1] end
print(#inits, sum, pool:hasjob(), pool:specific())
local results = {}
for i = 1, 6 do
   pool:addjob(function(a, b) return helper(i) + seen, a, b, torch.type(shared), shared:sum() end,
               function(...) results[i] = {...} end, 'a', nil)
end
pool:synchronize()
for i = 1, 6 do print(i, results[i][1], results[i][2], results[i][3], results[i][4], results[i][5]) end
pool:specific(true)
for i = 1, 2 do pool:addjob(i, function() return __threadid, torch.uniform() end, function(id, u) results[i] = {id, u} end) end
pool:synchronize()
for i = 1, 2 do print(results[i][1], results[i][2]) end
pool:specific(false)
pool:addjob(function() shared:fill(1) return shared end, function(t) print(t[1], shared[1]) end)
pool:synchronize()
pool:addjob(function() error('boom') end)
local ok, message = pcall(pool.synchronize, pool)
print(ok, message:match('%[thread %d callback%] [^\n]*'):gsub('%d', 'N'):gsub('[%w./_-]*k_threads', 'k_threads'))
pool:synchronize()
pool:addjob(function() return 1 end, function() error('later') end)
ok, message = pcall(pool.synchronize, pool)
print(ok, message:find('endcallback', 1, true) ~= nil, message:find('later', 1, true) ~= nil)
pool:synchronize()
pool:terminate()
print(pool:isrunning(), pcall(pool.addjob, pool, function() end))

threads.Threads.serialization('threads.sharedserialize')
pool = threads.Threads(2)
for i = 1, 3 do pool:addjob(function() shared[i] = i end) end
pool:synchronize()
print(shared[1], shared[2], shared[3])
local count = torch.LongTensor{0}
local add = threads.safe(function() for i = 1, 1000 do count[1] = count[1] + 1 end end)
for i = 1, 4 do pool:addjob(add) end
pool:synchronize()
print(count[1])
pool:terminate()
