-- Small programs, and what LuaJIT built with LUAJIT_ENABLE_LUA52COMPAT prints of them (programs.out).
local function compare(text)
   print(pcall(assert(loadstring(text, '=x'))))
end
local function try(text)
   local f, message = loadstring(text, '=x')
   if not f then return print('syntax', message) end
   local function pack(...) return {n = select('#', ...), ...} end
   local results = pack(xpcall(f, debug.traceback))
   for i = 1, results.n do
      results[i] = tostring(results[i]):gsub("\n\t%[C%]: in function 'xpcall'.*", '')
   end
   print(table.concat(results, ' | '))
end

-- Lengths.
try 'local t\nlocal n = 1 +\n#t'
try 'local t = {}\nprint(#t.x)'
try 'local n = #G'
try 'local function f(u) local n = #u end f()'
try 'local u; local function f() local n = #u end f()'
try 'local n = #tostring + 1'
try 'local t = {} local n = #t["x"]'
try 'local t = {} local n = #t[1]'
try 'local t local n = #(t)'
try 'local n = -#nil'
try 'local t = setmetatable({}, {__len = function() error "boo" end}) local n = #t'
try 'local t = setmetatable({}, {__len = function() error("boo", 2) end}) local n = #t'
try 'local t = setmetatable({}, {__len = function(a, b) return rawequal(a, b) end}) return #t'
try 'local t = setmetatable({}, {__len = function() return nil, 3 end}) return #t'
try 'local t = setmetatable({}, {__len = function() return false end}) return #t'
try 'return #setmetatable({}, {__len = setmetatable({}, {__call = function(s, t) return type(t) end})})'
try 'local t = setmetatable({1, 2}, {__index = function() return 3 end}) return #t'
try 'local t = setmetatable({}, {__len = function() return 4 end}) return #t^2, -#t, not #t, #t .. "x", #t == 4, 2^#t'
try 'return #("abc"), #"x" .. #[[yy]], #{1, 2, 3}, ## "a" == 1'
try 'return #("abc"), #"x" .. #[[yy]], #{1, 2, 3} -- #x'
try 'local t = setmetatable({}, {__len = function() return 2 end}) local u = {5, t} return #u[#t], #u[2], #(u[2] or u)'
try 'local co = coroutine.wrap(function() local t = setmetatable({}, {__len = function() return coroutine.yield(5) end}) return #t end) return co(), co(7)'
try 'local s = 0 for i = 1, 300 do local t = setmetatable({}, {__len = function() return i end}) s = s + #t end return s'
try 'local s = 0 for i = 1, 300 do local t = i < 299 and {1} or nil s = s + #t end return s'
-- Comparisons.
compare 'local b = {} < {}'
compare 'local b = 1 < {}'
compare 'local b = nil >= 1'
compare 'local b = print <= 1'
compare 'local a = setmetatable({}, {__lt = function() return 1 end}) return a < 1, 1 < a, a > 2, a <= 3, a >= 3, a < {}'
compare 'local a, b = setmetatable({}, {__lt = function() return true end, __le = function() return nil end}), setmetatable({}, {__lt = function() return false end}) return a < b, b < a, a <= b, b <= a, a > b, b >= a'
compare 'local a = setmetatable({}, {__lt = function() error("boo", 2) end}) local b = 2 > a'
compare 'return "a" < "b", 1 <= 2, 2 > 3, "b" >= "c", 1 < 2 == true, not (1 > 2)'
-- Loops over tables.
try 'local t = setmetatable({}, {__pairs = function(t) return 1, 2, 3, 4 end, __ipairs = function() return 5, 6, 7 end}) print(pairs(t)) print(ipairs(t))'
try 'local p = newproxy(true) getmetatable(p).__pairs = function(u) return next, {a = 1} end for k, v in pairs(p) do print(k, v) end'
try 'for k, v in pairs(nil) do end'
-- Syntax.
try 'local f = function(x) return function(y) return x + y end end\nlocal z = f\n(1)\n(2) return z'
try 'local function f(...) return ... end\nlocal a, b = f\n(1,\n2) return a, b'
try 'local t = {f = function(self, x) return x end}\nlocal a = t:f\n(3) return a'
try 'local f = function() return function(a) error("here", 2) end end\nf()\n(2)'
try 'local f\nf\n(1)'
try 'local x = {} \n(print or x)("a new statement")'
try 'local x \n(print or x)("a new statement")'
try 'while true do break; print(1) end return 3'
try 'repeat local x = 1 break print(x) until x return 2'
try ';;;return 1'
try 'if true then ; end for i = 1, 1 do ; end local f = function() ; ; return 1 end return f()'
try 'goto a; local x ::a:: ; ; '
try 'return;;'
try 'local t = {1;;2}'
try 'break'
try '# a first line\nlocal t = {1} return #t'
-- The library.
try 'return rawlen{1, 2}, rawlen "abc", rawlen(setmetatable({}, {__len = print}))'
try 'local n = rawlen(1)'
try 'return table.pack().n, table.pack(1, nil).n, select("#", table.unpack({1, 2, nil, 4}, 1, 4))'
try 'return loadstring("x =", "=y")'
compare 'return load(function() error("no") end)'
try 'return load("return x", "n", "t", {x = 3})(), load("return 1", "n", "b")'
try 'local i = 0 return load(function() i = i + 1 return ("*a = 1"):sub(i, i) end), i'
try 'local i, s = 0, "local f = type\\nreturn f\\n(1)" return load(function() i = i + 1 return s:sub(i, i) end)()'
try 'return loadfile("/nonexistent")'
try 'local x = dofile("/nonexistent")'
try 'return ("x"):find("", 3), ("x"):find("", 2), ("x"):match("", 5), ("x"):match(".-", 2)'
try 'io.stdout:write({})'
try 'return io.write("") == io.stdout, io.stdout:write("") == io.stdout'
try 'local f = io.tmpfile() f:close() f:write("x")'
try 'local f = io.popen("exit 3") return f:close()'
try 'local f = io.popen("kill -9 $$") return f:close()'
try 'local f = io.popen("cat > /dev/null", "w") f:write("x") print(io.type(f)) print(f:close()) print(io.type(f)) local x = f:close()'
try 'local f = io.popen("echo hi") local s = f:read("*a") return s, io.close(f)'
try 'io.output(io.popen("cat > /dev/null; exit 2", "w")) local a, b, c = io.close() io.output(io.stdout) return a, b, c'
try 'print(os.execute("exit 4")) print(os.execute("kill -15 $$")) print(os.execute()) return os.execute("true")'
try 'local c, m = coroutine.running() return type(c), m, coroutine.status(c), c == coroutine.running()'
try 'return coroutine.wrap(function() local c, m = coroutine.running() return type(c), m end)()'
try 'local t = {} return debug.setmetatable(t, {}) == t, debug.getuservalue(1)'
try 'local u = newproxy() local t = {} return debug.setuservalue(u, t) == u, debug.getuservalue(u) == t'
try 'local m = module("a_module", package.seeall) _G.assert(m == _M and m ~= _G and print) return _G.type(m), x'
try 'return package.searchers == package.loaders, math.mod, string.gfind, table.unpack == unpack'
