"""What scripts do that is easily taken for something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

PIECES = {
    "places of an assignment are known before it": """
        local i, l = 1, {5, 6}
        i, l[i] = i + 1, 20
        print(i, l[1], l[2])
    """,
    "what a function calls is not what it gives": """
        local function f() return 1, 2 end
        print(pcall(function() f() end))
        local function each(g, ...) return {g(...)} end
        print(#each(function() end), #each(f))
    """,
    "parentheses around nothing": """
        local function rest(_, ...) return ... end
        print((rest(1)), (rest(1, 2, 3)))
    """,
    "what is not known behind and, in front of or": """
        local function word(t) return t:match('torch.(%a+)') end
        local function made(n, t) return n == 1 and torch[word(t)]() or word(t) end
        print(torch.type(made(1, 'torch.FloatTensor')), made(2, 'torch.FloatTensor'))
    """,
    "nils at the end of a list": "print(#{1, 2, nil}, #{nil})",
    "times": """
        local function at(day) return os.time{year = 2015, month = 6, day = day, hour = 12} end
        local t = os.date('!*t', 86400)
        print(at(2) - at(1), t.year, t.month, t.day, t.hour, t.wday, t.yday, t.isdst)
    """,
    "until asks after continue, too": """
        local i = 0
        repeat
          i = i + 1
          if i > 1 then goto continue end
          ::continue::
        until i == 3
        print(i)
    """,
    "what masked fills give": """
        local x = torch.range(1, 3)
        local y = x:maskedFill(x:gt(1), 7)
        print(x:sum(), y, x:indexFill(1, torch.LongTensor{1}, 5))
    """,
    "one element squeezed is a number": """
        print(torch.Tensor(1, 1):fill(3):squeeze(), torch.ones(2, 3):sum(1):squeeze()[2])
    """,
    "a tensor changed by its parts": """
        local x, y = torch.range(1, 4), torch.range(1, 4):view(2, 2)
        x[{{1, 3}}]:copy(x[{{2, 4}}])
        y:add(y:t())
        print(x, y)
    """,
    "vectors side by side": """
        print(torch.cat({torch.ones(2), torch.zeros(2)}, 2))
        print(torch.cat(torch.ones(2), torch.zeros(2), 2))
    """,
    "defaults of a table": """
        local opt = setmetatable({lr = 0.5}, {__index = {lr = 0.1, epochs = 3}})
        local squares = setmetatable({}, {__index = function(t, k) return k * k end})
        print(opt.lr, opt.epochs, squares[3] + 1)
    """,
    "a class that is called": """
        local Point = {}
        Point.__index = Point
        setmetatable(Point, {__call = function(class, ...) return class.new(...) end})
        function Point.new(x) return setmetatable({x = x}, Point) end
        function Point.__mul(a, b) return Point((type(a) == 'number' and a or a.x) * b.x) end
        local p = Point(3)
        p[1] = 'first'
        print(p.x, (2 * p).x, (p * p).x, p[1], #p, p[2])
    """,
    "fields of an object, one after the other": """
        local D = torch.class('Dog')
        function D:__init(friend) self.friend, self.tricks = friend, {} end
        function D:learn(t) table.insert(self.tricks, t) return self end
        local names = {}
        for k in pairs(Dog(Dog()):learn('sit')) do names[#names + 1] = k end
        for k, v in pairs(Dog(Dog()):learn('sit')) do names[#names + 1] = type(v) end
        table.sort(names)
        print(table.concat(names, ' '))
    """,
    "a package calls the program's functions, and gives lists of its own": """
        local tablex, List = require 'pl.tablex', require 'pl.List'
        local seen = {}
        local function put(v) seen[#seen + 1] = v end
        tablex.foreachi({5, 6}, put)
        tablex.foreachi({7}, function(a, b, c) put(type(c)) end)
        for _, word in ipairs(List.split('a b c')) do seen[#seen + 1] = word end
        print(table.concat(seen, ' '))
    """,
    "hashes outside Lua's memory": """
        local tds = require 'tds'
        local counts, list = tds.Hash(), tds.Vec()
        counts['the'] = 2
        counts.cat = (counts.cat or 0) + 1
        list[#list + 1] = 'a'
        local sum = 0
        for k, v in pairs(counts) do sum = sum + v + #k end
        print(sum, counts.the, counts['dog'], #list, list[1])
    """,
    "every so often of a short run": """
        local n = tonumber('50')
        local shown = 0
        for i = 1, n do if i % math.floor(n / 100) == 0 then shown = shown + 1 end end
        print(shown)
    """,
    "a table of nodes that is no list": """
        require 'nngraph'
        local n, x = 2, nn.Identity()()
        local h = {}
        for layer = 1, n do
          h[layer] = layer > 1 and nn.Tanh()(h[layer - 1]) or nn.Identity()(x)
        end
        local net = nn.gModule({x}, {nn.CAddTable()(h)})
        print(net:forward(torch.ones(2)))
    """,
    "text that is run": """
        local opt_name = 'kernels'
        opt = {kernels = '{3,4}', size = 2}
        function show() print(#opt.kernels, opt.size) end
        loadstring('opt.' .. opt_name .. ' = ' .. opt.kernels)()
        assert(loadstring('opt.size = opt.size + 1'))()
        show()
        print(loadstring('return 1 + 1, ...')(5), (loadstring('x = =')))
    """,
    "a constructor that no call tells": """
        Data = {}
        local L = torch.class('Data.Loader')
        function L:__init(x, n) self.x, self.n = x, n or 3 end
        local made = {Data['Loader']('a'), Data['Loader']('b', 4)}
        print(made[1].n, made[2].n)
    """,
    "a constructor's method that asks for what is not set yet": """
        require 'nn'
        local L, parent = torch.class('nn.Shared', 'nn.Module')
        function L:__init() parent.__init(self); self.one = self:made() end
        function L:made() return self.one ~= nil and 'two' or 'one' end
        print(nn.Shared().one)
    """,
    "fewer arguments than a method has, from who does not know it": """
        require 'nn'
        local L, parent = torch.class('nn.Both', 'nn.Module')
        function L:__init() parent.__init(self) end
        function L:forward(x, reverse) self.output = x return reverse and -x or x end
        local kept = {L = nn.Both()}
        local function run(owner) return owner.net:forward(torch.ones(1)) end
        print(run({net = kept[('l'):upper()]}), nn.Both():forward(torch.ones(1), true))
    """,
    "fields that a program gives layers": """
        require 'nn'
        local function is_left(layer) return layer._left == true end
        local one, two = nn.Tanh(), nn.Tanh()
        two._left = true
        print(is_left(one), is_left(two))
    """,
    "places from the end": """
        local x = torch.range(1, 9)
        local found = {}
        for j = 1, 3 do
          found[#found + 1] = x[-j]
          found[#found + 1] = x[{{1, -j}}]:sum()
        end
        print(table.concat(found, ' '))
    """,
    "an object that becomes one of a class below": """
        local A = {}
        A.__index = A
        function A.new() return setmetatable({n = 1}, A) end
        function A:name() return 'A' .. self.n end
        local B = setmetatable({}, {__index = A})
        B.__index = B
        function B.new() return setmetatable(A.new(), B) end
        function B:twice() return self:name() .. self:name() end
        print(B.new():twice(), A.new().twice)
    """,
}


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_a_draft_does_the_same(piece: str, both: Callable[[str], tuple[str, str]]) -> None:
    lua, python = both(f"require 'torch'\n{piece}")
    assert python == lua


def test_fields_that_are_asked_for_before_they_are_set(draft: Callable[[str], str]) -> None:
    made = draft("""
        require 'nn'
        local L, parent = torch.class('nn.Counted', 'nn.Module')
        function L:__init() parent.__init(self); self.set = 1 end
        function L:updateOutput(input)
          if not self.count and self.set and self.output then self.count = 0 end
          self.scale = self.scale or 2
          return input
        end
    """)
    assert "    count = None\n    scale = None\n\n    def __init__(self):" in made
    assert "set = None" not in made and "output = None" not in made


def test_a_script_that_runs_without_arguments_has_them_all_the_same(
    draft: Callable[[str], str],
) -> None:
    made = draft("if not arg then arg = {} end\nprint(#arg)")
    assert made.startswith("arg = sys.argv[1:]\n")


def test_functions_are_left_out_of_what_is_saved(draft: Callable[[str], str]) -> None:
    made = draft("local f = function(x) return x end\ntorch.save('a.t7', {f = f, n = 1})")
    assert "# port: functions are not saved [docs/porting.md#port-files]" in made
    assert 'torch7.save("a.t7", lua.without_functions({"f": f, "n": 1}))' in made


def test_a_new_table_that_a_loop_fills_is_a_list(draft: Callable[[str], str]) -> None:
    made = draft("""
        local function sequence(n)
          local x = {}
          for i = 1, n do x[i] = torch.zeros(2) end
          return x
        end
        local holes = {}
        for i = 1, 4 do if i > 2 then holes[i] = i end end
        print(#sequence(3), holes[3])
    """)
    assert "return [torch.zeros(2) for _ in range(n)]" in made
    assert "holes = {i: i for i in range(1, 5) if i > 2}" in made


def test_what_is_kept_by_step_counts_from_1(draft: Callable[[str], str]) -> None:
    made = draft("""
        require 'rnn'
        local lstm = nn.LSTM(2, 3)
        local kept = nn.rnn.recursiveCopy(nil, lstm.outputs[2])
    """)
    assert made.endswith("nn.utils.recursiveCopy(None, lstm.outputs.get(2))[0]")


def test_usual_copies_stay_as_they_are(draft: Callable[[str], str]) -> None:
    made = draft("local x = torch.zeros(2, 3)\nx[1]:copy(x[2])\nx:add(x)\nx[1]:add(x[2])")
    assert made.splitlines()[1:] == ["x[0].copy_(x[1])", "x.add_(x)", "x[0].add_(x[1])"]


def test_the_methods_of_what_is_loaded_tell_what_it_is(draft: Callable[[str], str]) -> None:
    made = draft("local r = torch.load('a.t7')\nprint(r.x[1], r.x:storageOffset())")
    assert 'r["x"].storage_offset() + 1' in made
