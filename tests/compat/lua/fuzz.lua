-- One random program: `actions` calls of whatever there is, with whatever there is. See fuzz.py.
local python, seed, actions = ...
local t7 = torch._t7
local state = seed
-- Numbers of our own: programs may set the seeds of Lua and Torch7.
local function random(n)
   state = (state * 16807) % 2147483647
   return state % n + 1
end
local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

local KINDS = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'}
local NUMBERS = {0, 1, 2, 3, 4, 7, -1, -2, 0.5, 1.7, 100, 1e6, 2^31, -2^31, 2^32, 2^40, 2^53, 2^62, 2^63, -2^63, 1e300,
                 1 / 0, -1 / 0, 0 / 0}
local STRINGS = {'', 'a', '1', 'sum', 'torch.DoubleTensor', 'torch.LongStorage', 'nn.Linear', 'x\0y', ('z'):rep(300), 'N', 'U', '*a'}
-- What ends, changes or fills the machine instead of this program.
local LEFT_OUT = {exit = true, execute = true, PipeFile = true, setdefaulttensortype = true, setnumthreads = true,
                  setmetatable = true, newmetatable = true, popen = true, debug = true, read = true, lines = true,
                  include = true, save = true, load = true, DiskFile = true, getmetatable = true, class = true, data = true,
                  cdata = true, pushudata = true, apply = false, sleep = true, map_file = true}

