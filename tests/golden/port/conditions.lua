-- and, or, not; what counts as true; comparisons
local function show(...) print(...) end
local flag = false
local x = flag and 1 or 2
show(x, flag or 'default', not flag, not nil, not 0, not '')
local zero = 0
show(zero and 'zero is true' or 'zero is false')
local empty = ''
show(empty and 'empty is true' or 'no')
local f = nil
local v = f ~= nil and f or false
show(v)
local t = {on = false, off = nil, n = 0}
show(t.on == false, t.off == nil, t.n and 'n' or 'no n', t.on or t.off, t.on and t.n)
local chosen = true and false or 'third'
show(chosen)
local y = (t.on == nil) and 'unset' or t.on
show(y)
local function optional(verbose)
   if verbose == nil then verbose = true end
   return verbose
end
show(optional(), optional(false), optional(true))
local function orDefault(v) return v or 'd' end
show(orDefault(), orDefault(false), orDefault(0), orDefault(''))
show(1 == 1.0, '1' == 1, nil == false, 'a' < 'b', 'a' < 'B', 'abc' < 'abd', '' < 'a')
show(1 < 2 == true, not (1 > 2), not 1 == 2)
local a, b, c = 1, nil, 3
show(a and b and c, a and c, b or c, b and c, a or error('never'))
local n = nil
local len = n and #n or 0
show(len)
local s = 'abc'
local first = s and s:sub(1, 1) or '?'
show(first)
-- swaps
local p, q = 1, 2
p, q = q, p
show(p, q)
local l = {1, 2, 3}
l[1], l[3] = l[3], l[1]
show(l[1], l[2], l[3])
local i = 1
i, l[i] = i + 1, 20
show(i, l[1], l[2])
local m, o, r = (function() return 1, 2 end)()
show(m, o, r)
local aa, bb = 5
show(aa, bb)
-- numbers
show(7 / 2, math.floor(7 / 2), math.floor(-7 / 2), 7 % 3, -7 % 3, 7 % -3, 5.5 % 2)
show(2 ^ 10, 2 ^ 0.5, 10 / 5, 1e3, 1e15, 1e16, 0.1, 1 / 3, 100000000000000, 123456789012345)
show(math.ceil(1.2), math.floor(-1.2), math.max(1, 2.5), math.min(3, -1), math.abs(-3))
show(1 / 0, -1 / 0, math.huge, -math.huge)
show(tostring(10 / 2), 10 / 2 .. '', 3 * 1.0 .. '', 2 ^ 2 .. '')
show(tonumber('10'), tonumber('0x10'), tonumber('1e2'), tonumber('abc'), tonumber('  5  '), tonumber(''), tonumber('10', 2), tonumber('ff', 16))
show('10' + 5, '3' * '4', 10 .. 20)
show(math.floor(3.7 + 0.5), (17 - 17 % 5) / 5)
local fact = 1
for k = 1, 20 do fact = fact * k end
show(fact)
local big = 2 ^ 53
show(big, big + 1)
show(string.format('%d %5d|%-5d|%05d %+d %x %X %o', 42, 42, 42, 42, 42, 255, 255, 8))
show(string.format('%.3f %10.2f|%-10.2f|%e %g %g', 1 / 3, 2.5, 2.5, 12345.678, 0.0001, 1e20))
show(string.format('%s %q %c%c %%', 'a', 'q"x', 72, 105))
show(string.format('%5s|%-5s|%.2s', 'ab', 'ab', 'abcdef'))
show(#'hello', ('x'):rep(3), ('abc'):upper(), ('a,b'):find(','))
