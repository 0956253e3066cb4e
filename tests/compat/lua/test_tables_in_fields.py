"""What scripts do with tables in fields of modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from compat import lua, nn, t7
from compat.lua_tables import MixedTable


@pytest.fixture
def runtime() -> Iterator[lua.Runtime]:
    runtime = lua.Runtime()
    runtime.execute("require 'nn' m = nn.Identity()")
    yield runtime
    runtime.close()


def test_unpacked_tables_stay_in_their_field(runtime: lua.Runtime) -> None:
    runtime.globals().m.f = [[1, 2], [3, [4]]]
    runtime.execute("a, b = unpack(m.f) a[1] = 9 b[2][1] = 7")
    assert runtime.eval("m.f[1] == a, m.f[1][1], m.f[2][2][1]") == (True, 9, 7)
    assert runtime.globals().m.f == [[9, 2], [3, [7]]]


def test_lua_s_functions_see_through(runtime: lua.Runtime) -> None:
    runtime.execute("m.f = {3, 1, 2} table.sort(m.f)")
    assert runtime.globals().m.f == [1, 2, 3]
    assert runtime.eval("table.concat(m.f, ','), #m.f, unpack(m.f)") == ("1,2,3", 3, 1, 2, 3)
    assert runtime.eval("next(m.f)") == (1, 1)
    assert runtime.eval("type(m.f), torch.type(m.f), getmetatable(m.f)") == (
        "table",
        "table",
        None,
    )
    assert runtime.eval(
        "rawget(m.f, 2), rawlen(m.f), table.getn(m.f), select('#', unpack(m.f))"
    ) == (
        2,
        3,
        3,
        3,
    )
    assert runtime.eval("table.remove(m.f), table.remove(m.f, 1), #m.f") == (3, 1, 1)
    assert runtime.execute("rawset(m.f, 'x', 4) return m.f.x") == 4
    assert runtime.globals().m.f == {1: 2, "x": 4}
    runtime.execute("m.f.x = nil")
    assert runtime.globals().m.f == [2]


def test_errors_are_those_of_tables(runtime: lua.Runtime) -> None:
    runtime.execute("m.f = {1}")
    for text, message in (
        ("m.f[nil] = 1", "index is nil"),
        ("m.f[0/0] = 1", "index is NaN"),
        ("next(m.f, 'x')", "invalid key to 'next'"),
    ):
        with pytest.raises(lua.LuaError, match=message):
            runtime.execute(text)
    assert runtime.globals().m.f == [1]


def test_a_metatable(runtime: lua.Runtime) -> None:
    runtime.execute("""
        m.f = {1, 2}
        mt = {
           __index = function(t, k) return 'no ' .. k end,
           __call = function(t, a) return a * t[1] end,
        }
        assert(setmetatable(m.f, mt) == m.f)
    """)
    assert runtime.eval("m.f[2], m.f.x, m.f(7), #m.f, getmetatable(m.f) == mt") == (
        *(2, "no x", 7, 2),
        True,
    )
    # Python has it as any table with a metatable.
    assert isinstance(runtime.globals().m.f, lua.LuaTable)
    runtime.execute("collectgarbage() mt.__tostring = function() return 'text' end")
    assert runtime.eval("m.f.x, tostring(m.f)") == ("no x", "text")
    assert runtime.eval("getmetatable(setmetatable(m.f, nil)), m.f.x, m.f[1]") == (None, None, 1)


def test_functions_of_torch_take_them(runtime: lua.Runtime) -> None:
    runtime.execute("""
        m.numbers, m.sizes, m.range = {{1, 2}, {3, 4}}, {2, 2}, {{1}, {2, 2}}
        m.tensors = {torch.ones(2), torch.zeros(2)}
        x = torch.Tensor(m.numbers)
    """)
    assert runtime.eval("x:sum(), torch.zeros(unpack(m.sizes)):nElement()") == (10, 4)
    assert runtime.eval("x[m.range]:sum(), torch.cat(m.tensors, 1):sum()") == (2, 2)
    assert runtime.eval("torch.LongStorage(m.sizes):size(), x:view(unpack(m.sizes)):dim()") == (
        2,
        2,
    )


def test_objects_of_lua_stay_and_are_cloned(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local A = torch.class('OfLua')
        function A:__init(v) self.v = v end
        m.one, m.list = OfLua(3), {OfLua(4), setmetatable({9}, {__index = {z = 1}})}
        c = m:clone()
    """)
    assert runtime.eval("m.one == m.one, m.list[1] == m.list[1], m.list[2].z") == (True, True, 1)
    assert runtime.eval("c.one ~= m.one, c.one.v, torch.type(c.list[1]), c.list[1].v") == (
        True,
        3,
        "OfLua",
        4,
    )


