-- Functions, each with arguments for it in the line below.
function(a, b) return a + b - 1, a % b, -a, not b, 2 ^ a, 1 / b, 'x' .. a .. b, #'abc' end
--> 3, 4

function(n) local s = 0 for i = 1, n do s = s + i end for i = n, 1, -2 do s = s * 1.5 + i end return s end
--> 10

function() for i = 3, 2 do return i end for i = 'a', 2 do end end
-->

function() local s = 0 for i = '1', '3' do s = s + i end return s end
-->

function(...) local t = {1, 2, x = 3, [0] = 4, ...} return #t, t.x, t[0], select('#', ...), ... end
--> 5, nil, 7

function(...) local t = {...} return #t, ... end
-->

function(t) local s = 0 for k, v in pairs(t) do s = s + v end for i, v in ipairs(t) do s = s + i * v end return s end
--> {1, 2, a = 3}

function() local fs, s = {}, '' for i = 1, 5 do local j = i * 2 fs[i] = function(d) j = j + d i = i + 1 return j, i end end for i = 1, 5 do fs[i](i) local a, b = fs[i](1) s = s .. a .. ',' .. b .. ';' end return s end
-->

function(x) local y = x and 5 or 6 if not x or y == 5 and x ~= 'q' then return 'a', y end while y > 0 do y = y - 1 if y == 2 then break end end return y end
--> false

function(x) local y = x and 5 or 6 if not x or y == 5 and x ~= 'q' then return 'a', y end while y > 0 do y = y - 1 if y == 2 then break end end return y end
--> 'q'

function(a) return (math.max(unpack{a, 3})), math.min(a, math.max(1, 2)), math.max(a, unpack{10, 12}) end
--> 9

function(a) return a >= 1, a > 1, a <= 1, a < 1, a == 1, a ~= 1, a == nil, a == true, a ~= 'x' end
--> 0/0

function() error('told') end
-->

function() return 1e308 * 10, -1e308 * 10, 0/0, 1e15, 0.1, -5, 70000, 'a\0\n\200"\\' end
-->

function(a) a.b.c, a.b[1], a.b['x y'], a[1.5], a[300], a[a] = 1, 2, 3, 4, 5, 6 return a.b.c, a.b[1], a.b['x y'], a[1.5], a[300], a[a] end
--> {b = {}}

function(n) local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(n) end
--> 15

function(n) repeat local x = n n = n - 1 until x < 3 return n end
--> 15

function(s) local r = {} for w in s:gmatch('%a+') do r[#r + 1] = w:upper() end return table.concat(r, '-') end
--> 'a bc def'

function(n) local o = {} for i = 1, n do if i % 2 == 0 then goto continue end o[#o + 1] = i ::continue:: end return #o end
--> 9

function() return tostring(5LL + 3), tostring(0xffffffffffffffffULL), tostring(2i) end
-->

function() written = 5 local w = written written = nil return w, undefined end
-->
