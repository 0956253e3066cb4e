-- 260 random statements over the library of torch: see README.txt.
local state = 1
local function lcg() state = (state * 16807) % 2147483647 return state end
local function unit() return lcg() / 2147483647 end
local MAX = {Byte = 255, Char = 127, Short = 32767, Int = 2^31 - 1, Long = 2^53}
local SPECIAL = {0, -0, 1, -1, 1/0, -1/0, 0/0, 0.5, -0.5, 1e10, -1e-10, 2.5, -2.5, 3, 1e-40, 1e30}
local SPECIALI = {0, 1, -1, 2, 127, -128, 255, 3, -3, 32767, 100}
local function value(kind, mode, i)
   local int = MAX[kind]
   if mode == 'inc' then return i end
   if mode == 'small' then
     local v = lcg() % 7 - 3
     if kind == 'Byte' and v < 0 then v = v + 7 end
     return v
   elseif mode == 'one' then return 1
   elseif mode == 'bool' then return lcg() % 2
   elseif mode == 'pos' then
     if int then return lcg() % 5 + 1 end
     return 0.1 + unit()
   elseif mode == 'wide' then
     if int then return math.floor((unit() * 2 - 1) * math.min(int, 2^53)) end
     return (unit() * 2 - 1) * 10 ^ (lcg() % 13 - 6)
   elseif mode == 'special' then
     if int then return SPECIALI[lcg() % #SPECIALI + 1] end
     return SPECIAL[lcg() % #SPECIAL + 1]
   end
   if int then return lcg() % 21 - (kind == 'Byte' and 0 or 10) end
   return unit() * 4 - 2
end
-- A tensor: kind, layout, mode, seed, sizes…
function mk(kind, layout, mode, seed, ...)
   local sizes = {...}
   local n = #sizes
   local T, S = torch[kind .. 'Tensor'], torch[kind .. 'Storage']
   if n == 0 then return T() end
   state = seed * 7919 % 2147483646 + 1
   for _ = 1, 3 do lcg() end
   local order = {}
   for i = 1, n do order[i] = i end
   if layout == 't' then for i = 1, n do order[i] = n + 1 - i end
   elseif layout == 'p' then for i = n, 2, -1 do local j = lcg() % i + 1 order[i], order[j] = order[j], order[i] end end
   local strides, z = {}, 1
   if layout == 's' then z = 2 end
   for i = n, 1, -1 do
     local d = order[i]
     strides[d] = z
     z = z * sizes[d]
     if layout == 's' and i > 1 then z = z + 1 end
   end
   if layout == 'x' then
     strides, z = {}, 1
     local which = lcg() % n + 1
     for d = n, 1, -1 do
       if d == which then strides[d] = 0 else strides[d] = z z = z * sizes[d] end
     end
   elseif layout == 'u' then
     for d = 1, n do strides[d] = n - d + 1 end
   end
   local off = (layout == 'o' or layout == 's') and 3 or 1
   local last = off
   for d = 1, n do last = last + (sizes[d] - 1) * strides[d] end
   local total = last + (layout == 'o' and 2 or 0)
   local st = S(total)
   for i = 1, total do st[i] = value(kind, mode, i) end
   return T(st, off, torch.LongStorage(sizes), torch.LongStorage(strides))
end
-- indices 1..max
function idx(seed, max, layout, ...)
   local t = mk('Long', layout, 'inc', seed, ...)
   local s = t:storage()
   state = seed * 104729 % 2147483646 + 1
   for _ = 1, 3 do lcg() end
   for i = 1, s:size() do s[i] = lcg() % max + 1 end
   return t
end
function mask(seed, layout, ...) return mk('Byte', layout, 'bool', seed, ...) end

local digits = '%.12g'
local function num(v)
   if v ~= v then return 'nan' end
   return string.format(digits, v)
end
local function join(l) return table.concat(l, ' ') end
local describe
local function tensor(x, name)
   digits = (name:find('Float') or name:find('Half')) and '%.5g' or '%.12g'
   local n = x:nDimension()
   local sz, st = {}, {}
   local zs, zt = x:size(), x:stride()
   for d = 1, n do sz[d], st[d] = zs[d], zt[d] end
   local s = x:storage()
   local vals = {}
   local count = n == 0 and 0 or 1
   for d = 1, n do count = count * sz[d] end
   if count > 3000 then count = 3000 end
   local c = {}
   for d = 1, n do c[d] = 0 end
   for i = 1, count do
     local o = x:storageOffset()
     for d = 1, n do o = o + c[d] * st[d] end
     vals[i] = num(s[o])
     for d = n, 1, -1 do c[d] = c[d] + 1 if c[d] < sz[d] then break end c[d] = 0 end
   end
   return name .. ' sz ' .. table.concat(sz, 'x') .. ' st ' .. table.concat(st, ',') .. ' off ' .. x:storageOffset() ..
     ' : ' .. join(vals)
end
function describe(v, seen)
   seen = seen or {}
   local t = type(v)
   if t == 'number' then return num(v)
   elseif t == 'string' then return 's' .. string.format('%q', v):gsub('\\\n', '\\n'):gsub('\r', '\\r')
   elseif t == 'nil' or t == 'boolean' then return tostring(v) end
   local name = torch.typename(v)
   if name and name:find('Tensor$') then
     local ok, text = pcall(tensor, v, name)
     return ok and text or name .. ' ??? ' .. text
   elseif name and name:find('Storage$') then
     local l = {}
     for i = 1, math.min(v:size(), 3000) do l[i] = num(v[i]) end
     return name .. ' ' .. v:size() .. ' : ' .. join(l)
   elseif t == 'table' then
     if seen[v] then return '<seen>' end
     seen[v] = true
     local keys = {}
     for k in pairs(v) do keys[#keys + 1] = k end
     table.sort(keys, function(a, b)
       if type(a) ~= type(b) then return type(a) < type(b) end
       if type(a) == 'number' or type(a) == 'string' then return a < b end
       return tostring(a) < tostring(b)
     end)
     local l = {}
     for i, k in ipairs(keys) do l[i] = (type(k) == 'string' and k or describe(k, seen)) .. '=' .. describe(v[k], seen) end
     return (name or '') .. '{' .. table.concat(l, '; ') .. '}'
   end
   return '<' .. (name or t) .. '>'
end
_G.describe = describe
local function results(n, ...)
   local l = {}
   for i = 1, n do l[i] = describe((select(i, ...))) end
   return l
end
local function clean(e)
   if type(e) ~= 'string' then return describe(e) end
   e = e:gsub('\n', ' ## '):gsub('\r', '\\r'):gsub('0x%x+', '0xPTR')
   return e
end
local failed
local function show(label, ok, ...)
   failed = failed or not ok
   if ok then
     print(label .. ' ok ' .. select('#', ...))
     for i, r in ipairs(results(select('#', ...), ...)) do print('  = ' .. r) end
   else
     print(label .. ' err ' .. clean((...)))
   end
end
function case(n, make, ...)
   print('@' .. n) io.stdout:flush()
   failed = false
   digits = '%.12g'
   torch.manualSeed(n)
   math.randomseed(n)
   torch.setdefaulttensortype('torch.DoubleTensor')
   local count, args
   local ok, e = pcall(function() args = {make()} end)
   if not ok then print('setup err ' .. clean(e)) return end
   count = 12
   for i = 1, select('#', ...) do
     show('s' .. i, pcall((select(i, ...)), unpack(args, 1, count)))
   end
   if failed then return end
   for i = 1, count do
     local v = args[i]
     if type(v) == 'userdata' or type(v) == 'table' then print('  a' .. i .. ' ' .. describe(v)) end
   end
end

case(1, function() local a1 = mk('Long', 'c', 'special', 978917, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.sign(a1) return r1, r2, r3 end)
case(2, function() local a1 = mk('Int', 'o', 'one', 615264, 2, 3); local a2 = mk('Int', 't', 'rand', 460491, 2, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = -a1 return r1, r2, r3 end)
case(3, function() local a1 = mk('Byte', 't', 'inc', 976095, 4); local a2 = idx(129905, 4, 'c', 1); local a3 = mk('Byte', 'p', 'one', 176692, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:indexCopy(1, a2, a3) return r1, r2, r3 end)
case(4, function() local a1 = {(function() local t = {1} t[2] = t return t end)(), ("x"):rep(20), {(function() local t = {1} t[2] = t return t end)(), (function() local t = {1} t[2] = t return t end)(), "z"}}; return a1 end,
     function(a1) local s = torch.serialize(a1, 'binary') return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, 'binary'), 'binary') return o end)
case(5, function() return nil end,
     function() local r1, r2, r3 = torch.log(0) return r1, r2, r3 end)
case(6, function() return nil end,
     function() local r1, r2, r3 = torch.rand(2,0) return r1, r2, r3 end)
case(7, function() local a1 = mk('Byte', 'c', 'small', 924427, 1, 1, 1, 2, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.expand(a1, torch.LongStorage{1, 2, 2, 2, 3}) return r1, r2, r3 end)
case(8, function() local a1 = mk('Byte', 's', 'special', 908183, 2, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.prod(a1) return r1, r2, r3 end)
case(9, function() return nil end,
     function() local r1, r2, r3 = torch.DoubleTensor.add(3) return r1, r2, r3 end)
case(10, function() local a1 = mk('Double', 'c', 'rand', 465417, 4, 2); local a2 = mk('Double', 'c', 'rand', 587435, 4); local a3 = mk('Double', 'o', 'pos', 735992, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.ger(a1, a2, a3) return r1, r2, r3 end)
case(11, function() local a1 = mk('Char', 'o', 'small', 182123, 2, 3, 3, 2); local a2 = mk('Char', 'c', 'inc', 803552, 36); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1 < a2 return r1, r2, r3 end)
case(12, function() local a1 = mk('Double', 'c', 'rand', 857839, 1, 3, 1, 3); local a2 = mk('Double', 'c', 'small', 809186, 1, 3, 1, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.bitand(a1, a2, -1) return r1, r2, r3 end)
case(13, function() local a1 = torch.MemoryFile(torch.CharStorage():string("\0"), 'w'); return a1 end,
     function(a1) local r1, r2 = a1:pedantic() return r1, r2 end,
     function(a1) local r1, r2 = tostring(a1) return r1, r2 end,
     function(a1) local r1, r2 = a1:pedantic() return r1, r2 end,
     function(a1) local r1, r2 = a1:isQuiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:littleEndianEncoding() return r1, r2 end)
case(14, function() local a1 = mk('Long', 'c', 'rand', 560849, 3); local a2 = mk('Long', 'p', 'rand', 435187, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.mode(a1, a2, 1) return r1, r2, r3 end)
case(15, function() local a1 = mk('Double', 'c', 'pos', 833110, 1, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.numel(a1) return r1, r2, r3 end)
case(16, function() local a1 = torch.CharStorage{1, 0}; return a1 end,
     function(a1) local r1, r2 = a1 == a1 return r1, r2 end)
case(17, function() local a1 = mk('Byte', 'c', 'pos', 529569, 5, 5); local a2 = mk('Byte', 't', 'inc', 986178, 3, 3); local a3 = mk('Byte', 'c', 'inc', 419974); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:match(a2, a3, 3, 1.9) return r1, r2, r3 end)
case(18, function() local a1 = mk('Double', 't', 'rand', 612446, 6); local a2 = mk('Double', 'o', 'small', 426044, 6); local a3 = mk('Double', 'c', 'special', 55239, 6); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:map2(a2, a3, 3) return r1, r2, r3 end)
case(19, function() local a1 = mk('Double', 'c', 'rand', 381056, 1, 4, 1); local a2 = mk('Double', 'p', 'small', 422606, 4, 3); local a3 = mk('Double', 't', 'small', 420791, 4, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.cfmod(a1, a2, a3) return r1, r2, r3 end)
case(20, function() local a1 = mk('Double', 't', 'rand', 848546, 5, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:ones(3, 4) return r1, r2, r3 end)
case(21, function() local a1 = torch.HalfTensor(); local a2 = torch.HalfStorage{1,2,3,4,5,6,7,8}; return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:set(a2, 3, torch.LongStorage{2},torch.LongStorage{2,1}) return r1, r2, r3 end)
case(22, function() local a1 = mk('Double', 'c', 'rand', 97734, 1); local a2 = torch.DoubleStorage{1,2,3,4,5,6,7,8}; return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1.new(a2, 3, torch.LongStorage{2,-1}) return r1, r2, r3 end)
case(23, function() local a1 = mk('Double', 'p', 'small', 694836, 2, 3); local a2 = idx(621481, 3, 't', 2); local a3 = mk('Double', 'c', 'rand', 21922, 4, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a3:index(a1, 2, a2) return r1, r2, r3 end)
case(24, function() local a1 = mk('Byte', 's', 'small', 897411, 1, 4, 3); local a2 = torch.ByteStorage{1,2,3,4,5,6,7,8}; return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1.new(a2, 2, torch.LongStorage{2},torch.LongStorage{2,1}) return r1, r2, r3 end)
case(25, function() local a1 = mk('Double', 'c', 'inc', 469334, 2, 4); local a2 = mk('Double', 's', 'pos', 874039, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:diag(a2) return r1, r2, r3 end)
case(26, function() local a1 = mk('Double', 'c', 'small', 838228, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.multinomial(a1, 100) return r1, r2, r3 end)
case(27, function() local a1 = mk('Long', 'c', 'rand', 726474, 2, 4); local a2 = mk('Long', 'c', 'small', 863771, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1 / a2 return r1, r2, r3 end)
case(28, function() local a1 = mk('Double', 'c', 'inc', 126819, 1, 4, 4); return a1 end,
     function(a1) local r1, r2, r3 = tostring(a1) return r1, r2, r3 end)
case(29, function() local a1 = torch.LongTensor(); local a2 = mk('Long', 'p', 'small', 904458, 1, 3, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:ne(a2, 3) return r1, r2, r3 end)
case(30, function() local a1 = mk('Byte', 't', 'inc', 334730, 4); local a2 = mk('Byte', 's', 'small', 19920, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.ByteTensor(a2) return r1, r2, r3 end)
case(31, function() local a1 = mk('Double', 'c', 'rand', 450247, 1, 2, 2); local a2 = mk('Double', 'c', 'small', 578602, 1, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:resizeAs(a2) return r1, r2, r3 end)
case(32, function() local a1 = {{}}; return a1 end,
     function(a1) local s = torch.serialize(a1, nil) return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, nil), nil) return o end)
case(33, function() local a1 = mk('Float', 't', 'rand', 357822, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.FloatTensor.random(a1, 2, 8) return r1, r2, r3 end)
case(34, function() local a1 = mk('Double', 'c', 'pos', 176151, 4, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:frac() return r1, r2, r3 end)
case(35, function() local a1 = mk('Byte', 'c', 'small', 726097, 3, 2, 5); local a2 = mk('Byte', 'o', 'small', 490008, 4, 3, 3, 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.xcorr2(a1, a2) return r1, r2, r3 end)
case(36, function() local a1 = mk('Short', 'c', 'rand', 577172, 3, 2, 1); local a2 = mask(99861, 't', 3, 2, 1); local a3 = torch.ShortTensor(); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a3:maskedSelect(a1, a2) return r1, r2, r3 end)
case(37, function() local a1 = mk('Char', 'c', 'special', 960874, 6); return a1 end,
     function(a1) return tostring(a1 * 1e7) end)
case(38, function() local a1 = mk('Long', 'x', 'small', 793304, 6); local a2 = mk('Long', 'c', 'bool', 267069, 6); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.crshift(a1, a2) return r1, r2, r3 end)
case(39, function() local a1 = mk('Double', 'c', 'rand', 930171, 1, 3, 2, 1, 2); return a1 end,
     function(a1) local r1, r2, r3 = tostring(a1) return r1, r2, r3 end)
case(40, function() local a1 = torch.ByteStorage{1, 1}; return a1 end,
     function(a1) local r1, r2 = a1:size() return r1, r2 end)
case(41, function() local a1 = mk('Long', 't', 'one', 170966, 2, 1); local a2 = mk('Long', 'c', 'small', 274791, 2, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cmin(a1, a2, 100) return r1, r2, r3 end)
case(42, function() local a1 = mk('Char', 't', 'wide', 382821, 5, 2); local a2 = mk('Char', 'c', 'rand', 298029, 5, 2); local a3 = mk('Char', 't', 'bool', 208525, 5, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.clshift(a1, a2, a3) return r1, r2, r3 end)
case(43, function() local a1 = torch.DoubleStorage{2}; return a1 end,
     function(a1) local r1, r2 = a1[2] return r1, r2 end)
case(44, function() local a1 = mk('Byte', 'c', 'rand', 427096, 4); local a2 = mk('Byte', 'c', 'rand', 233311, 4); local a3 = mk('Byte', 'x', 'one', 746044, 4, 3); local a4 = mk('Byte', 'c', 'small', 384010, 3); return a1, a2, a3, a4 end,
     function(a1, a2, a3, a4) local r1, r2, r3 = a1:addmv(5, 2, a2, -1.5, 100, a3, a4) return r1, r2, r3 end)
case(45, function() local a1 = mk('Int', 'c', 'special', 239648, 2, 4); local a2 = mk('Int', 'c', 'rand', 286583, 2, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:clamp(a2, 100, 4) return r1, r2, r3 end)
case(46, function() local a1 = mk('Double', 'c', 'rand', 334262, 3, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.DoubleTensor.torch.tril(a1) return r1, r2, r3 end)
case(47, function() local a1 = mk('Double', 'c', 'special', 544405, 5); return a1 end,
     function(a1) local r1, r2, r3 = torch.norm(a1) return r1, r2, r3 end)
case(48, function() local a1 = mk('Double', 's', 'rand', 85388, 2, 2); local a2 = mk('Double', 'c', 'small', 832280, 1, 4, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.ne(a1, a2, mk('Char', 'x', 'inc', 358181, 5)) return r1, r2, r3 end)
case(49, function() local a1 = torch.DoubleTensor(); return a1 end,
     function(a1) local r1, r2, r3 = a1:randn(2) return r1, r2, r3 end)
case(50, function() local a1 = torch.CharTensor(); local a2 = torch.CharStorage{1,2,3,4,5,6,7,8}; return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1.new(a2) return r1, r2, r3 end)
case(51, function() return nil end,
     function() local r1, r2, r3 = torch.atan2(1e3, 1.827) return r1, r2, r3 end)
case(52, function() local a1 = torch.CharStorage{-1.5, 2, -2, 0, 3}; return a1 end,
     function(a1) local r1, r2 = a1:string() return r1, r2 end)
case(53, function() local a1 = torch.MemoryFile(torch.CharStorage():string("12\0"), 'rw'); return a1 end,
     function(a1) local r1, r2 = a1:quiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:pedantic() return r1, r2 end,
     function(a1) local r1, r2 = a1:ascii() return r1, r2 end,
     function(a1) local r1, r2 = a1:longSize(3) return r1, r2 end,
     function(a1) local r1, r2 = a1:isReferenced() return r1, r2 end,
     function(a1) local r1, r2 = a1:isWritable() return r1, r2 end,
     function(a1) local r1, r2 = a1:readFloat(1) return r1, r2 end)
case(54, function() return nil end,
     function() local r1, r2, r3 = torch.ByteTensor.cat({mk('Byte', 'o', 'special', 426278, 3, 3)}, 1) return r1, r2, r3 end)
case(55, function() local a1 = mk('Long', 'c', 'wide', 503695, 12); return a1 end,
     function(a1) local r1, r2, r3 = torch.lt(a1, 3) return r1, r2, r3 end)
case(56, function() local a1 = mk('Double', 'c', 'pos', 887773, 5, 5); return a1 end,
     function(a1) local r1, r2, r3 = a1:transpose(2, 2) return r1, r2, r3 end)
case(57, function() local a1 = mk('Float', 'p', 'inc', 536484, 3, 4, 4); return a1 end,
     function(a1) return tostring(a1) end)
case(58, function() local a1 = mk('Char', 't', 'small', 903333, 4, 5); return a1 end,
     function(a1) a1[{1, 1}] = {1,2} return a1 end)
case(59, function() local a1 = mk('Float', 'o', 'rand', 229753, 5, 5); return a1 end,
     function(a1) local r1, r2, r3 = a1:bitand(2) return r1, r2, r3 end)
case(60, function() local a1 = {}; return a1 end,
     function(a1) local o = torch.deserialize(torch.serialize({1,2},'ascii'):sub(1,9), 'ascii') return o end)
case(61, function() local a1 = mk('Float', 'x', 'wide', 960807, 1, 5); return a1 end,
     function(a1) local r1, r2, r3 = a1:ceil() return r1, r2, r3 end)
case(62, function() local a1 = torch.MemoryFile(torch.CharStorage():string("abc"), 'rw'); return a1 end,
     function(a1) local r1, r2 = a1:synchronize() return r1, r2 end,
     function(a1) local r1, r2 = a1:isReferenced() return r1, r2 end,
     function(a1) local r1, r2 = a1:isQuiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:position() return r1, r2 end,
     function(a1) local r1, r2 = a1:writeChar(1e10) return r1, r2 end)
case(63, function() local a1 = mk('Double', 'c', 'small', 542044, 1, 2, 2, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.DoubleTensor.range(a1, 1, 0.5, 2) return r1, r2, r3 end)
case(64, function() local a1 = mk('Byte', 'c', 'small', 469515, 5, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:random() return r1, r2, r3 end)
case(65, function() local a1 = mk('Float', 'c', 'small', 7553, 4, 2); local a2 = mk('Float', 'p', 'rand', 798123, 4, 2); local a3 = mk('Float', 'c', 'small', 879955, 4, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:le(a2, a3) return r1, r2, r3 end)
case(66, function() local a1 = torch.LongStorage(); return a1 end,
     function(a1) local r1, r2 = torch.LongStorage({{1}}) return r1, r2 end)
case(67, function() local a1 = mk('Double', 'o', 'rand', 239803, 3); local a2 = idx(197275, 3, 'c', 1); local a3 = mk('Int', 'c', 'special', 137064, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:indexCopy(1, a2, a3) return r1, r2, r3 end)
case(68, function() local a1 = mk('Byte', 'c', 'rand', 495838, 2, 4); return a1 end,
     function(a1) a1[{2, 1}] = 1 return a1 end)
case(69, function() return nil end,
     function() local r1, r2, r3 = torch.cmul() return r1, r2, r3 end)
case(70, function() local a1 = mk('Double', 'c', 'small', 898933, 3, 1, 1, 1); local a2 = idx(356903, 3, 'c', 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:indexFill(1, a2, nil) return r1, r2, r3 end)
case(71, function() local a1 = mk('Float', 't', 'special', 45184, 2, 1, 3); return a1 end,
     function(a1) local r1, r2, r3 = torch.neg(a1, a1) return r1, r2, r3 end)
case(72, function() local a1 = torch.ShortStorage{3, -1.5, -1, 1.9}; return a1 end,
     function(a1) local r1, r2 = a1:type() return r1, r2 end)
case(73, function() local a1 = mk('Double', 'x', 'rand', 789499, 3, 2, 1, 1, 1); local a2 = mk('Double', 't', 'special', 993927, 3, 2, 1, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.eq(a1, a2, -2.3) return r1, r2, r3 end)
case(74, function() local a1 = -1; return a1 end,
     function(a1) local o = torch.deserialize("1\n2\n", 'ascii') return o end)
case(75, function() local a1 = mk('Float', 'c', 'wide', 726249, 4, 3, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.typename(a1) return r1, r2, r3 end)
case(76, function() local a1 = mk('Float', 't', 'rand', 472118, 6); return a1 end,
     function(a1) local r1, r2, r3 = a1:contiguous() return r1, r2, r3 end)
case(77, function() local a1 = mk('Byte', 's', 'small', 794268, 2, 1, 3, 2, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:select(5, 2) return r1, r2, r3 end)
case(78, function() local a1 = mk('Byte', 'c', 'small', 120193, 2, 1, 2, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:ones(torch.LongStorage{5, 2}) return r1, r2, r3 end)
case(79, function() local a1 = mk('Long', 'c', 'rand', 59466, 3, 5); return a1 end,
     function(a1) local r1, r2, r3 = torch.LongTensor("a") return r1, r2, r3 end)
case(80, function() local a1 = mk('Byte', 'c', 'rand', 493156, 3, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.sign(torch.MemoryFile()) return r1, r2, r3 end)
case(81, function() local a1 = torch.CharTensor(); local a2 = mk('Char', 'c', 'wide', 389289, 12); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:cremainder(a2) return r1, r2, r3 end)
case(82, function() return nil end,
     function() local r1, r2, r3 = torch.isStorage(torch.Tensor()) return r1, r2, r3 end)
case(83, function() local a1 = mk('Double', 't', 'rand', 530370, 2, 1, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:totable(coroutine.create(print)) return r1, r2, r3 end)
case(84, function() local a1 = mk('Char', 'c', 'small', 20408, 4, 2); local a2 = mk('Char', 'c', 'pos', 163884, 4, 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.bitor(a1, a2, 2.5) return r1, r2, r3 end)
case(85, function() local a1 = mk('Double', 'o', 'rand', 692239, 6); local a2 = idx(323635, 6, 'c', 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:indexFill(1, a2, 0.5) return r1, r2, r3 end)
case(86, function() return nil end,
     function() local r1, r2, r3 = torch.getconstructortable() return r1, r2, r3 end)
case(87, function() local a1 = mk('Int', 'c', 'small', 515096, 2, 1, 1, 3); local a2 = mk('Int', 'c', 'small', 714924, 2, 1, 3, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:add(a2) return r1, r2, r3 end)
case(88, function() local a1 = mk('Double', 'o', 'rand', 127421, 2, 3, 2, 1, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:tan() return r1, r2, r3 end)
case(89, function() local a1 = mk('Byte', 'c', 'special', 490868, 4); return a1 end,
     function(a1) local r1, r2, r3 = a1[{{0,1}}] return r1, r2, r3 end)
case(90, function() local a1 = mk('Long', 's', 'small', 252032, 1, 1); local a2 = idx(340434, 1, 'c', 1); local a3 = torch.LongTensor(); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a3:index(a1, 2, a2) return r1, r2, r3 end)
case(91, function() local a1 = torch.CharStorage(); return a1 end,
     function(a1) local r1, r2 = a1:totable() return r1, r2 end)
case(92, function() local a1 = mk('Double', 'c', 'rand', 342119, 4, 4, 4); return a1 end,
     function(a1) local r1, r2, r3 = tostring(a1) return r1, r2, r3 end)
case(93, function() local a1 = mk('Char', 't', 'pos', 471502, 1, 1, 1); local a2 = mk('Char', 'x', 'pos', 78832, 1, 1, 1); local a3 = mk('Char', 's', 'rand', 594768, 1, 1, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.cpow(torch.CharStorage(2), a2, a3) return r1, r2, r3 end)
case(94, function() return nil end,
     function() local r1, r2, r3 = torch.ShortTensor.geometric(0) return r1, r2, r3 end)
case(95, function() local a1 = mk('Long', 'c', 'small', 922854, 3, 1, 3); return a1 end,
     function(a1) return tostring(a1) end)
case(96, function() local a1 = mk('Long', 'c', 'small', 274651, 2, 3); local a2 = mk('Long', 't', 'pos', 852490, 1, 3); local a3 = mk('Long', 'c', 'wide', 307688, 4, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:mm(a2, a3) return r1, r2, r3 end)
case(97, function() local a1 = torch.FloatStorage(); return a1 end,
     function(a1) a1[2] = a1 return a1 end)
case(98, function() local a1 = mk('Double', 'c', 'rand', 426073, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:unfold(1, 2, 1) return r1, r2, r3 end)
case(99, function() local a1 = torch.MemoryFile('x'); return a1 end,
     function(a1) local r1, r2 = a1:storage() return r1, r2 end,
     function(a1) local r1, r2 = a1:referenced(true) return r1, r2 end,
     function(a1) local r1, r2 = a1:noBuffer() return r1, r2 end,
     function(a1) local r1, r2 = a1:quiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:writeString('x\ny') return r1, r2 end,
     function(a1) local r1, r2 = a1:quiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:isBinary() return r1, r2 end,
     function(a1) local s = a1:storage() return s end)
case(100, function() local a1 = mk('Double', 'p', 'small', 318626, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1[{2}] return r1, r2, r3 end)
case(101, function() local a1 = mk('Half', 'c', 'pos', 177681, 5); return a1 end,
     function(a1) local r1, r2, r3 = a1:narrow(1, 4, 1) return r1, r2, r3 end)
case(102, function() local a1 = torch.LongTensor(); local a2 = mk('Long', 'c', 'small', 857706, 1, 3, 9); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:clamp(a2, -1, 1) return r1, r2, r3 end)
case(103, function() local a1 = mk('Float', 'c', 'rand', 255845, 4, 1, 5); local a2 = mk('Float', 't', 'rand', 857, 3, 3, 3, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.xcorr2(a1, a2) return r1, r2, r3 end)
case(104, function() local a1 = -2.75; return a1 end,
     function(a1) local s = torch.serialize(a1, 'binary') return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, 'binary'), 'binary') return o end)
case(105, function() local a1 = mk('Double', 'c', 'inc', 820328, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:view(torch.LongStorage{3}) return r1, r2, r3 end)
case(106, function() local a1 = torch.MemoryFile(); return a1 end,
     function(a1) local r1, r2 = tostring(a1) return r1, r2 end,
     function(a1) local r1, r2 = a1:readLong(torch.LongStorage{2^40}) return r1, r2 end,
     function(a1) local r1, r2 = a1:bigEndianEncoding() return r1, r2 end,
     function(a1) local r1, r2 = a1:readBool() return r1, r2 end,
     function(a1) local r1, r2 = a1:noBuffer() return r1, r2 end,
     function(a1) local r1, r2 = a1:quiet() return r1, r2 end,
     function(a1) local s = a1:storage() return s end)
case(107, function() return nil end,
     function() local r1, r2, r3 = torch.DoubleTensor.torch.ceil(0) return r1, r2, r3 end)
case(108, function() local a1 = mk('Float', 'c', 'small', 426516, 2, 4, 2); local a2 = mk('Float', 'c', 'small', 237757, 3, 5); local a3 = mk('Float', 'p', 'wide', 869774, 2, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:xcorr2(a2, a3, 'F') return r1, r2, r3 end)
case(109, function() local a1 = torch.MemoryFile('w'); return a1 end,
     function(a1) local r1, r2 = a1:seek(3) return r1, r2 end,
     function(a1) local r1, r2 = a1:seekEnd() return r1, r2 end,
     function(a1) local r1, r2 = a1:isBinary() return r1, r2 end,
     function(a1) local r1, r2 = a1:writeString(3) return r1, r2 end,
     function(a1) local s = a1:storage() return s end)
case(110, function() local a1 = torch.DoubleTensor(); local a2 = mk('Double', 'o', 'pos', 186135, 3, 3, 2, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:mode(a2, 1) return r1, r2, r3 end)
case(111, function() local a1 = torch.MemoryFile(); return a1 end,
     function(a1) local r1, r2 = a1:readString('*l') return r1, r2 end,
     function(a1) local r1, r2 = a1:isWritable() return r1, r2 end,
     function(a1) local r1, r2 = a1:longSize(nil) return r1, r2 end,
     function(a1) local r1, r2 = a1:readBool() return r1, r2 end,
     function(a1) local r1, r2 = a1:isWritable() return r1, r2 end,
     function(a1) local s = a1:storage() return s end)
case(112, function() local a1 = mk('Int', 'c', 'rand', 123879, 1, 1, 2, 3); local a2 = idx(73928, 1, 'c', 1, 2); local a3 = mk('Int', 'c', 'small', 211418, 1, 2, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a3:index(a1, 1, a2) return r1, r2, r3 end)
case(113, function() local a1 = {}; return a1 end,
     function(a1) local s = torch.serialize(a1, 'ascii') return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, 'ascii'), 'ascii') return o end)
case(114, function() local a1 = mk('Short', 'x', 'inc', 627619, 5, 2); local a2 = mask(623541, 'c', 10); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:maskedSelect(a2) return r1, r2, r3 end)
case(115, function() return nil end,
     function() local r1, r2, r3 = torch.getnumthreads() > 0 return r1, r2, r3 end)
case(116, function() local a1 = torch.ByteStorage{5, -2, 0, 1, 0}; return a1 end,
     function(a1) local r1, r2 = a1:fill() return r1, r2 end)
case(117, function() local a1 = torch.DoubleTensor(); return a1 end,
     function(a1) local r1, r2, r3 = torch.cauchy(1) return r1, r2, r3 end)
case(118, function() local a1 = mk('Long', 'c', 'wide', 211728, 5, 4); local a2 = mk('Long', 'c', 'small', 44739, 2, 4); local a3 = mk('Long', 'c', 'rand', 488417, 7); local a4 = mk('Byte', 's', 'rand', 694792, 5, 5); return a1, a2, a3, a4 end,
     function(a1, a2, a3, a4) local r1, r2 = a3:apply(function(p) return p * 2 end) return r1, r2 end,
     function(a1, a2, a3, a4) local r1, r2 = torch.mm(a4, a4, a1) return r1, r2 end,
     function(a1, a2, a3, a4) local r1, r2 = a3:set(a2:storage(), 1, 2, 2) return r1, r2 end)
case(119, function() local a1 = mk('Float', 'c', 'small', 289933, 3, 2, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.clamp(a1, 1.646, 2) return r1, r2, r3 end)
case(120, function() local a1 = mk('Double', 'o', 'rand', 693116, 6); local a2 = (function() local g=torch.Generator() torch.manualSeed(g, 753594) return g end)(); local a3 = mk('Double', 'c', 'bool', 555723, 6); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:bernoulli(a3) return r1, r2, r3 end)
case(121, function() local a1 = mk('Int', 'c', 'pos', 779691, 2, 3); return a1 end,
     function(a1) local r1, r2, r3 = tostring(a1) return r1, r2, r3 end)
case(122, function() return nil end,
     function() local r1, r2, r3 = torch.atan2(1,2) return r1, r2, r3 end)
case(123, function() local a1 = mk('Double', 'x', 'inc', 643366, 4, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:triu(3) return r1, r2, r3 end)
case(124, function() local a1 = torch.IntStorage(); return a1 end,
     function(a1) local r1, r2 = torch.totable(a1) return r1, r2 end)
case(125, function() local a1 = mk('Int', 'c', 'small', 408105, 1); local a2 = idx(761786, 1, 'c', 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:index(1, a2) return r1, r2, r3 end)
case(126, function() return nil end,
     function() local r1, r2, r3 = torch.DoubleTensor.log1p(2) return r1, r2, r3 end)
case(127, function() local a1 = mk('Double', 'c', 'rand', 389509, 1); local a2 = mk('Double', 's', 'inc', 490247, 2, 5, 5); local a3 = mk('Double', 'c', 'rand', 60618, 2, 3, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.xcorr2(a1, a2, a3) return r1, r2, r3 end)
case(128, function() local a1 = mk('Float', 't', 'small', 974473, 5, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:__tostring__() return r1, r2, r3 end)
case(129, function() local a1 = torch.LongStorage(); return a1 end,
     function(a1) local r1, r2 = torch.isStorage(a1) return r1, r2 end)
case(130, function() local a1 = mk('Float', 'c', 'small', 478632, 1, 2, 3); return a1 end,
     function(a1) a1[torch.LongStorage{1, 2, 1}] = nil return a1 end)
case(131, function() local a1 = mk('Double', 'o', 'rand', 838524, 2, 3, 2, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.abs(mk('Long', 'o', 'wide', 959429, 6)) return r1, r2, r3 end)
case(132, function() local a1 = mk('Double', 'c', 'pos', 279122, 1); local a2 = idx(535658, 1, 'c', 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:indexFill(1, a2, -1) return r1, r2, r3 end)
case(133, function() local a1 = mk('Byte', 'c', 'small', 687146, 2, 2, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:crshift(a1) return r1, r2, r3 end)
case(134, function() local a1 = torch.FloatStorage{1e3, 1e3}; return a1 end,
     function(a1) local r1, r2 = tostring(a1) return r1, r2 end)
case(135, function() local a1 = mk('Double', 'c', 'small', 677261, 7); return a1 end,
     function(a1) local r1, r2, r3 = a1:sign() return r1, r2, r3 end)
case(136, function() local a1 = mk('Int', 'c', 'rand', 420848, 4, 3); local a2 = mk('Int', 'p', 'one', 912535, 2, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:diag(a2, 0.5) return r1, r2, r3 end)
case(137, function() local a1 = mk('Double', 'c', 'rand', 935803, 1, 2, 1); local a2 = mk('Double', 'x', 'rand', 855070, 1, 2, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.DoubleTensor.torch.cinv(a1, a2) return r1, r2, r3 end)
case(138, function() local a1 = mk('Short', 'c', 'wide', 304899, 1, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.squeeze(a1) return r1, r2, r3 end)
case(139, function() local a1 = mk('Short', 'p', 'rand', 415413, 3, 4); return a1 end,
     function(a1) local r1, r2, r3 = torch.trace(a1) return r1, r2, r3 end)
case(140, function() local a1 = mk('Double', 's', 'rand', 975612, 2, 2, 1); return a1 end,
     function(a1) a1[{1, 9, -1}] = nil return a1 end)
case(141, function() return nil end,
     function() local r1, r2, r3 = torch.FloatTensor.sqrt(0.1) return r1, r2, r3 end)
case(142, function() return nil end,
     function() local r1, r2, r3 = torch.FloatTensor.floor(3) return r1, r2, r3 end)
case(143, function() return nil end,
     function() local r1, r2, r3 = torch.getnumthreads() > 0 return r1, r2, r3 end)
case(144, function() return nil end,
     function() torch.class('K53923_A') return _G['K53923_A'] ~= nil end,
     function() local r1, r2 = torch.typename(_G['K53923_A']) return r1, r2 end,
     function() local r1, r2 = -_G['K53923_C']() return r1, r2 end,
     function() local r1, r2 = torch.factory('nosuch') return r1, r2 end,
     function() local r1, r2 = (function() _G['K53923_A'].__init = function(self, x) self.x = x end return _G['K53923_A'](5) end)() return r1, r2 end,
     function() local r1, r2 = torch.factory('K53923_A')() return r1, r2 end)
case(145, function() local a1 = mk('Double', 'c', 'rand', 1186, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.lshift(a1, 7) return r1, r2, r3 end)
case(146, function() local a1 = torch.ByteTensor(); local a2 = mk('Byte', 'c', 'small', 369423, 2, 3, 1, 1); local a3 = mk('Byte', 'o', 'rand', 391158, 2, 2, 2, 1, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.conv3(a1, a2, a3) return r1, r2, r3 end)
case(147, function() local a1 = mk('Double', 'c', 'small', 743755, 2, 3, 1); local a2 = mk('Double', 'c', 'wide', 943331, 2, 3, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.dot(a1, a2) return r1, r2, r3 end)
case(148, function() local a1 = mk('Double', 'c', 'inc', 898030, 1, 5); local a2 = mask(697961, 'c', 1, 5); local a3 = mk('Double', 'p', 'rand', 401272, 1, 5); return a1, a2, a3 end,
     function(a1, a2, a3) a1[a2] = a3 return a1 end)
case(149, function() local a1 = mk('Char', 'c', 'small', 777221, 4, 4); return a1 end,
     function(a1) local r1, r2, r3 = a1:geometric(1) return r1, r2, r3 end)
case(150, function() local a1 = mk('Double', 'c', 'rand', 295204, 3, 3, 2, 1); return a1 end,
     function(a1) local r1, r2, r3 = torch.norm(a1, 0, 3) return r1, r2, r3 end)
case(151, function() local a1 = mk('Double', 'c', 'small', 416270, 4); return a1 end,
     function(a1) local r1, r2, r3 = a1[torch.LongStorage{1.5}] return r1, r2, r3 end)
case(152, function() local a1 = mk('Long', 'c', 'small', 642345, 4, 28); return a1 end,
     function(a1) return tostring(a1:clone():fill(0/0)) end)
case(153, function() local a1 = torch.IntTensor(); local a2 = mk('Int', 'c', 'inc', 925924, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:cdiv(a2) return r1, r2, r3 end)
case(154, function() local a1 = mk('Long', 'c', 'small', 997984, 2, 1, 1, 3); local a2 = mk('Long', 'c', 'small', 89339, 2, 1, 1, 3); local a3 = mk('Long', 'p', 'pos', 80486, 2, 1, 1, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.gt(a1, a2, a3) return r1, r2, r3 end)
case(155, function() local a1 = mk('Double', 'c', 'small', 213235, 4, 5); local a2 = mk('Double', 'c', 'rand', 318239, 4); local a3 = mk('Double', 't', 'rand', 870431, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:ger(a2, a3) return r1, r2, r3 end)
case(156, function() local a1 = mk('Int', 'p', 'small', 945213, 2, 1, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:max(1) return r1, r2, r3 end)
case(157, function() local a1 = torch.DoubleTensor(); local a2 = mk('Double', 'o', 'small', 454396, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.DoubleTensor.rshift(a1, a2, 2) return r1, r2, r3 end)
case(158, function() local a1 = mk('Short', 'c', 'special', 249021, 4, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:stride(-1) return r1, r2, r3 end)
case(159, function() local a1 = mk('Long', 'c', 'wide', 584799, 1); local a2 = mk('Long', 'p', 'small', 402351, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.bitor(a1, a2, -1) return r1, r2, r3 end)
case(160, function() local a1 = torch.DoubleTensor(); local a2 = mk('Double', 'c', 'pos', 791169, 3, 4, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:cmax(a2, 3) return r1, r2, r3 end)
case(161, function() local a1 = mk('Double', 'c', 'small', 562151, 2, 1, 1); local a2 = mk('Double', 'c', 'rand', 579616, 2, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.DoubleTensor.torch.mod(a1, a2, 1) return r1, r2, r3 end)
case(162, function() return nil end,
     function() local r1, r2, r3 = torch.isequal(1,1) return r1, r2, r3 end)
case(163, function() local a1 = torch.FloatTensor(); return a1 end,
     function(a1) local r1, r2, r3 = a1:random(2, 1) return r1, r2, r3 end)
case(164, function() return nil end,
     function() local r1, r2, r3 = torch.exponential(2) return r1, r2, r3 end)
case(165, function() local a1 = mk('Double', 'c', 'small', 71329, 4, 2); local a2 = mk('Double', 'c', 'rand', 168373, 2, 1, 3, 2); local a3 = mk('Double', 'c', 'special', 496829, 2, 1, 3, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.DoubleTensor.cremainder(a1, a2, a3) return r1, r2, r3 end)
case(166, function() local a1 = mk('Int', 'x', 'small', 512307, 3); local a2 = mk('Int', 'c', 'small', 509774, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:cfmod(a2) return r1, r2, r3 end)
case(167, function() local a1 = mk('Float', 'c', 'one', 350515, 2, 2); local a2 = mk('Float', 's', 'special', 928993, 2, 3); local a3 = mk('Float', 't', 'pos', 783024, 2, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:match(a2, a3) return r1, r2, r3 end)
case(168, function() local a1 = mk('Byte', 'c', 'small', 488758, 3, 5); local a2 = mk('Byte', 'c', 'bool', 695686, 3, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.crshift(a1, a2) return r1, r2, r3 end)
case(169, function() local a1 = mk('Short', 'p', 'small', 120082, 3, 4, 1, 3); local a2 = mk('Short', 's', 'pos', 202209, 2, 3, 2, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:conv3(a2, 'V') return r1, r2, r3 end)
case(170, function() local a1 = mk('Long', 'p', 'small', 545983, 1, 23); return a1 end,
     function(a1) return tostring(a1) end)
case(171, function() local a1 = mk('Double', 'c', 'pos', 517006, 1, 2); return a1 end,
     function(a1) local r1, r2, r3 = torch.bitxor(a1, 1) return r1, r2, r3 end)
case(172, function() local a1 = mk('Byte', 'c', 'small', 987050, 1, 2, 2, 2); local a2 = mk('Byte', 'c', 'small', 370015, 2, 2, 2, 1); local a3 = (a1:dim() == 2 and a1:size(1) == a1:size(2) and a1:t() or a1:size(1) > 1 and a1:narrow(1, 2, a1:size(1) - 1) or a1); local a4 = mk('Byte', 'p', 'rand', 207793, 2, 2, 2, 1); return a1, a2, a3, a4 end,
     function(a1, a2, a3, a4) local r1, r2, r3 = a1:addcmul(a2, 5, a3, a4) return r1, r2, r3 end)
case(173, function() local a1 = mk('Double', 'p', 'inc', 481628, 4, 2); local a2 = idx(399010, 4, 't', 3); local a3 = mk('Double', 'c', 'rand', 858296, 3, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:indexAdd(1, a2, a3) return r1, r2, r3 end)
case(174, function() return nil end,
     function() local r1, r2, r3 = torch.abs(3) return r1, r2, r3 end)
case(175, function() local a1 = mk('Float', 'c', 'wide', 935930, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:t() return r1, r2, r3 end)
case(176, function() local a1 = mk('Float', 'c', 'rand', 348279, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:mode(1) return r1, r2, r3 end)
case(177, function() local a1 = mk('Int', 'c', 'rand', 276850, 1, 3, 1); local a2 = mk('Double', 's', 'special', 996404, 3, 1); return a1, a2 end,
     function(a1, a2) a1[1] = a2 return a1 end)
case(178, function() local a1 = mk('Long', 'c', 'small', 438749, 2, 2, 4); local a2 = mk('Int', 'c', 'pos', 145040, 2, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.IntTensor.mode(a1, a2, 2) return r1, r2, r3 end)
case(179, function() return nil end,
     function() local r1, r2, r3 = torch.ones(2,"3") return r1, r2, r3 end)
case(180, function() local a1 = mk('Byte', 's', 'rand', 152655, 3, 3); local a2 = mk('Byte', 'o', 'small', 849745, 9); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cbitand(a1, a2) return r1, r2, r3 end)
case(181, function() local a1 = mk('Byte', 'c', 'special', 794060, 3, 2); local a2 = mk('Byte', 'p', 'wide', 5302, 3, 2); local a3 = mk('Byte', 's', 'rand', 107567, 4, 3, 1); local a4 = mk('Byte', 'c', 'small', 202041, 4, 1, 2); return a1, a2, a3, a4 end,
     function(a1, a2, a3, a4) local r1, r2, r3 = torch.ByteTensor.torch.addbmm(a1, 5, a2, 0, a3, a4) return r1, r2, r3 end)
case(182, function() local a1 = mk('Double', 'x', 'pos', 606166, 2); local a2 = mk('Double', 't', 'pos', 980914, 2); local a3 = torch.DoubleTensor(); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.expandAs(a3, a1, a2) return r1, r2, r3 end)
case(183, function() local a1 = torch.MemoryFile(torch.CharStorage():string("12\0"), 'w'); return a1 end,
     function(a1) local r1, r2 = a1:writeBool(true) return r1, r2 end,
     function(a1) local r1, r2 = a1:isBinary() return r1, r2 end,
     function(a1) local r1, r2 = a1:binary() return r1, r2 end,
     function(a1) local r1, r2 = a1:seekEnd() return r1, r2 end,
     function(a1) local r1, r2 = a1:seek(7) return r1, r2 end,
     function(a1) local r1, r2 = a1:bigEndianEncoding() return r1, r2 end,
     function(a1) local r1, r2 = a1:isBinary() return r1, r2 end)
case(184, function() local a1 = mk('Float', 'c', 'rand', 67493, 2, 4, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:unfold(3, 1, 1) return r1, r2, r3 end)
case(185, function() local a1 = mk('Double', 'p', 'rand', 189275, 1, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:csub(2) return r1, r2, r3 end)
case(186, function() local a1 = mk('Double', 'o', 'rand', 772886, 4, 2); local a2 = idx(918473, 2, 'c', 2); local a3 = mk('Double', 'c', 'rand', 755989, 4, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:indexCopy(2, a2, a3) return r1, r2, r3 end)
case(187, function() local a1 = mk('Double', 'c', 'rand', 223590, 3, 2, 3); local a2 = mk('Double', 'c', 'rand', 144995, 3, 2, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.lerp(a1, a2, -1) return r1, r2, r3 end)
case(188, function() local a1 = mk('Short', 'c', 'rand', 741762, 4, 5); local a2 = mk('Short', 'c', 'pos', 537740, 4, 5); local a3 = idx(311371, 5, 'c', 4, 4); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:gather("3", 2, a3) return r1, r2, r3 end)
case(189, function() return nil end,
     function() local r1, r2, r3 = torch.toc() return r1, r2, r3 end)
case(190, function() local a1 = torch.ShortTensor(); local a2 = mk('Short', 'o', 'special', 108406, 5, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:bitxor(a2, 2) return r1, r2, r3 end)
case(191, function() local a1 = mk('Short', 't', 'rand', 127797, 3, 4, 4); return a1 end,
     function(a1) local r1, r2, r3 = a1:apply(function(x) return nil end) return r1, r2, r3 end)
case(192, function() return nil end,
     function() local r1, r2, r3 = 1 return r1, r2, r3 end)
case(193, function() local a1 = mk('Float', 'c', 'rand', 982497, 1, 3); return a1 end,
     function(a1) a1[{{}, 1}] = a1 return a1 end)
case(194, function() local a1 = mk('Int', 'c', 'inc', 70593, 2, 3); local a2 = mk('Int', 'c', 'small', 785761, 20); local a3 = mk('Int', 'c', 'bool', 913815, 4, 5); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.crshift(a1, a2, a3) return r1, r2, r3 end)
case(195, function() local a1 = mk('Float', 'x', 'rand', 320534, 3, 3, 3, 3); return a1 end,
     function(a1) local r1, r2, r3 = a1:size("a") return r1, r2, r3 end)
case(196, function() local a1 = torch.DoubleStorage{-2.3, -1, 1.693, 0.1, 1, -2.3}; return a1 end,
     function(a1) local r1, r2 = torch.typename(a1) return r1, r2 end)
case(197, function() local a1 = mk('Float', 't', 'small', 642057, 1, 4); local a2 = mk('Float', 's', 'rand', 712790, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.xcorr2(a1, a2) return r1, r2, r3 end)
case(198, function() local a1 = mk('Double', 'o', 'rand', 287578, 3, 2, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:isSize(torch.LongStorage{3, 2, 2}) return r1, r2, r3 end)
case(199, function() local a1 = mk('Byte', 'c', 'small', 284345, 1, 3); local a2 = mk('Byte', 'c', 'rand', 293297, 1, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:ne(a2) return r1, r2, r3 end)
case(200, function() local a1 = mk('Double', 'c', 'rand', 158450, 3, 1); local a2 = mk('Double', 'x', 'small', 734193, 3, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.diag(a1, a2) return r1, r2, r3 end)
case(201, function() local a1 = torch.FloatTensor(); local a2 = mk('Float', 'c', 'rand', 374630, 4, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cos(a1, a2) return r1, r2, r3 end)
case(202, function() local a1 = mk('Int', 'c', 'small', 913531, 3, 2); local a2 = mk('Int', 'c', 'one', 728244, 1, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:prod(a2, 2) return r1, r2, r3 end)
case(203, function() local a1 = torch.FloatTensor(); return a1 end,
     function(a1) local r1, r2, r3 = torch.eye(a1, 3) return r1, r2, r3 end)
case(204, function() local a1 = mk('Double', 'c', 'rand', 980730, 5); local a2 = mk('Double', 'c', 'small', 654436, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = #a1 return r1, r2, r3 end)
case(205, function() local a1 = mk('Double', 'c', 'wide', 146906, 4, 2, 3); return a1 end,
     function(a1) return tostring(a1:storage()) end)
case(206, function() return nil end,
     function() torch.class('K659896_A') return _G['K659896_A'] ~= nil end,
     function() local r1, r2 = _G['K659896_A'].new return r1, r2 end,
     function() local r1, r2 = torch.typename(nil) return r1, r2 end,
     function() local r1, r2 = torch.typename(_G['K659896_A']()) return r1, r2 end)
case(207, function() local a1 = mk('Double', 'x', 'small', 258579, 3, 1, 1); local a2 = mk('Int', 'p', 'small', 369495, 3, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:resizeAs(a2) return r1, r2, r3 end)
case(208, function() local a1 = (function() local t = {1} t[2] = t return t end)(); return a1 end,
     function(a1) local s = torch.serialize(a1, nil) return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, nil), nil) return o end)
case(209, function() local a1 = mk('Int', 'c', 'rand', 967997, 2, 2); return a1 end,
     function(a1) local r1, r2, r3 = torch.IntTensor.cmax(a1, 1) return r1, r2, r3 end)
case(210, function() local a1 = mk('Float', 'c', 'special', 548347, 6); return a1 end,
     function(a1) local r1, r2, r3 = a1:max() return r1, r2, r3 end)
case(211, function() local a1 = mk('Double', 'c', 'small', 223409, 3, 2, 3, 1); local a2 = mk('Double', 'c', 'pos', 709395, 3, 2, 3, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cosh(a1, 0/0, a2) return r1, r2, r3 end)
case(212, function() local a1 = torch.CharTensor(); return a1 end,
     function(a1) local r1, r2, r3 = a1:split(1, 1) return r1, r2, r3 end)
case(213, function() local a1 = mk('Int', 'c', 'small', 842652, 2); return a1 end,
     function(a1) local r1, r2, r3 = a1:stride(nil) return r1, r2, r3 end)
case(214, function() local a1 = mk('Byte', 'c', 'rand', 298850, 5, 4); local a2 = mask(620461, 's', 5, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:maskedSelect(a2) return r1, r2, r3 end)
case(215, function() local a1 = torch.DoubleTensor(); local a2 = mk('Double', 'c', 'small', 21382, 3, 4); local a3 = mk('Double', 'o', 'one', 983910, 3, 4); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.DoubleTensor.torch.cbitor(a1, a2, a3) return r1, r2, r3 end)
case(216, function() local a1 = mk('Double', 'c', 'rand', 363521, 1, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:tril(1.5) return r1, r2, r3 end)
case(217, function() return nil end,
     function() local r1, r2, r3 = torch.logspace(1, 2, 8) return r1, r2, r3 end)
case(218, function() local a1 = mk('Int', 'c', 'special', 850736, 3, 4, 4); local a2 = mk('Int', 's', 'small', 242502, 3, 4, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1 < a2 return r1, r2, r3 end)
case(219, function() local a1 = mk('Short', 't', 'small', 143431, 1, 3, 2); return a1 end,
     function(a1) local r1, r2, r3 = torch.ShortTensor.bitxor(a1, 0) return r1, r2, r3 end)
case(220, function() local a1 = mk('Half', 'c', 'small', 536103, 1, 4, 1); local a2 = mk('Half', 'c', 'small', 431545, 1, 4, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:resizeAs(a2) return r1, r2, r3 end)
case(221, function() return nil end,
     function() local r1, r2, r3 = torch.range(0) return r1, r2, r3 end)
case(222, function() local a1 = torch.LongTensor(); local a2 = mk('Long', 'p', 'inc', 591173, 3, 4, 4, 1); local a3 = mk('Long', 'c', 'small', 330796, 3, 2, 2, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.xcorr3(a1, a2, a3) return r1, r2, r3 end)
case(223, function() return nil end,
     function() local r1, r2, r3 = torch.frac(-2.3) return r1, r2, r3 end)
case(224, function() local a1 = mk('Double', 'o', 'rand', 464929, 5, 4); return a1 end,
     function(a1) local r1, r2, r3 = a1[true] return r1, r2, r3 end)
case(225, function() return nil end,
     function() local r1, r2, r3 = torch.CharTensor.cmin(1.9) return r1, r2, r3 end)
case(226, function() local a1 = mk('Int', 'c', 'small', 409434, 3, 2, 4); local a2 = idx(670064, 3, 'c', 3, 2, 4); local a3 = mk('Int', 't', 'small', 85324, 3, 2, 4); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.IntTensor.scatter(a1, 1, a2, print) return r1, r2, r3 end)
case(227, function() local a1 = torch.DoubleStorage{0.5, 0}; return a1 end,
     function(a1) local r1, r2 = #a1 return r1, r2 end)
case(228, function() local a1 = mk('Double', 'c', 'rand', 138921, 2, 3); local a2 = mk('Double', 'c', 'pos', 351699, 1, 1, 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:diag(a2) return r1, r2, r3 end)
case(229, function() return nil end,
     function() local r1, r2, r3 = torch.rand(2,"torch.FloatTensor") return r1, r2, r3 end)
case(230, function() local a1 = torch.LongTensor(); return a1 end,
     function(a1) local r1, r2, r3 = torch.LongTensor.torch.zeros(a1, 3, 0) return r1, r2, r3 end)
case(231, function() return nil end,
     function() local r1, r2, r3 = torch.random(9,3) return r1, r2, r3 end)
case(232, function() local a1 = mk('Char', 't', 'small', 158393, 3, 4); local a2 = mk('Char', 'c', 'special', 924614, 3, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cmod(a1) return r1, r2, r3 end)
case(233, function() local a1 = torch.DoubleStorage{0.1, 1, 1e3}; return a1 end,
     function(a1) local r1, r2 = a1:elementSize() return r1, r2 end)
case(234, function() local a1 = mk('Char', 'c', 'one', 218093, 4, 3); return a1 end,
     function(a1) return tostring(a1) end)
case(235, function() local a1 = mk('Long', 't', 'inc', 36830, 4); local a2 = idx(802922, 4, 'c', 4); local a3 = mk('Long', 'c', 'small', 167313, 1, 1); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a3:index(a1, 1, a2) return r1, r2, r3 end)
case(236, function() local a1 = mk('Double', 'c', 'rand', 734582, 1); local a2 = mk('Double', 's', 'rand', 9282, 2, 4, 6); local a3 = mk('Double', 'c', 'inc', 728245, 3, 2, 3, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.DoubleTensor.torch.conv2(a1, a2, a3) return r1, r2, r3 end)
case(237, function() local a1 = mk('Double', 'c', 'pos', 96285, 3, 3, 4); local a2 = mk('Double', 'p', 'rand', 885458, 3, 3, 4); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.cdiv(a1, a2) return r1, r2, r3 end)
case(238, function() return nil end,
     function() local r1, r2, r3 = torch.linspace(1,2,5) return r1, r2, r3 end)
case(239, function() local a1 = mk('Short', 't', 'small', 877509, 2, 3, 1, 1, 2); local a2 = mask(448989, 't', 2, 3, 1, 1, 2); local a3 = mk('Double', 'c', 'small', 192135, 7); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:maskedCopy(a2, "x") return r1, r2, r3 end)
case(240, function() local a1 = mk('Char', 'p', 'pos', 493121, 2); return a1 end,
     function(a1) local r1, r2, r3 = torch.diag(a1) return r1, r2, r3 end)
case(241, function() local a1 = torch.FloatTensor(); local a2 = mk('Float', 'c', 'rand', 805116, 1, 1, 5); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:neg(a2) return r1, r2, r3 end)
case(242, function() local a1 = mk('Long', 'c', 'special', 742160, 4, 4, 1); return a1 end,
     function(a1) local r1, r2, r3 = a1:eye(1) return r1, r2, r3 end)
case(243, function() local a1 = mk('Long', 'c', 'wide', 115685, 1, 3, 2, 2); return a1 end,
     function(a1) return tostring(a1) end)
case(244, function() local a1 = mk('Char', 'c', 'pos', 797475, 3, 4, 3); local a2 = mk('Char', 't', 'small', 922921, 3, 4, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1:cpow(a2) return r1, r2, r3 end)
case(245, function() local a1 = mk('Double', 'c', 'pos', 547589, 5, 3); local a2 = idx(784461, 5, 'c', 2, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.gather(a1, 1, a2) return r1, r2, r3 end)
case(246, function() local a1 = mk('Int', 'p', 'rand', 113110, 4, 3, 3); local a2 = torch.IntStorage{1,2,3,4,5,6,7,8}; return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = torch.Tensor(a2, 3, 2, 2, 2, 2) return r1, r2, r3 end)
case(247, function() local a1 = mk('Float', 't', 'rand', 549419, 29); return a1 end,
     function(a1) return tostring(a1) end)
case(248, function() local a1 = ("x"):rep(20); return a1 end,
     function(a1) local s = torch.serialize(a1, nil) return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, nil), nil) return o end)
case(249, function() local a1 = mk('Float', 'c', 'pos', 175046, 2, 3, 3); return a1 end,
     function(a1) local r1, r2, r3 = torch.FloatTensor.eye(1e5, 6, 5) return r1, r2, r3 end)
case(250, function() local a1 = mk('Float', 'o', 'rand', 379757, 1, 2); local a2 = mask(820722, 's', 1, 2); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1[a2] return r1, r2, r3 end)
case(251, function() local a1 = torch.MemoryFile(3); return a1 end,
     function(a1) local r1, r2 = a1:readDouble(3) return r1, r2 end,
     function(a1) local r1, r2 = a1:isQuiet() return r1, r2 end,
     function(a1) local r1, r2 = a1:binary() return r1, r2 end,
     function(a1) local r1, r2 = a1:storage() return r1, r2 end,
     function(a1) local r1, r2 = a1:clearError() return r1, r2 end,
     function(a1) local r1, r2 = tostring(a1) return r1, r2 end,
     function(a1) local r1, r2 = a1:longSize(8) return r1, r2 end,
     function(a1) local r1, r2 = a1:writeBool(true) return r1, r2 end,
     function(a1) local s = a1:storage() return s end)
case(252, function() local a1 = torch.MemoryFile(); return a1 end,
     function(a1) local s = torch.serialize(a1, 'binary') return s end,
     function(a1) local o = torch.deserialize(torch.serialize(a1, 'binary'), 'binary') return o end)
case(253, function() local a1 = mk('Double', 'o', 'rand', 852801, 3, 1); local a2 = idx(772459, 1, 'c', 3); local a3 = mk('Double', 'c', 'rand', 117014, 3, 3); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = a1:indexCopy(2, a2, a3) return r1, r2, r3 end)
case(254, function() local a1 = mk('Float', 'c', 'rand', 105105, 7); local a2 = mask(301844, 's', 1, 1, 2, 3); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = a1[a2] return r1, r2, r3 end)
case(255, function() local a1 = mk('Double', 'c', 'one', 801954, 1); return a1 end,
     function(a1) return tostring(a1 * 1000) end)
case(256, function() local a1 = mk('Int', 'o', 'small', 468200, 1, 3, 2); local a2 = mk('Int', 's', 'small', 882760, 6, 1, 1); return a1, a2 end,
     function(a1, a2) local r1, r2, r3 = -a1 return r1, r2, r3 end)
case(257, function() local a1 = mk('Double', 'c', 'wide', 93959, 1, 2); local a2 = mk('Double', 's', 'wide', 288468, 1, 3); local a3 = mk('Double', 'c', 'rand', 41558, 3, 2); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.mm(a1, a2, a3) return r1, r2, r3 end)
case(258, function() return nil end,
     function() local r1, r2, r3 = torch.setheaptracking(true) return r1, r2, r3 end)
case(259, function() local a1 = mk('Double', 'c', 'rand', 191131, 1, 3, 1); local a2 = mk('Double', 'c', 'wide', 101343, 3, 4, 4); local a3 = mk('Double', 'p', 'small', 651946, 3, 4, 4); return a1, a2, a3 end,
     function(a1, a2, a3) local r1, r2, r3 = torch.cmul(a1, a2, a3) return r1, r2, r3 end)
case(260, function() return nil end,
     function() local r1, r2, r3 = torch.DoubleTensor.torch.sinh() return r1, r2, r3 end)