def test_cycles_and_one_table_in_two_fields(runtime: lua.Runtime) -> None:
    runtime.execute("""
        m.a = {torch.ones(1)}
        m.b, m.me = m.a, {m}
        m.a.self = m.a
        s = torch.deserialize(torch.serialize(m))
        c = m:clone():float()
    """)
    for name in "msc":
        assert runtime.eval(
            f"{name}.a == {name}.b, {name}.a.self == {name}.a, {name}.me[1] == {name}"
        ) == (True, True, True)
    assert runtime.eval("torch.type(c.a[1]), torch.type(m.a[1])") == (
        "torch.FloatTensor",
        "torch.DoubleTensor",
    )
    module = runtime.globals().m
    assert module.a is module.b and module.a["self"] is module.a and module.me[0] is module


def test_both_write(runtime: lua.Runtime) -> None:
    module: Any = nn.Sequential().add(nn.Tanh())
    runtime.execute("net = ... list = net.modules", module)
    module.modules.append(nn.ReLU())
    assert runtime.eval("#list, #net, torch.type(list[2])") == (2, 2, "nn.ReLU")
    runtime.execute("list[1] = nn.Abs() collectgarbage()")
    assert [type(part) for part in module.modules] == [nn.Abs, nn.ReLU]
    assert module.forward(torch.tensor([-2.0])).item() == 2


def test_an_argument_stays_lua_s(runtime: lua.Runtime) -> None:
    kept: list[Any] = []

    def changes(table: Any) -> None:
        table["b"] = 2

    runtime.execute("t = {a = 1} f = ... f(t)", changes)
    assert runtime.eval("t.a, t.b, rawequal(next(t), nil)") == (1, 2, False)
    runtime.execute("u = {1} g = ... g(u) u[2] = 5", kept.append)
    assert kept == [[1, 5]]
    kept[0].append(6)
    assert runtime.eval("#u, u[3]") == (3, 6)