local function names_of(t)
   local names = {}
   for name, value in pairs(t) do
      if type(name) == 'string' and not LEFT_OUT[name] and not name:find('^_') and type(value) == 'function' then
         names[#names + 1] = name
      end
   end
   table.sort(names)
   return names
end
local FUNCTIONS = names_of(torch)
local METHODS, STORAGE_METHODS = names_of(getmetatable(torch.DoubleTensor())), names_of(getmetatable(torch.DoubleStorage()))
local OPERATORS = {
   function(a, b) return a + b end, function(a, b) return a - b end, function(a, b) return a * b end,
   function(a, b) return a / b end, function(a, b) return a % b end, function(a) return -a end,
   function(a, b) return a == b end, function(a, b) return a .. b end, function(a) return #a end,
   function(a, b) return a[b] end, function(a, b, c) a[b] = c end, tostring, function(a, b) return a(b) end,
   function(a, b) return a < b end, function(a) for _ in pairs(a) do return end end,
   function(a, b) return a[{b}] end, function(a, b, c) a[{b, {1, 2}}] = c end, function(a, b, c) return a[{{b, c}}] end,
}

local pool = {}
local function keep(...)
   for i = 1, select('#', ...) do
      local value = (select(i, ...))
      if value ~= nil then pool[#pool < 40 and #pool + 1 or random(40)] = value end
   end
end
local function size() return random(4) - (chance(10) and 1 or 0) end
local function tensor()
   local make = torch[pick(KINDS) .. 'Tensor']
   local n = random(5) - 1
   local x = n == 0 and make() or n == 1 and make(size()) or n == 2 and make(size(), size()) or
      n == 3 and make(size(), size(), size()) or make(size(), size(), 1, size())
   return x:fill(random(5) - 2)
end

local function loop()
   local t = {1, {2}}
   t[3], t[2][2], t.self = t, t, t
   return t
end
local value
local MAKERS = {
   tensor, tensor, tensor, tensor,
   function() return torch[pick(KINDS) .. 'Storage'](random(8) - 1) end,
   function() return torch.LongStorage{size(), size()} end,
   function() return pick(NUMBERS) end, function() return pick(NUMBERS) end, function() return random(4) end,
   function() return pick(STRINGS) end, function() return chance(50) end,
   function() return {value(), value()} end, loop, function() return {} end,
   function() return function(...) return ... end end,
   function() return function() error(value()) end end,
   function() return python.identity end, function() return python.fail end, function() return pick(OPERATORS) end,
   function() return coroutine.create(function(...) return coroutine.yield(...) end) end,
   function() return coroutine.wrap(function(a) coroutine.yield(a) error(a) end) end,
   function() return torch.Generator() end, function() return torch.MemoryFile() end, function() return torch.Timer() end,
   function() return torch[pick(FUNCTIONS)] end,
   function()
      local proxy = newproxy(true)
      getmetatable(proxy).__gc = function() local x = torch.ones(3):sum() error('in a finaliser') end
      return proxy
   end,
   function()
      if not nn then return nil end
      local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh())
      if chance(30) then net:add(net:get(1)) end
      if chance(10) then net:add(net) end
      return pick{net, net:get(1), nn.View(-1), nn.MSECriterion(), nn.ConcatTable():add(net)}
   end,
}
function value()
   if #pool > 0 and chance(70) then return pick(pool) end
   return (pick(MAKERS)())
end
local function arguments() return value(), value(), value(), value(), value() end
local function some(n, ...)
   if n == 0 then return end
   return unpack({...}, 1, n)
end

-- Arguments as the signature of a function wants them, more or less.
local SIGNATURES = {}
for line in t7.signatures:gmatch('[^\n]+') do
   local name, forms = line:match('^[+-]?(%w+) %w+: (.*)$')
   if name and torch[name] and not LEFT_OUT[name] then
      for form in (forms .. ' |'):gmatch('%s*(.-)%s*%->[^|]*|') do SIGNATURES[#SIGNATURES + 1] = {name, form} end
   end
end
local function alike(x) return chance(60) and x:clone() or x end
local function fitting(form)
   local first = tensor()
   for _, v in ipairs(pool) do
      if torch.isTensor(v) and chance(30) then first = v end
   end
   local args, n = {}, 0
   for token in form:gmatch('%S+') do
      local given = true
      local v
      if token:find('^%[?real') or token:find('^%[?accreal') or token:find('^%[?double') then v = pick(NUMBERS)
      elseif token:find('^%[?index') or token:find('^%[?long') or token:find('^%[?int') then v = random(4) - 1
      elseif token == 'dims' then v = random(4)
      elseif token:find('^L') then v = torch.LongTensor(first:nElement()):fill(random(3))
      elseif token:find('^B') then v = torch.ByteTensor(first:nElement()):fill(random(2) - 1)
      elseif token == '{T}' then v = {first, alike(first)}
      elseif token:find('^%(') then v = token:sub(2, 2)
      elseif token == 'gen' then given = false
      elseif token:find('%[?boolean') then v = chance(50)
      elseif token:find('r') then given, v = chance(70), alike(first)
      else
         v = alike(first)
         local wanted = tonumber(token:match('%d'))
         if wanted == 2 and chance(80) then v = torch.ones(3, 3):type(first:type()) end
         if wanted == 1 and chance(80) then v = torch.ones(3):type(first:type()) end
      end
      if given then
         n = n + 1
         args[n] = chance(5) and value() or v
      end
   end
   return n, args
end

local ACTIONS = {
   function()
      local signature = pick(SIGNATURES)
      local n, args = fitting(signature[2])
      keep(torch[signature[1]](unpack(args, 1, n)))
   end,
   function()
      local signature = pick(SIGNATURES)
      local n, args = fitting(signature[2])
      keep(args[1][signature[1]](unpack(args, 1, n)))
   end,
   function() keep(torch[pick(FUNCTIONS)](some(random(6) - 1, arguments()))) end,
   function()
      local x = value()
      keep(x[pick(torch.isStorage(x) and STORAGE_METHODS or METHODS)](x, some(random(5) - 1, arguments())))
   end,
   function()
      local x = tensor()
      keep(x[pick(METHODS)](x, some(random(5) - 1, arguments())))
   end,
   function() keep(pick(OPERATORS)(arguments())) end,
   -- A storage changes its size under its views.
   function()
      local x = tensor()
      keep(x, x:storage(), x:narrow(1, 1, 1), x:select(1, 1), torch.DoubleStorage and x:view(-1))
      x:storage():resize(chance(50) and 0 or random(50))
      keep(x:clone())
   end,
   function()
      local x = value()
      x:resize(pick{0, 1, 5, 1000, 300000})
      keep(x, x:storage())
   end,
   function() keep(torch.Tensor(value(), value(), value(), value())) end,
   function() keep(value():set(value(), value(), value(), value())) end,
   function() keep(value():apply(chance(50) and function(v) return value() end or function() if chance(1) then collectgarbage() end end)) end,
   function() keep(value():map(value(), function(a, b) return a and b and a + b end)) end,
   -- The elements of a tensor whose storage its function takes away.
   function()
      local x = tensor()
      x:apply(function(v) x:storage():resize(random(3)) return v end)
      keep(x)
   end,
   function() collectgarbage(pick{'collect', 'step', 'count'}) end,
   function() for _ = 1, 5 do pool[random(40)] = nil end local rest = {} for _, v in pairs(pool) do rest[#rest + 1] = v end pool = rest end,
   function() keep(torch.deserialize(torch.serialize(value()))) end,
   function()
      local text = torch.serialize(value())
      local at = random(#text)
      keep(torch.deserialize(text:sub(1, at - 1) .. string.char(random(256) - 1) .. text:sub(at + 1)))
   end,
   -- Python: values go there and back, errors fly through its frames, Lua is called from there.
   function() keep(python.identity(arguments())) end,
   function() keep(python.keep(value())) end,
   function() keep(python.kept()) end,
   function() python.fail(value()) end,
   function() keep(python.call(value(), arguments())) end,
   function() python.call(function() error(value()) end) end,
   function() python.call(function() coroutine.yield(1) end) end,
   function() keep(python.change(value())) end,
   function()
      local function deeper(n) return python.call(deeper, n + 1) end
      deeper(1)
   end,
   function() local function deeper(x) return 1 + deeper(x + torch.ones(1)) end deeper(torch.ones(1)) end,
   function() local t = setmetatable({}, {}) getmetatable(t).__index = function(s, k) return s[k .. 'x'] end return t.x end,
   -- Coroutines.
   function()
      local co = coroutine.create(function() pick(ACTIONS)() coroutine.yield(value()) pick(ACTIONS)() end)
      for _ = 1, random(3) do keep(select(2, coroutine.resume(co))) end
      keep(co)
   end,
   function() keep(coroutine.resume(value(), arguments())) end,
   function() xpcall(function() pick(ACTIONS)() end, function(e) pick(ACTIONS)() return e end) end,
   function() keep(value():forward(value())) end,
   function() keep(value():backward(value(), value())) end,
   function()
      local object = value()
      object[pick{'weight', 'modules', 'output', 'gradInput', 'train', '_type'}] = value()
      tostring(object)
   end,
   function() keep(value()[pick{'clone', 'parameters', 'getParameters', 'clearState', 'float', '__tostring__', 'size'}](value())) end,
}

for _ = 1, actions do
   local ok, message = pcall(pick(ACTIONS))
   if not ok then tostring(message) end
end
