-- What operations give, as text: for tensors of a kind ('Cuda', 'Float', …) a list of lines, in which names of types have no
-- 'Cuda'. On devices every result must be on the first one.
require 'cutorch'
local OPERATIONS = {
   function(m, v) return m:gather(2, m:clone():remainder(3):add(1):cudaLong()) end,
   function(m, v) return m:clone():scatter(1, torch.CudaLongTensor{{1, 2, 3}}, m:narrow(1, 1, 1)) end,
   function(m, v) return m:index(1, torch.CudaLongTensor{3, 1}) end,
   function(m, v) return m:clone():indexFill(2, torch.CudaLongTensor{3, 1}, 5) end,
   function(m, v) return m:clone():indexCopy(1, torch.CudaLongTensor{3}, m:narrow(1, 1, 1)) end,
   function(m, v) return m:clone():indexAdd(1, torch.CudaLongTensor{3}, m:narrow(1, 1, 1)) end,
   function(m, v) return m[m:gt(4)], (m:gt(4):type()) end,
   function(m, v) local x = m:clone() x[x:le(3)] = 9 return x end,
   function(m, v) local x = m:clone() x:maskedCopy(x:gt(7), x:clone():fill(2)) return x end,
   function(m, v) return m:nonzero(), v:cat(v), torch.cat({m, m}, 1) end,
   function(m, v) return m:t():contiguous(), m:repeatTensor(2, 1), m:view(9), m:unfold(1, 2, 1):clone() end,
   function(m, v) return torch.range(m.new(), 1, 5), torch.linspace(m.new(), 0, 1, 4), torch.eye(m.new(), 3) end,
   function(m, v) return m.new():zeros(2, 2), m.new():ones(3), torch.logspace(m.new(), 0, 1, 3) end,
   function(m, v) return m:clone():uniform(), m:clone():normal(), m:clone():bernoulli(0.5), m:clone():random(1, 9) end,
   function(m, v) return torch.multinomial(v, 3), torch.randperm(v.new(), 5), m.new():rand(2, 2) end,
   function(m, v, p) return torch.inverse(p), torch.potrf(p), torch.gesv(m, p) end,
   function(m, v, p) return m:addmm(m, p), m:addr(v, v), torch.mm(m, p), torch.mv(m, v), v:dot(v) end,
   function(m, v) return m:sum(1), m:mean(2), m:std(), m:prod(), m:norm(2, 1), m:max(2) end,
   function(m, v) return m:sort(2, true) end,
   function(m, v) return m:topk(2), m:median(), m:cumsum(2), m:dist(m), m:trace() end,
   function(m, v, p) return torch.cdiv(m, p), torch.addcmul(m, 2, m, p), torch.cmax(m, p), torch.lerp(m, p, 0.5) end,
   function(m, v) return torch.exp(m), torch.pow(m, 2), torch.sigmoid(m), torch.clamp(m, 2, 5), torch.abs(m) end,
   function(m, v) return m + 1, 1 - m, m * 2, m / 2, m % 2, -m, m + m, m * m, m:lt(4), torch.ne(m, 4) end,
   function(m, v) return m:diag(), m:tril(), m:squeeze(), m:reshape(9), m:renorm(2, 1, 3), m:histc(3) end,
   function(m, v, p) return torch.conv2(m, p), torch.xcorr2(m, p, 'F') end,
   function(m, v)
      local sum = 0
      m:clone():apply(function(x) sum = sum + x end)
      return sum, m:clone():map(m, function(a, b) return a * b end), m:totable()[2][2], m:equal(m)
   end,
   function(m, v) local x = v:clone() x:resize(2, 2) x:storage():fill(7) return x, x:storage()[2], #x:storage() end,
   function(m, v)
      local x = v:clone():resize(20):zero()
      x[3], x[{{4, 6}}], x[{7}] = 5, 2, 1
      x:narrow(1, 8, 2):fill(3)
      return x, x[3], x[{4}]
   end,
   function(m, v) local x = m:clone() x:sub(1, 2):copy(m:sub(2, 3)) x:select(2, 1):add(5) x:t():mul(2) return x end,
   function(m, v) local x = m:clone() x:narrow(2, 1, 2):copy(x:narrow(2, 2, 2)) return x end,
   function(m, v) return torch.deserialize(torch.serialize(m:t())), tostring(m) end,
   function(m, v) return torch.deserialize(torch.serialize(m:t(), 'ascii'), 'ascii') end,
   function(m, v) return m:int(), m:byte(), m:double():cuda(), m:cudaHalf():float(), m:cudaInt() + 1, m:cudaByte():sum() end,
}

-- On the CPU the types that are named are those of the CPU.
local function on_cpu(f)
   local long, methods = torch.CudaLongTensor, {}
   torch.CudaLongTensor = torch.LongTensor
   local mts = {}
   for _, kind in ipairs{'Float', 'Double', 'Long', 'Int', 'Byte', 'Half'} do
      local mt = torch.getmetatable('torch.' .. kind .. 'Tensor')
      mts[mt] = {}
      for to, name in pairs{cuda = 'float', cudaLong = 'long', cudaHalf = 'half', cudaInt = 'int', cudaByte = 'byte'} do
         mts[mt][to] = rawget(mt, to)
         rawset(mt, to, mt[name])
      end
   end
   local ok, message = pcall(f)
   torch.CudaLongTensor = long
   for mt, known in pairs(mts) do for to, method in pairs(known) do rawset(mt, to, method) end end
   assert(ok, message)
end

local function text(x)
   if type(x) == 'number' then return string.format('%.4g', x) end
   if not torch.isTensor(x) then return (tostring(x):gsub('Cuda', '')) end
   if x:type():find('Cuda') then assert(x:getDevice() == 1, 'a result is not on the current device') end
   return (x:type():gsub('Cuda', '')) .. ' ' .. tostring(x:double())
end

function results(kind)
   local lines = {}
   local function run()
      for i, operation in ipairs(OPERATIONS) do
         torch.manualSeed(3)
         local name = 'torch.' .. kind .. 'Tensor'
         local m, v = torch.range(1, 9):resize(3, 3):type(name), torch.range(1, 3):type(name)
         local p = torch.eye(3):mul(4):add(1):type(name)
         local found = {pcall(operation, m, v, p)}
         for j = 2, #found do lines[#lines + 1] = i .. ' ' .. text(found[j]):gsub('torch%.Tensor', 'torch.FloatTensor') end
         if not found[1] and kind ~= 'CudaLong' and kind ~= 'Long' then error(found[2], 0) end
      end
   end
   if kind:find('Cuda') then run() else on_cpu(run) end
   return table.concat(lines, '\n')
end