def test_many_entries(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local list, map = {}, {}
        for i = 1, 1e5 do list[i], map['k' .. i] = i, i end
        m.list, m.map = list, map
        sum, n = 0, 0
        for _, v in ipairs(m.list) do sum = sum + v end
        for k, v in pairs(m.map) do n = n + 1 end
    """)
    assert runtime.eval("#m.list, sum, n") == (100_000, 5_000_050_000, 100_000)
    assert len(runtime.globals().m.map) == 100_000


def test_nets_are_freed(runtime: lua.Runtime) -> None:
    """A net whose table holds a module that holds the table is a cycle, and garbage."""
    import gc
    import weakref

    seen: list[weakref.ref[Any]] = []
    runtime.globals().note = lambda module: seen.append(weakref.ref(module))
    runtime.execute("""
        for i = 1, 50 do
           local net = nn.Sequential():add(nn.Tanh())
           net.own = {net, {net:get(1)}}
           net:get(1).up = net.own
           note(net)
        end
        collectgarbage() collectgarbage()
    """)
    gc.collect()
    assert sum(ref() is not None for ref in seen) <= 1


def test_a_list_with_gaps_stays_one(runtime: lua.Runtime) -> None:
    given: list[Any] = []
    runtime.execute("make, take = ...", lambda: [None, 2], given.append)
    runtime.execute("t = make() take(t) u = {make()} take(u)")
    assert runtime.eval("t[1], t[2], u[1][2]") == (None, 2, 2)
    assert given == [[None, 2], [[None, 2]]]


def test_many_tables_in_one(runtime: lua.Runtime) -> None:
    runtime.execute("q = {} for i = 1, 20000 do q[i] = {i} end m.q = q")
    assert runtime.eval("#m.q, m.q[20000][1], m.q == q") == (20_000, 20_000, True)


def test_traversals_see_keys_that_come(runtime: lua.Runtime) -> None:
    runtime.execute("m.e, m.t = {}, {a = 1} k = next(m.t) m.t.b = 2")
    assert runtime.eval("select('#', next(m.e)), next(m.t, k)") == (1, "b", 2)
    assert runtime.eval("select('#', next(m.t, 'b'))") == 1


def test_a_metatable_stays_when_nobody_holds_the_table(runtime: lua.Runtime) -> None:
    runtime.execute("m.f = {1} setmetatable(m.f, {__index = {x = 5}}) collectgarbage()")
    assert runtime.eval("m.f.x, m.f[1]") == (5, 1)


def test_functions_and_coroutines_are_themselves(runtime: lua.Runtime) -> None:
    runtime.execute("""
        f, co = function() end, coroutine.create(function() coroutine.yield(3) end)
        t = {[f] = 1, co}
        m:forward(t)
        m.k, m.co = {}, co
        m.k[f] = 5
    """)
    assert runtime.eval("t[f], t[1] == co, m.k[f], m.co == co") == (1, True, 5, True)
    assert runtime.eval("coroutine.resume(m.co)") == (True, 3)


def test_a_dict_filled_from_its_end_becomes_a_list(runtime: lua.Runtime) -> None:
    runtime.execute("m.t = {} for i = 300, 1, -1 do m.t[i] = i end")
    assert runtime.globals().m.t == list(range(1, 301))


def test_nodes_of_graphs_are_the_same(runtime: lua.Runtime) -> None:
    runtime.execute("""
        require 'nngraph'
        local x = nn.Identity()()
        g = nn.gModule({x}, {nn.Tanh()(x)})
        for i, node in ipairs(g.forwardnodes) do node.data.mine = {i} end
    """)
    assert runtime.eval("g.forwardnodes[2].data.mine[1], g.innode == g.forwardnodes[1]") == (
        2,
        True,
    )
    runtime.execute(
        "g:replace(function(m) return torch.type(m) == 'nn.Tanh' and nn.ReLU() or m end)"
    )
    modules = "torch.type(g.forwardnodes[3].data.module)"
    assert runtime.eval(modules) == "nn.ReLU"


def test_a_table_becomes_an_object(runtime: lua.Runtime) -> None:
    runtime.execute("""
        torch.class('Becomes')
        function Becomes:first() return self[1] end
        m.a, m.b, m.net = {1, 2}, {3}, {modules = {nn.Tanh()}, _type = 'torch.DoubleTensor'}
        a, b, net = m.a, m.b, m.net
        torch.setmetatable(a, 'Becomes')
        debug.setmetatable(b, {__index = {z = 9}})
        torch.setmetatable(net, 'nn.Sequential')
        collectgarbage()
    """)
    assert runtime.eval("torch.type(m.a), m.a:first(), a[2], m.a == a") == ("Becomes", 1, 2, True)
    assert runtime.eval("m.b[1], m.b.z, m.b == b") == (3, 9, True)
    assert runtime.eval("net:forward(torch.zeros(1))[1], m.net == net") == (0, True)


def test_table_layers_read_the_entries_of_any_table(runtime: lua.Runtime) -> None:
    runtime.execute("""
        a, b = torch.Tensor{1, 2}, torch.Tensor{3, 4}
        for _, make in ipairs{
           function(t) t.x = 5 return t end,
           function(t) return setmetatable(t, {__index = {size = 3}}) end,
        } do
           local sum = nn.Sequential():add(nn.Identity()):add(nn.CAddTable())
           assert(sum:forward(make{a, b})[2] == 6)
           local g = sum:backward(make{a, b}, a)
           assert(#g == 2 and g[1][2] == 2 and g[2][1] == 1 and g.x == nil)
           assert(nn.JoinTable(1):forward(make{a, make{a, b}[2]}):size(1) == 4)
           local both = nn.ParallelTable():add(nn.MulConstant(2)):add(nn.Identity())
           assert(both:forward(make{a, b})[1][2] == 4)
           assert(#nn.FlattenTable():forward(make{a, make{b, a}}) == 3)
           local criterion = nn.ParallelCriterion():add(nn.MSECriterion()):add(nn.AbsCriterion())
           assert(criterion:forward(make{a, b}, make{b, a}) == 6)
           local t = make{a, b}
           assert(nn.Identity():forward(t) == t)
        end
        named = nn.SelectTable('x'):forward{a, x = b}
    """)
    assert runtime.globals().named.tolist() == [3, 4]


def test_further_keys_of_modules(runtime: lua.Runtime) -> None:
    runtime.execute("""
        net = nn.Sequential():add(nn.Linear(2, 2))
        net.modules.extra = nn.Linear(2, 3)
        copy = net:clone():float()
        loaded = torch.deserialize(torch.serialize(net))
    """)
    for name in ("net", "copy", "loaded"):
        assert runtime.eval(f"#{name}.modules, #{name}:parameters()") == (1, 2)
    assert runtime.eval("copy.modules.extra.weight:type(), net.modules.extra.weight:type()") == (
        "torch.FloatTensor",
        "torch.DoubleTensor",
    )
    net = runtime.globals().net
    assert isinstance(net.modules, MixedTable) and len(net.modules) == 1
    assert net.modules["extra"].weight.shape == (3, 2)


def test_further_keys_in_a_file(runtime: lua.Runtime, tmp_path: Any) -> None:
    runtime.globals().path = str(tmp_path / "net.t7")
    runtime.execute("""
        net = nn.Sequential():add(nn.Linear(2, 2))
        net.modules.extra = nn.Linear(2, 3)
        torch.save(path, net)
    """)
    net = t7.load(tmp_path / "net.t7")
    t7.save(tmp_path / "net.t7", net)
    runtime.execute("again = torch.load(path)")
    assert runtime.eval("#again.modules, again.modules.extra.weight:size(1)") == (1, 3)


def test_python_refuses_dicts_as_before() -> None:
    with pytest.raises(TypeError, match=r"nn\.JoinTable"):
        nn.JoinTable(1).forward({1: torch.ones(1), "x": torch.ones(1)})


def test_clones_have_functions_of_their_own(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local Counting, parent = torch.class('nn.Counting', 'nn.Identity')
        function Counting:__init()
           parent.__init(self)
           self.n = 0
           self.count = function() self.n = self.n + 1 return self.n end
        end
        function Counting:updateOutput(input)
           self.count()
           return parent.updateOutput(self, input)
        end
        net = nn.Sequential():add(nn.Counting()):add(nn.Linear(1, 1))
        copy = net:clone('weight', 'bias')
        for _ = 1, 3 do copy:forward(torch.ones(1)) end
    """)
    assert runtime.eval("net:get(1).n, copy:get(1).n") == (0, 3)
    assert runtime.eval("net:get(1).count(), copy:get(1).count(), net:get(1).n") == (1, 4, 1)


def test_copies_have_the_methods_of_one_object(runtime: lua.Runtime) -> None:
    runtime.execute("""
        calls = {}
        local before, seen = nn.Linear.updateOutput, 0
        m = nn.Linear(2, 2)
        m.updateOutput = function(self, input)
           seen = seen + 1
           calls[#calls + 1] = seen
           return before(self, input)
        end
        m:forward(torch.ones(2))
        for _, copy in ipairs{m:clone(), torch.deserialize(torch.serialize(m))} do
           copy:forward(torch.ones(2))
           copy:forward(torch.ones(2))
           assert(torch.isTensor(copy.output) and copy.output:size(1) == 2)
        end
        m:forward(torch.ones(2))
    """)
    assert runtime.globals().calls == [1, 2, 3, 2, 3, 2]


def test_tables_nested_three_thousand_deep(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local t = torch.ones(1)
        for _ = 1, 3000 do t = {t} end
        m.f = t
        copy, loaded = m:clone():float(), torch.deserialize(torch.serialize(m))
        m:forward(m.f)
        function depth(t)
           local n = 0
           while type(t) == 'table' do n, t = n + 1, t[1] end
           return n, torch.type(t)
        end
    """)
    for name, kind in (("m.f", "Double"), ("copy.f", "Float"), ("loaded.f", "Double")):
        assert runtime.eval(f"depth({name})") == (3000, f"torch.{kind}Tensor")


def test_tables_with_metatables_change_type_with_their_module(runtime: lua.Runtime) -> None:
    # As nn.utils.recursiveType of Torch7 does it: what they hold changes, they stay.
    runtime.execute(
        """
        S = {} S.__index = S
        P = torch.class('PlainOne') function P:__init() self.t = torch.ones(1) end
        w = torch.ones(2)
        s = setmetatable({items = {w}, again = w, net = nn.Linear(1, 1), plain = PlainOne()}, S)
        s.itself = s
        m.s, m.list = s, {s, {s}}
        c = nn.MSECriterion() c.s = setmetatable({torch.ones(1)}, {})
        m:float() c:float()
        """
    )
    assert runtime.eval("m.s == s, getmetatable(m.s) == S, m.list[2][1] == s") == (True,) * 3
    assert runtime.eval("s.items[1]:type(), c.s[1]:type(), s.net.weight:type()") == (
        ("torch.FloatTensor",) * 3
    )
    # One tensor stays one; what a variable has, and objects of other classes, stay as they are.
    assert runtime.eval("s.again:fill(7)[1], s.items[1][2]") == (7, 7)
    assert runtime.eval("w:type(), s.plain.t:type()") == ("torch.DoubleTensor",) * 2


def test_an_output_with_a_metatable_goes_on_to_python_s_layers(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        S = {} S.__index = S function S:hi() return 'hi' end
        local C = torch.class('nn.Pair', 'nn.Module')
        function C:updateOutput(x) self.output = setmetatable({x, x * 2}, S) return self.output end
        pair = nn.Pair()
        net = nn.Sequential():add(pair):add(nn.CAddTable())
        first = net:forward(torch.ones(2))[1]
        net:float()
        """
    )
    assert runtime.eval("first, pair.output:hi(), pair.output[2]:type()") == (
        3,
        "hi",
        "torch.FloatTensor",
    )
