require 'torch'
local T, F, N = true, false, nil
print(T and F or 'c', T and N or 'c', F or N, N or F, N and 1, F and 1, 1 and 2, 0 and 'zero', '' and 'empty')
print(not nil, not 0, not '', nil == false, 1 == 1.0, '1' == 1, 0 == -0)
local function f(v) return v end
print(f(T) and f(F) or f('c'), f(nil) and 1 or 2, f(0) and 1 or 2, f(1) and f(nil) or f('d'))
local opt = {debug = false, gpu = 0, name = nil, rate = 0}
if opt.debug then print('debug') else print('no debug') end
if opt.gpu then print('gpu given') end
if opt.gpu >= 0 and not opt.name then print('no name') end
if opt.rate == 0 then print('rate zero') end
local x = opt.missing or 5
local y = opt.gpu or 5
local z = opt.debug == nil and 'unset' or 'set'
print(x, y, z)
local b = opt.debug or false
local cond = opt.gpu > 0 and opt.rate > 0
print(b, cond, not cond)
for i = 1, 10 do
  if i % 2 == 0 then goto continue end
  if i > 7 then break end
  for j = 1, 3 do
    if j == 2 then goto next end
    io.write(i, ',', j, ' ')
    ::next::
  end
  ::continue::
end
print()
local n = 0
repeat local done = n >= 3; n = n + 1 until done
print(n)
while true do n = n - 1; if n < 0 then break end end
print(n)
print(7 / 2, math.floor(7 / 2), -7 % 3, 7 % -3, 5.5 % 2, 2 ^ 0.5, -2 ^ 2, math.floor(-3.5), math.ceil(-3.5), 1e3, 10 % 3.5)
print(math.max(1, 5, 3), math.min(2, -1), math.abs(-4), math.huge, -math.huge, math.pi, math.sqrt(16), math.fmod(-7, 3), math.modf(3.7))
print(1 / 3, 100, 1e15, 1e16, 123456789012345, 0.1, 1e-5, 2 ^ 31, 2 ^ 63)
for i = 1, 0 do print('never') end
for i = 3, 1 do print('never') end
for i = 1, 2, 0.5 do io.write(i, ' ') end print()
for i = 10, 1, -3 do io.write(i, ' ') end print()
local len = 5
for i = 1, len / 2 do io.write(i, ' ') end print()
for i = 1, math.floor(len / 2) do io.write(i, ' ') end print()
local batches = math.ceil(10 / 3)
print(batches, math.floor(10 / 3) * 3, 10 - 10 % 3)
local t = setmetatable({}, {__index = function(_, k) return k * 2 end})
print(t[4], rawget(t, 4))
do local len = 'inner'; print(len) end
print(len)
if nil then elseif 0 then print('zero is true') end
local s = 'x' if s == 'x' then s = 'y' end print(s)
print(bit and bit.band(12, 10), bit.bor(12, 3), bit.lshift(1, 4))
print(math.random and 'random', type(math.random()))
print(1 < 2 == true, not (1 > 2), (1 < 2) and (2 < 3))
local i = 1
local arr = {}
i, arr[i] = i + 1, 20
print(i, arr[1], arr[2])
local u, v = 1, 2; u, v = v, u; print(u, v)
