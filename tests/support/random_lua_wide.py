# ruff: noqa: E501  # lines of Lua
"""Random Lua programs with more of the language than ``random_lua`` has.

Metatables, coroutines, ``goto``, varargs, patterns, formats, closures, nested tables, errors with
tables, comparators, assignments that depend on their order.
"""

from __future__ import annotations

from support.random_lua import FIELDS, PATTERNS, Program

NUMBERS = [
    "0",
    "1",
    "-1",
    "3",
    "7",
    "-7",
    "2.5",
    "-0.5",
    "1e3",
    "1e15",
    "0x1F",
    "123456.789",
    "1/3",
]
TEXTS = ["'a b c'", "'key=val'", "'hello'", "''", "'10'", "' 7 '", "'0x10'", "'x.y'", "'%d'"]
EXTRA = [
    *("formats", "divisions", "comparisons", "holes", "nested", "orders", "varargs", "comparators"),
    *("errors", "chained", "events", "turns", "captured", "patterns", "numerals", "producers"),
    *("fields_", "jumps", "recursion", "strings_", "truths", "matrix", "queue"),
]


class Wide(Program):
    """A program of statements of both kinds."""

    def statement(self, depth: int) -> None:
        if self.chance(0.5):
            getattr(self, self.random.choice(EXTRA))()
        else:
            super().statement(depth)

    def fresh(self, word: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{word}{self.count}"

    def formats(self) -> None:
        number, text = self.number(1), self.string(1)
        self.write(
            self.some(
                f"print(string.format('%5.2f|%-8.3f|%+d', {number}, {number}, 3))",
                f"print(string.format('%g %e %G', {self.some(*NUMBERS)}, {number}, 0.0001))",
                f"print(string.format('%5s|%-6s|%s', {text}, {text}, tostring({self.value(1)})))",
                f"print(string.format('%x %X %o %c', 255, 48879, 8, {self.random.randint(65, 90)}))",
                f"print(string.format('%q', {text}))",
                f"print(('%d%%'):format({self.random.randint(0, 100)}))",
                f"print(string.format('%03d %5d %-5d|', 7, {self.random.randint(-9, 99)}, 3))",
                f"print(string.format('%.3s|%10.2s|', {text}, {text}))",
                f"print(string.format('%i %u', 3, {self.random.randint(0, 9)}))",
            )
        )

    def divisions(self) -> None:
        a, b = self.some("7", "-7", "7.5", "-7.5"), self.some("3", "-3", "2", "0.25")
        self.write(f"print({a} % {b}, math.floor({a} / {b}), {a} / {b}, math.fmod({a}, {b}))")
        if self.chance(0.5):
            n, total = self.fresh("n"), self.fresh("total")
            self.write(f"local {n}, {total} = 0, 0")
            self.write(
                f"for i = 1, {self.some('0', '3')} do {n} = {n} + 1; {total} = {total} + i end"
            )
            self.write(f"print({total} / {n} == {total} / {n}, {n} % 2)")

    def comparisons(self) -> None:
        a, b = self.number(1), self.number(1)
        self.write(
            self.some(
                f"print({a} < {b} == true, not ({a} == {b}), {a} ~= {b} and {a} > {b})",
                f"print({self.string(1)} < {self.string(1)}, {self.string(1)} == {self.string(1)})",
                f"print(({a} >= {b}) ~= ({a} < {b}), nil == false, 1 == 1.0)",
                f"print(math.max({a}, {b}) >= math.min({a}, {b}), math.max({a}))",
            )
        )

    def holes(self) -> None:
        t = self.fresh("t")
        self.write(f"local {t} = {{}}")
        for _ in range(self.random.randint(1, 4)):
            self.write(f"{t}[{self.random.choice([1, 2, 3, 5, 10])}] = {self.value(1)}")
        self.write(f"print({t}[1], {t}[2], {t}[4], {t}[11])")
        self.write(f"local n{t} = 0 for k in pairs({t}) do n{t} = n{t} + k end print(n{t})")

    def nested(self) -> None:
        t = self.fresh("deep")
        self.write(
            f"local {t} = {{a = {{b = {{{self.number(1)}, {self.number(1)}}}}}, "
            f"list = {{{{x = {self.number(1)}}}, {{x = {self.number(1)}}}}}}}"
        )
        self.write(f"{t}.a.b[#{t}.a.b + 1] = {self.number(1)}")
        self.write(f"{t}.a.c = {t}.a.c or {self.value(1)}")
        self.write(f"for i, e in ipairs({t}.list) do e.x = e.x * i; e.y = e.y or i end")
        self.write(f"print(#{t}.a.b, {t}.a.b[2], {t}.list[2].x, {t}.list[1].y, {t}.a.c, {t}.a.d)")
        self.write(f"print({t}.list[3], {t}.none == nil, #{t}.list)")

    def orders(self) -> None:
        i, t = self.fresh("i"), self.fresh("t")
        self.write(f"local {i}, {t} = 1, {{10, 20, 30}}")
        self.write(
            self.some(
                f"{i}, {t}[{i}] = {i} + 1, 99",
                f"{t}[1], {t}[2] = {t}[2], {t}[1]",
                f"{t}[{i}], {i} = {t}[3], 2",
                f"{t}[{i}], {t}[{i} + 1], {t}[{i} + 2] = {t}[3], {t}[1], {t}[2]",
                f"{i}, {t}[2], {t}[3] = (function() return 7, 8 end)()",
            )
        )
        self.write(f"print({i}, {t}[1], {t}[2], {t}[3])")

    def varargs(self) -> None:
        f = self.fresh("va")
        body = self.some(
            "return select('#', ...), ...",
            "local a, b = ...; return b, a",
            "local s = 0; for i = 1, select('#', ...) do s = s + (select(i, ...) or 0) end return s",
            "local t = {n = select('#', ...), ...}; return t.n, t[1], t[2]",
            "return (...)",
            "return select(-1, 0, ...)",
            "local t = {...}; local r = {}; for i = #t, 1, -1 do r[#r + 1] = t[i] end return unpack(r)",
            "for i, v in ipairs({...}) do print(i, v) end",
        )
        self.write(f"local function {f}(...) {body} end")
        self.write(f"print({f}({self.number(1)}, {self.number(1)}, {self.number(0)}))")
        self.write(f"print({f}({self.number(0)}), ({f}({self.number(0)}, 2)))")
        if self.chance(0.5):
            self.write(f"print({f}({f}({self.number(0)}, 4)))")

    def comparators(self) -> None:
        t = self.fresh("rows")
        rows = ", ".join(f"{{k = '{c}', v = {self.random.randint(0, 9)}}}" for c in "dbca")
        self.write(f"local {t} = {{{rows}}}")
        how = self.some(
            "a.k < b.k", "a.k > b.k", "a.v < b.v or (a.v == b.v and a.k < b.k)",
            "a.v ~= b.v and a.v > b.v or a.v == b.v and a.k > b.k",
        )  # fmt: skip
        self.write(f"table.sort({t}, function(a, b) return {how} end)")
        self.write(f"for _, r in ipairs({t}) do io.write(r.k, r.v, ' ') end print()")

    def errors(self) -> None:
        self.write(
            self.some(
                f"local ok, e = pcall(error, {{code = {self.number(1)}}}) print(ok, type(e), e.code)",
                f"print(pcall(function(...) return ... end, {self.number(1)}, nil, 3))",
                "local ok, e = pcall(function() local ok2, e2 = pcall(error, {1, 2}); "
                "error({inner = e2, n = #e2}) end) print(ok, e.n, e.inner[2])",
                "print(select('#', pcall(error)), (pcall(error)))",
                "print(xpcall(function() error('x', 0) end, function(m) return m .. '!' end))",
                f"local ok, v = pcall(function() return {self.value(1)} end) print(ok, v)",
                "print(pcall(function() assert(false, 'no') end))",
                "print(pcall(function() assert(nil) end) == false)",
                f"print(assert({self.number(1)}, 'unused'), (assert('a', 'b')))",
                "local ok, e = pcall(function() error() end) print(ok, e)",
                "print(pcall(string.rep, 'ab', 2))",
                "print((select(2, pcall(error, 'plain', 0))))",
            )
        )

    def chained(self) -> None:
        o = self.fresh("obj")
        self.write(f"local {o} = {{n = {self.number(1)}}}")
        self.write(f"function {o}:add(x) self.n = self.n + (x or 1); return self end")
        self.write(f"function {o}.make(n) return {{n = n, add = {o}.add}} end")
        self.write(f"print({o}:add(2):add().n, {o}.make(5):add(1).n, {o}.n)")
        self.write(f"print(({self.string(1)}):upper():lower():len(), #({self.string(1)}):rep(2))")

    def events(self) -> None:
        mt = self.fresh("Mt")
        self.write(f"local {mt} = {{}}")
        self.write(f"{mt}.__index = {mt}")
        self.write(f"local function new{mt}(v) return setmetatable({{v = v}}, {mt}) end")
        self.write(
            f"{mt}.__add = function(a, b) return new{mt}(a.v + (type(b) == 'number' and b or b.v)) end"
        )
        self.write(f"{mt}.__eq = function(a, b) return a.v == b.v end")
        self.write(f"{mt}.__lt = function(a, b) return a.v < b.v end")
        self.write(f"{mt}.__le = function(a, b) return a.v <= b.v end")
        self.write(f"{mt}.__unm = function(a) return new{mt}(0 - a.v) end")
        self.write(f"{mt}.__call = function(self, a, b) return self.v + a, b end")
        self.write(f"{mt}.__concat = function(a, b) return 'cat' end")
        self.write(f"{mt}.__tostring = function(a) return 'Mt' .. a.v end")
        self.write(f"function {mt}:get() return self.v end")
        a, b = self.number(0), self.number(0)
        self.write(f"local a{mt}, b{mt} = new{mt}({a}), new{mt}({b})")
        self.write(
            self.some(
                f"print((a{mt} + b{mt}).v, (a{mt} + 1):get(), (-a{mt}).v, tostring(b{mt}))",
                f"print(a{mt} == b{mt}, a{mt} ~= b{mt}, a{mt} < b{mt}, a{mt} >= b{mt})",
                f"print(a{mt}(1, 2), (b{mt}(3)))",
                f"print(a{mt} .. 'x', 'x' .. a{mt}, getmetatable(a{mt}) == {mt}, rawget(a{mt}, 'get'))",
            )
        )

    def turns(self) -> None:
        first, last, step = (
            self.some("1", "0", "2.5"),
            self.some("3", "0", "1.5"),
            self.some("1", "0.5", "-1", "0.25"),
        )
        v = self.fresh("v")
        self.write(f"for {v} = {first}, {last}, {step} do io.write({v}, ' ') end print()")

    def captured(self) -> None:
        fs, k = self.fresh("fs"), self.fresh("k")
        self.write(f"local {fs}, {k} = {{}}, 0")
        self.write(f"while {k} < 3 do")
        self.write(f"  {k} = {k} + 1")
        self.write(f"  local m = {k} * 10")
        self.write(f"  {fs}[{k}] = function(d) m = m + (d or {k}); return m, {k} end")
        self.write("end")
        self.write(f"print({fs}[1](), {fs}[2](5), {fs}[1](1), {fs}[3]())")

    def patterns(self) -> None:
        text = self.some(*TEXTS)
        pattern = self.some(
            *PATTERNS,
            "^(%a)(%a*)",
            "(%d+)",
            "%s+",
            "([^=]+)=",
            "%.",
            "[%w_]+",
            "(.-)%s",
            "%f[%w]%w+",
        )
        self.write(
            self.some(
                f"print(({text}):find('{pattern}'))",
                f"print(({text}):match('{pattern}'))",
                f"print(({text}):gsub('{pattern}', '[%0]', 1))",
                f"print(({text}):gsub('{pattern}', function(c) return c .. '!' end))",
                f"for a, b in ({text}):gmatch('{pattern}') do print(a, b) end",
                f"print(({text}):gsub('%w', {{a = 'A', h = false, k = 1}}))",
                f"print(({text}):find('{self.some('.', 'e', '=')}', 1, true))",
                f"print(({text}):match('{pattern}', 2))",
            )
        )

    def numerals(self) -> None:
        a = self.some(*NUMBERS)
        self.write(
            self.some(
                f"print({a}, {a} * 2, tostring({a}) .. '')",
                f"print({a} .. '', {a} + '1')",
                f"print(tonumber('{self.some('0x1f', '1e2', ' 5 ', '5x', '', '1.', '.5', '-3')}'))",
                f"print(tonumber('{self.some('ff', '77', '101', 'zz')}', {self.some('16', '8', '2', '36')}))",
                f"print(2 ^ {self.some('10', '0.5', '-1', '53')}, 10 ^ {self.some('2', '15')})",
                f"print(math.floor({a}), math.abs({a}), math.huge > {a})",
                "print(1e15, 1e16, 2 ^ 53, 1e100, 0.1 + 0.2, 100000000000000)",
                "print(#tostring(12345.678), 1 / 0, -1 / 0, 5 % 2)",
                f"print(math.modf({a}))",
                "local f = 1 for i = 1, 25 do f = f * i end print(f)",
            )
        )

    def producers(self) -> None:
        g = self.fresh("gen")
        self.write(f"local {g} = function(n) return coroutine.wrap(function()")
        self.write("  for i = 1, n do coroutine.yield(i, i * i) end")
        self.write("end) end")
        self.write(f"for a, b in {g}({self.random.randint(0, 3)}) do print(a, b) end")
        co = self.fresh("co")
        self.write(f"local {co} = coroutine.create(function(...)")
        self.write("  local x = select('#', ...)")
        self.write("  local y = coroutine.yield(x, ...)")
        self.write("  if y then error({why = y}) end")
        self.write("  return 'done'")
        self.write("end)")
        self.write(f"print(coroutine.resume({co}, {self.number(0)}, {self.number(0)}))")
        self.write(
            f"local ok{co}, e{co} = coroutine.resume({co}, {self.some('nil', '1', 'false')})"
        )
        self.write(
            f"print(ok{co}, type(e{co}) == 'table' and e{co}.why or e{co}, coroutine.status({co}))"
        )

    def fields_(self) -> None:
        t, key = self.fresh("rec"), self.some(*FIELDS)
        self.write(f"local {t} = {{{key} = {self.value(1)}, {self.number(0)}, {self.number(0)}}}")
        self.write(f"{t}['{self.some(*FIELDS)}'] = {self.value(1)}")
        self.write(f"{t}.{key} = {self.some('nil', self.value(1))}")
        self.write(f"print({t}.{key}, {t}[1], {t}[2], {t}[3], #{t}, {t}.zzz)")

    def jumps(self) -> None:
        label = self.fresh("next")
        self.write("for i = 1, 3 do")
        self.write("  for j = 1, 3 do")
        self.write(f"    if (i + j) % {self.random.randint(2, 3)} == 0 then goto {label} end")
        self.write("    if j > i then break end")
        self.write("    io.write(i, ':', j, ' ')")
        self.write(f"    ::{label}::")
        self.write("  end")
        self.write("end")
        self.write("print()")

    def recursion(self) -> None:
        f = self.fresh("rec")
        body = self.some(
            f"if n <= 1 then return 1 end return n * {f}(n - 1)",
            f"if n < 2 then return n end return {f}(n - 1) + {f}(n - 2)",
            f"if n == 0 then return '' end return {f}(n - 1) .. n",
            f"if n == 0 then return end print(n) return {f}(n - 1)",
            f"if n == 0 then return {{}} end local t = {f}(n - 1); t[#t + 1] = n; return t",
        )
        self.write(f"local function {f}(n) {body} end")
        n = self.random.randint(0, 6)
        shown = f"table.concat({f}({n}), ',')" if "{}" in body else f"{f}({n})"
        self.write(f"print({shown})")

    def strings_(self) -> None:
        text = self.prefix(self.string(1))
        self.write(
            self.some(
                f"print({text}:byte(1, -1))",
                f"print({text}:rep(2, '-'))" if self.chance(0) else f"print({text}:rep(2))",
                f"print(string.char(72, 105), {text}:reverse(), {text}:len())",
                f"print({text}:sub(2, -2), {text}:sub(-3), {text}:sub(5, 2))",
                f"print(table.concat({{1, 2.5, {text}}}, ', ', 2))",
                f"print(table.concat({{'a', 'b', 'c'}}, {text}, 1, {self.random.randint(0, 3)}))",
                f"local parts = {{}} for w in {text}:gmatch('%S+') do table.insert(parts, 1, w) end print(#parts, unpack(parts))",
                f"print(#{text} == {text}:len(), {text} == {text}:upper(), {text} .. 1 .. 2)",
            )
        )

    def truths(self) -> None:
        a = self.some("0", "''", "nil", "false", "{}", "print", "1")
        self.write(
            self.some(
                f"if {a} then print('yes') else print('no') end",
                f"print(not {a}, {a} and 1 or 2, ({a} or 5) == 5)",
                f"local v = {a} v = v and 'set' or 'unset' print(v)",
                f"local v = {a} print(v == nil, v == false, not not v)",
                f"print(type({a}), type({a}) == 'nil')",
            )
        )

    def matrix(self) -> None:
        m = self.fresh("m")
        self.write(f"local {m} = {{}}")
        self.write(
            f"for i = 1, 3 do {m}[i] = {{}} for j = 1, 2 do {m}[i][j] = i * j + {self.number(0)} end end"
        )
        self.write(f"print(#{m}, #{m}[1], {m}[2][2], {m}[3][1], {m}[4] == nil)")
        self.write(f"table.insert({m}[1], {self.number(0)}) print(table.concat({m}[1], ' '))")

    def queue(self) -> None:
        q = self.fresh("q")
        self.write(f"local {q} = {{first = 1, last = 0, items = {{}}}}")
        self.write(
            f"local function push{q}(v) {q}.last = {q}.last + 1; {q}.items[{q}.last] = v end"
        )
        self.write(f"local function pop{q}()")
        self.write(f"  if {q}.first > {q}.last then return nil, 'empty' end")
        self.write(
            f"  local v = {q}.items[{q}.first]; {q}.items[{q}.first] = nil; {q}.first = {q}.first + 1"
        )
        self.write("  return v")
        self.write("end")
        self.write(f"push{q}({self.value(1)}) push{q}({self.number(1)})")
        self.write(f"print(pop{q}(), {q}.last) print(pop{q}()) print(pop{q}())")
