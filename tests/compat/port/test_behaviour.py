"""A draft prints what its Lua prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat import nn

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

PIECES = {
    "places in files, whose characters are bytes": """
        local name = os.tmpname()
        local f = io.open(name, 'w')
        f:write('12 0x10 h\\195\\169llo\\n', 5, '\\n')
        f:close()
        f = io.open(name)
        print(f:read('*n', '*n'))
        print(f:seek('cur', 1), #f:read(2), f:seek('end', -2), f:read('*l'), f:read('*l'))
        print(f:seek('set'), f:read(0), #f:read('*l'), f:read('*a'), f:read(0))
        f:close()
        os.remove(name)
    """,
    "what a tensor's type makes of another tensor": """
        local x = torch.zeros(3)
        local new = x.new
        local y = new(torch.ones(2))
        print(y:sum(), new(2, 3):dim(), new({1, 2}):sum(), x:sum())
        local size, stride = torch.LongStorage{2, 2}, torch.LongStorage{2, 1}
        local z = torch.Tensor():set(torch.range(1, 6):storage(), 2, size, stride)
        print(z:sum(), z:size(1))
    """,
    "the ends of a graph": """
        require 'nngraph'
        local a, b = nn.Identity()(), nn.Identity()()
        local h = nn.CAddTable(){nn.Linear(2, 3)(a), nn.Linear(2, 3)(b)}
        local net = nn.gModule({a, b}, {nn.Tanh()(h), nn.ReLU()(h)})
        print(#net.outnode.children, #net.innode.children, torch.type(net.outnode))
        for i, node in ipairs(net.outnode.children) do
          print(i, torch.type(node.data.module), #node.children)
        end
    """,
    "entries of a node of nngraph": """
        require 'nngraph'
        e = nn.Identity()()
        local net = nn.gModule({e}, {nn.Tanh()(e)})
        local out = {}
        for t = 1, 2 do
          e[t] = torch.ones(2) * t
          out[t] = net:forward(e[t]):sum()
        end
        print(e[1][1], e[2][1], e[3], out[2])
    """,
    "a layer of the script's that gives two results": """
        require 'nn'
        local Two = torch.class('GivesTwoResults', 'nn.Module')
        function Two:__init() nn.Module.__init(self) end
        function Two:updateOutput(x)
          self.output = x * 2
          return self.output, x[1]
        end
        two = GivesTwoResults()
        if os.getenv('THAT_NOBODY_SETS') then two = two:cl() end
        local a, b = two:forward(torch.ones(2))
        print(a[1], b, two:forward(torch.ones(1)))
    """,
    "criterions of the script's that give one gradient, or two": """
        require 'nn'
        local One = torch.class('GivesOneGradient', 'nn.Criterion')
        function One:updateOutput(x, y) self.output = 1 return 1 end
        function One:updateGradInput(x, y) return x * 2 end
        local Both = torch.class('GivesBothGradients', 'nn.Criterion')
        function Both:updateOutput(x, y) self.output = 2 return 2 end
        function Both:updateGradInput(x, y) return x * 2, y * 3 end
        local Loss = torch.class('HasALoss')
        function Loss:__init(is_one)
          if is_one then self.loss = GivesOneGradient() else self.loss = GivesBothGradients() end
          self.both = GivesBothGradients()
        end
        function Loss:grads(x)
          local dx = self.loss:backward(x, x)
          local _, dy = self.both:backward(x, x)
          return dx:mul(2):sum(), dy:sum()
        end
        print(HasALoss(true):grads(torch.ones(2)))
        print(HasALoss(false):grads(torch.ones(2)))
    """,
    "a node that is split into as many as a variable says": """
        require 'nngraph'
        local function cut(s, n) local all = {s:split(n)} return all[1], all[2] end
        local s = nn.Identity()()
        local a, b = cut(s, 2)
        local net = nn.gModule({s}, {nn.CAddTable()({a, b})})
        print(net:forward({torch.ones(2), torch.ones(2)}):sum())
    """,
    "methods that have names of unittest's": """
        local T = torch.class('Checker')
        function T:assert(c) print('assert', c) end
        function T:assertEquals(a, b) print(a == b) end
        function T:run(a) self:assert(a > 2) self:assertEquals(a, 3) end
        Checker():run(3)
    """,
    "a constructor that stays in Lua sets the object's fields": """
        rl = {}
        local A = torch.class('rl.A')
        function A:__init() self.a = 1 end
        local B = torch.class('rl.B', 'rl.A')
        function B:__init(n)
          self.low = 1.5
          ::top::
          self.low = self.low + 1
          if self.low < n then goto top end
          self.t = torch.Tensor({self.low, -self.low})
        end
        function B:go() return self.low end
        local b = rl.B(3)
        print(b.low, b.t[2], b:go())
    """,
    "gsub with what is no text": """
        local n = 0
        print(('a1b22'):gsub('%d+', function(d) n = n + 1 return d * 2 end), n)
        print(('a b'):gsub('%w', {a = 1, b = false}), ('abc'):gsub('()', '%1', 2))
        print(pcall(string.gsub, 'abc', 'b', function() return {} end))
    """,
    "entries past the end of a list": """
        local e, t, i, n = {}, {4, 5}, 1, 0
        print(e[1] or 'empty', not e[1], t[3 / 2])
        while t[i] do n = n + t[i] i = i + 1 end
        print(n)
    """,
    "parameters of one name": """
        local function twice(i, _, _) return i end
        local function g(args, ...) return select('#', ...), args end
        print(twice(3, 1, 2), g(1, 2, 3))
    """,
    "metamethods that take less than they are given": """
        local t = setmetatable({}, {__newindex = function(t, k) rawset(t, k, 'set') end,
                                    __tostring = function() return 'MT' end})
        t.a = 1
        print(t.a, tostring(t))
    """,
    "a key in braces of what nobody knows": """
        local function f(x) x[{{}, 1}] = 1 return x end
        print(f(torch.zeros(2, 2)))
    """,
    "results of getParameters that are passed on": """
        require 'nn'
        local function f(net) return net:getParameters() end
        print((f(nn.Linear(2, 1)):size(1)))
    """,
    "as many elements in another shape": """
        local x, n = torch.range(1, 4):view(2, 2), 0
        local mean, std = torch.ones(1, 2), torch.ones(1, 2) * 2
        x[1]:add(-1, mean):cdiv(std)
        local v, row = torch.ones(4), torch.ones(1, 4)
        print(x, torch.cmul(v, row):dim(), torch.add(v, 2, row):dim())
        print((v + row):dim(), (row - v):dim())
        local function make() n = n + 1 return torch.zeros(2, 2) end
        local r = make():copy(torch.range(1, 4))
        print(r, torch.cmul(make(), torch.range(1, 4)), n)
    """,
    "truth": "print(0 and 'zero', '' and 'empty', nil and 1, false or 2, nil == false, not 0)",
    "and or with a false middle": """
        local x = 5
        print(x > 3 and false or 'other', x > 3 and x or 1)
    """,
    "numbers as text": """
        print(10 / 2, 7 / 2, 1e15, 2 ^ 53, 1 / 0, -1 / 0)
        print(3 % -2, -3 % 2, 0.1 + 0.2)
    """,
    "closures of a loop": """
        local fs = {}
        for i = 1, 3 do fs[i] = function() return i * 2 end end
        print(fs[1](), fs[2](), fs[3]())
    """,
    "counter": """
        local function counter()
          local n = 0
          return function() n = n + 1; return n end
        end
        local c = counter()
        c()
        print(c(), c())
    """,
    "varargs": """
        local function f(...) local t = {...}; return #t, select('#', ...), ... end
        print(f(1, 2, 3))
        print((f(1, 2)))
    """,
    "several results": """
        local function f(x) if x > 0 then return x, 'pos' end; return nil end
        local a, b = f(1)
        local c, d = f(-1)
        print(a, b, c, d)
    """,
    "swap": "local a, b = 1, 2\na, b = b, a\nprint(a, b)",
    "repeat sees its locals": "local n = 0\nrepeat local m = n; n = n + 1 until m == 3\nprint(n)",
    "float steps": "for x = 0, 1, 0.25 do io.write('') print(x) end",
    "strings": """
        local s = 'hello world'
        print(s:sub(1, 5), s:sub(-5), s:sub(2, -2), s:upper(), #s)
        print(s:rep(2), s:find('wor'), s:byte(1))
        print(s:gsub('o', '0'), s:match('(%a+) (%a+)'))
        for w in s:gmatch('%a+') do print(w) end
    """,
    "tables": """
        local t = {5, 3, 8}
        table.sort(t)
        table.insert(t, 1, 0)
        print(table.concat(t, ','), table.remove(t), #t)
        table.sort(t, function(a, b) return a > b end)
        print(table.concat(t, ' '))
        local d = {a = 1}
        d.b = 2
        d.a = nil
        for k, v in pairs(d) do print(k, v) end
    """,
    "shadows": """
        local x = 1
        do local x = 2; print(x) end
        local x = x + 10
        print(x)
        local function f() local y = x; local x = 5; return x + y end
        print(f())
    """,
    "metatables": """
        local mt = {
          __index = function(t, k) return k .. '!' end,
          __call = function(self, n) return n + 1 end,
        }
        local t = setmetatable({}, mt)
        print(t.foo, t(1))
    """,
    "classes": """
        local Account = {}
        Account.__index = Account
        function Account.new(n) local self = setmetatable({}, Account); self.n = n; return self end
        function Account:add(m) self.n = self.n + m; return self end
        function Account:get() return self.n end
        print(Account.new(1):add(2):add(3):get())
    """,
    "errors": """
        local ok, e = pcall(function() error({code = 7}) end)
        print(ok, e.code)
        print(select('#', pcall(function() return 1, 2 end)))
    """,
    "coroutines": """
        local gen = coroutine.wrap(function(a)
          for i = 1, 2 do a = a + coroutine.yield(i, a) end
          return 'done'
        end)
        print(gen(10)) print(gen(5)) print(gen(1))
    """,
    "tensors": """
        local x = torch.range(1, 6):resize(2, 3)
        print(x, x:t(), x[2][3], x[{{}, 2}], x:sum(), x:mean(2), x:size())
        local m, i = x:max(2)
        print(m, i, x:gt(3), x:gt(3):sum(), x[x:gt(3)])
        x:add(2, torch.ones(2, 3)):mul(0.5)
        x[1]:fill(7)
        x[{{}, {2, 3}}] = 0
        print(x, torch.cat(x, x, 1), x:narrow(2, 1, 1), torch.sort(torch.Tensor{3, 1, 2}, 1, true))
        local y = x
        print(y == x, y ~= x:clone(), #x)
    """,
    "files that only Lua has": """
        local name = os.tmpname()
        local f = torch.DiskFile(name, 'w')
        f:writeInt(5)
        f:writeString('hello')
        f:close()
        f = torch.DiskFile(name, 'r')
        print(f:readInt(), f:readString('*l'), pcall(f.position, f))
        f:close()
        os.remove(name)
    """,
    "memory": """
        local ffi = require 'ffi'
        local names = torch.CharTensor(2, 6):fill(0)
        local p = names:data()
        for _, word in ipairs{'ab', 'cde'} do ffi.copy(p, word); p = p + 6 end
        print(ffi.string(names:data()), ffi.string(torch.data(names[2])), names:data()[1])
    """,
    "libraries of C": """
        local ffi = require 'ffi'
        ffi.cdef[[
        double cos(double x);
        double frexp(double x, int *e);
        typedef struct { int a; double b[2]; } pair_t;
        ]]
        local m = ffi.load('m')
        print(m.cos(0), ffi.C.cos(0))
        local e = ffi.new('int[1]')
        local r = m.frexp(8, e)
        print(r, e[0])
        local p = ffi.new('pair_t')
        p.a = 3
        p.b[1] = 2.5
        print(p.a, p.b[0], p.b[1])
        local q = ffi.new('pair_t[2]')
        q[1].a = 7
        print(q[1].a, tonumber(q[0].a))
        local s = ffi.new('char[6]', 'hello')
        print(ffi.string(s))
        for i = 0, 1 do print(s[i]) end
    """,
    "a function in a for": """
        local function upto(n)
          local i = 0
          return function() i = i + 1; if i <= n then return i, i * i end end
        end
        for i, square in upto(3) do print(i, square) end
    """,
    "the globals' table": """
        local count = 5
        _G.count = 7
        print(count, _G.count)
    """,
    "elements that a function leaves": """
        local x = torch.Tensor{-1, 2, -3}
        print(x:apply(function(v) if v < 0 then return 0 end end))
    """,
    "sizes that change": """
        local size = torch.ones(2, 3):size()
        size[1] = 4
        print(size, torch.zeros(size):nElement())
    """,
    "functions of one table": """
        local t = {}
        function t.one() return 1 end
        function t.two() return 1, 2 end
        local copy = {}
        for k, v in pairs(t) do copy[k] = v end
        print(t.one(), (t.two()), copy.one())
    """,
    "a function by its name": """
        for _, name in ipairs{'abs', 'sign'} do print(torch[name](torch.Tensor{-2, 3})) end
    """,
    "numbers that are infinite": """
        print(torch.Tensor{1 / 0, -1 / 0, 3}, torch.Tensor{0.5, 1 / 0})
    """,
    "a net copied field by field": """
        require 'nn'
        local function copied(t)
          local c = {}
          for k, v in pairs(t) do
            if type(v) == 'table' then c[k] = copied(v) else c[k] = v end
          end
          if torch.typename(t) then torch.setmetatable(c, torch.typename(t)) end
          return c
        end
        local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.View(-1))
        local other = copied(net):float()
        print(torch.type(other), #other.modules, other:get(1).weight:type())
        print(net:get(1).weight:type(), other:forward(torch.ones(1, 2):float()):size())
    """,
    "a method put into an object": """
        require 'nn'
        local calls, tanh = 0, nn.Tanh()
        local old = tanh.updateOutput
        tanh.updateOutput = function(self, input) calls = calls + 1; return old(self, input) end
        print(tanh:forward(torch.zeros(2)):sum(), calls)
    """,
    "own layers": """
        require 'nn'
        torch.manualSeed(1)
        local Gain, parent = torch.class('nn.PortGain', 'nn.Module')
        function Gain:__init(factor) parent.__init(self); self.factor = factor end
        function Gain:updateOutput(input)
          self.output:resizeAs(input):copy(input):mul(self.factor)
          return self.output
        end
        function Gain:updateGradInput(input, gradOutput)
          self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.factor)
          return self.gradInput
        end
        local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.PortGain(2))
        local x = torch.ones(1, 2)
        print(net:forward(x), net:backward(x, torch.ones(1, 3)))
    """,
    "whether folders are made": """
        require 'paths'
        os.execute('rm -rf made_by_port')
        if not paths.dirp('made_by_port') and not paths.mkdir('made_by_port') then print('bad') end
        print(paths.mkdir('made_by_port'))
        local ok, reason = os.remove('made_by_port/none')
        print(ok, reason, paths.dirp('made_by_port'), os.rename('made_by_port', 'made_by_port2'))
        os.execute('rm -r made_by_port2')
    """,
    "what a command writes": """
        local f = io.popen('echo one; echo two')
        print(f:read('*line'), f:read('*a'))
        f:close()
        for line in io.popen('echo three; echo four'):lines() do print(line) end
    """,
    "graphs by minus": """
        require 'nngraph'
        torch.manualSeed(1)
        local x = - nn.Identity()
        local a = x - nn.Linear(2, 3) - nn.Tanh()
        local b = {a, x - nn.Linear(2, 3)} - nn.CAddTable()
        print(nn.gModule({x}, {b}):forward(torch.ones(2)):sum())
    """,
    "graphs: nodes of own layers, parts of a node, forwardnodes, the largest of a row": """
        require 'nngraph'
        local hot, parent = torch.class('OneHot', 'nn.Module')
        function hot:__init(outputSize)
          parent.__init(self)
          self.outputSize = outputSize
          self._eye = torch.eye(outputSize)
        end
        function hot:updateOutput(input)
          self.output:resize(input:size(1), self.outputSize):zero()
          self.output:copy(self._eye:index(1, input:long()))
          return self.output
        end
        local function lstm(n)
          local input = nn.Identity()()
          local x = OneHot(n)(input)
          local i2h = nn.Linear(n, 4 * n)(x):annotate{name='i2h'}
          local reshaped = nn.Reshape(4, n)(i2h)
          local n1, n2, n3, n4 = nn.SplitTable(2)(reshaped):split(4)
          local g = nn.CMulTable()({nn.Sigmoid()(n1), nn.Tanh()(n2)})
          local h = nn.CAddTable()({g, nn.CMulTable()({n3, n4})})
          return nn.gModule({input}, {h})
        end
        torch.manualSeed(1)
        local net = lstm(3)
        for _, node in ipairs(net.forwardnodes) do
          if node.data.annotations.name == 'i2h' then
            print('setting', node.data.annotations.name)
            node.data.module.bias[{{1, 3}}]:fill(1)
          end
        end
        print(net:forward(torch.Tensor{1, 3, 2}):sum())
        local values, places = torch.Tensor{{1, 5, 3, 2}, {4, 3, 2, 1}}:topk(2, 2, true, true)
        print(values:sum(), places[1][1], places[1][2], places[2][1])
    """,
    "nets on GPUs, which may be CPUs": """
        require 'cunn'
        local Turn, parent = torch.class('nn.Turn', 'nn.Module')
        function Turn:updateOutput(x) self.output = x * 2 return self.output end
        function Turn:updateGradInput(x, gradOutput)
           self.gradInput:resizeAs(x):zero():baddbmm(gradOutput:transpose(2, 3), x)
           return self.gradInput
        end
        local net = nn.Sequential():add(nn.Turn()):cuda():clearState()
        local x = torch.ones(1, 3, 3):cuda()
        print(net:forward(x):sum(), net:backward(x, x):sum(), net.gradInput:getDevice())
    """,
    "methods that a program gives tensors": """
        function torch.FloatTensor:front()
          local sizes = self:size()
          local new = torch.LongStorage(sizes:size() + 1)
          new[1] = 1
          for i, n in ipairs(sizes:totable()) do new[i + 1] = n end
          return self:view(new)
        end
        local x = torch.FloatTensor(2, 3):front()
        print(x:dim(), x:size(3), x.front ~= nil)
        torch.DoubleTensor.twice = function(self) return self * 2 end
        print(torch.ones(2):twice():sum())
    """,
    "types by name, of GPUs too": """
        require 'cutorch'
        local function of(type) return torch.ones(2):type(type) end
        print(of('torch.CudaTensor'):sum(), of('torch.IntTensor'):type())
        print(torch.zeros(2):type('torch.CudaTensor'):sum())
    """,
    "nets of several devices that give lists, and a device for one function": """
        require 'cunn'
        local function heads()
          local net = nn.ConcatTable():add(nn.Linear(3, 2)):add(nn.Linear(3, 1))
          return net:cuda()
        end
        local x = torch.ones(4, 3):cuda()
        local r = nn.DataParallelTable(1):add(heads(), {1}):cuda():forward(x)
        print(#r, r[1]:size(2), r[2]:size(2))
        local net = nn.DataParallelTable(1)
        net:add(heads(), {1})
        print(#net:cuda():forward(x), net:forward(x)[2]:size(1))
        print(cutorch.withDevice(1, function() return cutorch.getDevice(), 'x' end))
        local id, name = cutorch.withDevice(1, function() return 1, 'y' end)
        print(id + 1, name)
    """,
    "callbacks that take fewer than others give": """
        local function pass(make, take) return take(make()) end
        local function one(a) return a end
        local function two(a, b) return b end
        print(pass(function() return 3, 4 end, one), pass(function() return 5 end, two))
        print(pass(function() return 6 end, one), pass(function() return 7, 8 end, two))
    """,
}


@pytest.mark.parametrize("name", PIECES)
def test_a_draft_prints_what_its_lua_prints(
    both: Callable[[str], tuple[str, str]], name: str
) -> None:
    lua, python = both(PIECES[name])
    assert python == lua


_NUMBERS = st.integers(-5, 9).map(str) | st.sampled_from(["0.5", "2.25", "1e3"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*"])
    return st.tuples(inner, operators, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})") | st.tuples(
        inner, inner, inner
    ).map(lambda p: f"({p[0]} < {p[1]} and {p[2]} or {p[1]})")


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.recursive(_NUMBERS, _larger, max_leaves=6), min_size=10, max_size=20))
def test_expressions_of_numbers(
    both: Callable[[str], tuple[str, str]], expressions: list[str]
) -> None:
    lua, python = both("\n".join(f"print({e})" for e in expressions))
    # An int of Python has no -0.
    plain = {"-0": "0"}
    assert [plain.get(n, n) for n in python.split()] == [plain.get(n, n) for n in lua.split()]


def test_backward_with_another_input_keeps_what_forward_computed(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua, python = both(
        """
        require 'nn'
        torch.manualSeed(1)
        local net = nn.Sequential():add(nn.Linear(4, 2)):add(nn.Tanh())
        local x, y = torch.randn(3, 4), torch.randn(3, 4)
        net:forward(x)
        net:zeroGradParameters()
        print(('%.8f'):format(net:backward(y, torch.ones(3, 2)):norm()))
        print(('%.8f'):format(net:get(1).gradWeight:norm()))
        """
    )
    assert lua == python


def test_what_a_linter_makes_of_a_lambda_is_called() -> None:
    from compat.port import lua

    assert (lua.either(None, list), lua.either(3, dict), lua.both(3, dict)) == ([], 3, {})


def test_a_table_with_a_metatable_reads_as_in_python() -> None:
    from compat.port import lua

    data = lua.Table({"items": [3, 4]})
    data["size"] = lambda self: len(self["items"])
    lua.setmetatable(data, {"__index": lambda self, i: self["items"][i - 1] * 10})
    assert (data.size(), data[2], data["size"](data)) == (2, 40, 2)
    assert lua.setmetatable(lua.Table(), None)["nothing"] is None
    assert lua.Table().nothing is None  # as a class's methods read fields
    noted = lua.Table()
    kept: dict[str, int] = {}
    lua.setmetatable(noted, {"__newindex": lambda self, k, v: kept.update({k: v})})
    noted["a"] = 1
    assert kept == {"a": 1} and dict(noted) == {}


def test_a_net_of_which_nothing_is_known_takes_tables_as_lists() -> None:
    from compat.port import lua

    net = nn.MapTable(nn.Identity())
    states = lua.Table({1: torch.ones(2), 2: torch.zeros(3)})
    assert [x.numel() for x in lua.method(net, "forward", states)] == [2, 3]
    assert [x.numel() for x in lua.method(net, "backward", states, states)] == [2, 3]
