"""Nets of compat in Lua: one object on both sides, its fields, methods, results and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from compat import lua, nn, t7


@pytest.fixture
def net(runtime: lua.Runtime) -> Any:
    runtime.execute("require 'nn' net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh())")
    return runtime.globals().net


def test_a_net_is_the_python_object(runtime: lua.Runtime, net: nn.Sequential) -> None:
    assert isinstance(net, nn.Sequential)
    assert runtime.globals().net is net
    runtime.globals().again = net
    assert runtime.eval("rawequal(again, net) and again.modules[1] == net:get(1)")


def test_a_net_is_a_table_with_fields(runtime: lua.Runtime, net: nn.Sequential) -> None:
    assert runtime.eval("type(net), torch.type(net), torch.isTypeOf(net, 'nn.Container')") == (
        "table",
        "nn.Sequential",
        True,
    )
    runtime.execute("names = {} for k in pairs(net:get(1)) do names[k] = true end")
    assert runtime.eval("names.weight and names.gradWeight and names.output and names._type")
    runtime.execute("net.label = {first = 1} net.label.second = 2 net:get(1).gradInput = nil")
    runtime.execute("net:training()")
    assert net.__dict__["label"] == {"first": 1, "second": 2}
    assert net.get(1).gradInput is None
    assert runtime.eval("rawequal(net.label, net.label)")


def test_the_table_of_modules_is_alive(runtime: lua.Runtime, net: nn.Sequential) -> None:
    runtime.execute("table.insert(net.modules, nn.Linear(4, 2)) o = net:forward(torch.ones(3))")
    assert len(net.modules) == 3
    assert runtime.eval("o:size(1)") == 2
    net.add(nn.Tanh())
    assert runtime.eval("#net.modules") == 4


def test_results_equal_those_from_python(runtime: lua.Runtime, net: nn.Sequential) -> None:
    x = torch.randn(5, 3, dtype=torch.float64)
    runtime.globals().x = x
    runtime.execute("y = net:forward(x) net:zeroGradParameters() g = net:backward(x, y)")
    own = torch.tanh(x @ net.get(1).weight.T + net.get(1).bias)
    torch.testing.assert_close(runtime.globals().y, own)
    slope = (1 - own**2) * own
    torch.testing.assert_close(runtime.globals().g, slope @ net.get(1).weight)
    torch.testing.assert_close(net.get(1).gradWeight, slope.T @ x)


def test_the_output_is_one_tensor_that_forward_overwrites(
    runtime: lua.Runtime, net: nn.Sequential
) -> None:
    runtime.execute(
        """
        a = net:forward(torch.ones(2, 3))
        row, before = a[1], a:clone()
        b = net:forward(torch.zeros(2, 3))
        """
    )
    assert runtime.eval("rawequal(a, b) and rawequal(a, net.output)")
    assert runtime.eval("row[1] == b[1][1] and row[1] ~= before[1][1]")


def test_parameters_may_change_between_forward_and_backward(
    runtime: lua.Runtime, net: nn.Sequential
) -> None:
    runtime.execute(
        """
        local x = torch.ones(3)
        local p, g = net:getParameters()
        net:forward(x)
        p:mul(2)
        net:backward(x, net.output)
        p:zero()
        net:backward(x, net.output)
        zero = net:get(1).weight:norm()
        """
    )
    assert runtime.globals().zero == 0


def test_methods_of_one_object_and_of_classes_are_replaced(
    runtime: lua.Runtime, net: nn.Sequential
) -> None:
    runtime.execute(
        """
        local layer, calls = net:get(1), 0
        local old = layer.updateOutput
        layer.updateOutput = function(self, x) calls = calls + 1 return old(self, x) end
        net:forward(torch.ones(3)) net:clone():forward(torch.ones(3))
        layer.updateOutput = nil
        net:forward(torch.ones(3))
        seen = calls
        function nn.Module:describe() return 'a ' .. torch.type(self) end
        """
    )
    assert runtime.globals().seen == 1  # the clone counts by itself
    assert runtime.eval("net:describe()") == "a nn.Sequential"
    assert not hasattr(net, "describe")


CLASS = """
require 'nn'
local Scaled, parent = torch.class('nn.Scaled', 'nn.Linear')
function Scaled:__init(n, m, by) parent.__init(self, n, m) self.by = by end
function Scaled:updateOutput(x)
   parent.updateOutput(self, x)
   self.output:mul(self.by)
   return self.output
end
function Scaled:updateGradInput(x, g) return parent.updateGradInput(self, x, g * self.by) end
function Scaled:accGradParameters(x, g, s) parent.accGradParameters(self, x, g * self.by, s) end
function Scaled:__tostring__() return 'Scaled(' .. self.by .. ')' end
"""


def test_a_class_of_lua_derives_from_ours(runtime: lua.Runtime, tmp_path: Path) -> None:
    runtime.execute(CLASS)
    runtime.globals().path = str(tmp_path / "net.t7")
    runtime.execute(
        """
        net = nn.Sequential():add(nn.Scaled(3, 2, 5)):add(nn.Tanh())
        error_of = nn.Jacobian.testJacobian(net, torch.randn(2, 3))
        local layer, x = net:get(1), torch.randn(2, 3)
        of_weight = nn.Jacobian.testJacobianParameters(net, x, layer.weight, layer.gradWeight)
        torch.save(path, net)
        again = torch.load(path)
        same = again:forward(torch.ones(3)):equal(net:clone():forward(torch.ones(3)))
        """
    )
    assert runtime.globals().error_of < 1e-6
    assert runtime.globals().of_weight < 1e-6
    assert runtime.globals().same
    assert "(1): Scaled(5)" in runtime.eval("tostring(again)") == str(runtime.globals().net)
    read = t7.load(tmp_path / "net.t7")
    assert read.get(1).by == 5
    assert runtime.eval("torch.type(again:get(1)), torch.isTypeOf(again:get(1), 'nn.Linear')") == (
        "nn.Scaled",
        True,
    )


def test_classes_of_lua_work_in_the_threads_of_a_container(
    runtime: lua.Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dptable")
    monkeypatch.setenv("T7_NGPU", "2")
    runtime.execute(CLASS)
    runtime.execute(
        """
        require 'cunn'
        local net = nn.Sequential():add(nn.Scaled(3, 2, 5)):add(nn.Tanh()):cuda()
        local x = torch.randn(4, 3):float()
        local alone = net:clone():forward(x)
        dpt = nn.DataParallelTable(1):add(net, {1, 2}):threads(function() require 'nn' end)
        difference = (dpt:forward(x) - alone):abs():max()
        """
    )
    assert runtime.globals().difference < 1e-6
    runtime.globals().dpt.close()


def test_the_function_of_threads_makes_classes_that_are_there(runtime: lua.Runtime) -> None:
    """In Torch7 it runs in a Lua of each thread's own, where they are not."""
    sizes = runtime.execute("""
        require 'cunn'
        local function define()
           local Mine, parent = torch.class('nn.Again', 'nn.Linear')
           function Mine:updateOutput(input) return parent.updateOutput(self, input) end
        end
        define()
        local net = nn.Sequential():add(nn.Again(3, 2)):float()
        local table = nn.DataParallelTable(1, true):add(net, {1, 2}):threads(define)
        table:getParameters()
        local output = table:forward(torch.FloatTensor(4, 3):fill(1))
        assert(not pcall(define))
        table:close()
        return output:size():totable()
    """)
    assert sizes == [4, 2]


def test_optimizers_keep_their_state_in_the_table_given(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'optim'
        x, state = torch.Tensor{1, 2}, {learningRate = 0.1, momentum = 0.5}
        for i = 1, 3 do _, losses = optim.sgd(function(x) return x:dot(x), x * 2 end, x, state) end
        """
    )
    assert runtime.eval("state.evalCounter, #losses, torch.type(state.dfdx)") == (
        3,
        1,
        "torch.DoubleTensor",
    )
    assert runtime.eval("x[1] < 0.5")


def test_require_nn_draws_four_numbers(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        torch.manualSeed(3)
        for i = 1, 4 do torch.random() end
        expected = torch.random()
        torch.manualSeed(3)
        require 'nn'
        """
    )
    assert runtime.eval("torch.random() == expected")


def test_graphs_are_built_with_calls_and_minus(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nngraph'
        local a, b = nn.Linear(3, 4)():split(1), nn.Linear(4, 2)
        local x = nn.Identity()()
        g = nn.gModule({x}, {x - nn.Linear(3, 4) - nn.Tanh() - b})
        """
    )
    assert runtime.eval("g:forward(torch.ones(2, 3)):size(2)") == 2


@pytest.mark.parametrize("name", ["forward", "share"])
def test_a_function_in_the_place_of_a_method_calls_the_method(
    runtime: lua.Runtime, name: str
) -> None:
    runtime.execute(f"""
        require 'nn'
        local method, calls = nn.Module.{name}, 0
        nn.Module.{name} = function(self, ...) calls = calls + 1 return method(self, ...) end
        local net = nn.Sequential():add(nn.Linear(3, 2))
        copy = net:clone('weight')
        output = copy:forward(torch.ones(1, 3))
        nn.Module.{name} = method
        counted = calls
        shared = copy.modules[1].weight:storage() == net.modules[1].weight:storage()
    """)
    found = runtime.globals()
    assert found.counted >= 1 and found.output.shape == (1, 2)


def test_toCompat_is_the_module_of_python(runtime: lua.Runtime) -> None:
    runtime.execute("require 'nn'; net, loss = nn.Linear(3, 2), nn.MSECriterion()")
    found = runtime.globals()
    assert isinstance(found.net, nn.Linear)
    assert runtime.eval("net:toCompat()") is found.net
    assert runtime.eval("loss:toCompat()") is found.loss


def test_closures_keep_shared_variables_on_their_way_through_python(
    runtime: lua.Runtime, tmp_path: Path
) -> None:
    written, again = str(tmp_path / "lua.t7"), str(tmp_path / "python.t7")
    runtime.execute(
        """
        local n = 5
        local function up(x) n = n + 1 return x * n end
        torch.save(..., {up = up, both = function() return up(2) + n end})
        """,
        written,
    )
    t7.save(again, t7.load(written))
    runtime.execute("loaded = torch.load(...)", again)
    assert runtime.eval("loaded.both()") == 2 * 6 + 6
    assert runtime.eval("loaded.up(10)") == 10 * 7


@pytest.mark.parametrize("call", ["float()", "double()", "half()", "type('torch.FloatTensor')"])
def test_data_parallel_tables_take_gpu_types_only(runtime: lua.Runtime, call: str) -> None:
    pytest.importorskip("dptable")
    runtime.execute("require 'cunn'; dpt = nn.DataParallelTable(1):add(nn.Linear(3, 2), {1})")
    with pytest.raises(lua.LuaError, match="DataParallelTable supports only"):
        runtime.execute(f"dpt:{call}")
    assert runtime.eval("torch.type(dpt:cudaDouble():get(1).weight)") == "torch.CudaDoubleTensor"
    assert runtime.eval("torch.type(dpt:cuda():get(1).weight)") == "torch.CudaTensor"


@pytest.mark.devices(3)
def test_a_function_that_a_replica_calls_is_on_its_device(runtime: lua.Runtime) -> None:
    dptable = pytest.importorskip("dptable")
    runtime.execute("require 'cutorch'")
    where = runtime.eval("function() return cutorch.getDevice() end")
    dpt = dptable.DataParallelTable(1).add(nn.Linear(4, 3), [2, 3]).threads()
    assert dpt.exec(lambda module, i: where()) == [2, 3]
    assert runtime.eval("cutorch.getDevice()") == 1
    dpt.close()


def test_classes_are_where_scripts_look_for_them(runtime: lua.Runtime) -> None:
    runtime.require("nn")
    assert runtime.eval("debug.getregistry()[torch.getmetatable('nn.Linear')]") == "nn.Linear"
    parents = runtime.execute(
        "local names, class = {}, torch.getmetatable('nn.ReLU') "
        "while class do names[#names + 1] = class.__typename class = getmetatable(class) end "
        "return names"
    )
    assert parents == ["nn.ReLU", "nn.Threshold", "nn.Module"]
    assert (
        runtime.execute("for name in pairs(torch) do if name == '_t7' then return name end end")
        is None
    )


def test_a_loss_at_the_end_of_a_graph_takes_a_number_of_any_type(runtime: lua.Runtime) -> None:
    gradient = runtime.execute(
        "require 'nngraph' local x, y = nn.Identity()(), nn.Identity()() "
        "local net = nn.gModule({x, y}, {nn.MSECriterion()({x, y})}):float() "
        "local input = {torch.FloatTensor{3, 1}, torch.FloatTensor{1, 1}} "
        "net:forward(input) return net:backward(input, torch.DoubleTensor{2})[1]"
    )
    assert gradient.tolist() == [4, 0]


def test_next_walks_through_the_fields_of_an_object(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        local layer = nn.Linear(2, 3)
        walked, paired = {}, {}
        local key, value = next(layer)
        while key ~= nil do
           walked[#walked + 1] = key
           assert(value == layer[key])
           key, value = next(layer, key)
        end
        for name in pairs(layer) do paired[#paired + 1] = name end
        table.sort(walked) table.sort(paired)
        """
    )
    walked = list(runtime.globals().walked)
    assert walked == list(runtime.globals().paired)
    assert {"weight", "bias", "gradWeight", "output"} <= set(walked)
    assert runtime.eval("pcall(next, nn.Tanh(), 'none')") == (False, "invalid key to 'next'")


def test_a_type_of_a_class_s_own_converts_alone(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        local Own, parent = torch.class('nn.OwnType', 'nn.Linear')
        function Own:type(name)
           if name then self.weight = self.weight:type(name) end
           return self
        end
        local first = nn.OwnType(3, 2)
        net = nn.Sequential():add(first):add(first:clone('weight', 'bias')):add(nn.Linear(2, 2))
        net:float()
        first.weight:fill(7)
        other = net:get(2).weight:mean()
        """
    )
    assert runtime.globals().other != 7
    types = (
        "torch.type(net:get(1).weight), torch.type(net:get(1).bias), torch.type(net:get(3).bias)"
    )
    assert runtime.eval(types) == ("torch.FloatTensor", "torch.DoubleTensor", "torch.FloatTensor")


def test_classes_whose_names_begin_with_an_underscore(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        mine = {}
        torch.class('mine._Hidden', 'nn.Linear')
        again = torch.deserialize(torch.serialize(mine._Hidden(2, 1)))
        """
    )
    assert runtime.eval("torch.type(again), again:forward(torch.ones(2)):size(1)") == (
        "mine._Hidden",
        1,
    )


def test_nets_with_classes_of_a_script_run_in_coroutines(runtime: lua.Runtime) -> None:
    runtime.execute("""
        require 'nn'
        local Mine, parent = torch.class('nn.InCoroutine', 'nn.Module')
        function Mine:updateOutput(input)
           if self.fails then error('mine', 0) end
           if self.yields then coroutine.yield() end
           self.output = input * 2
           return self.output
        end
        mine = nn.InCoroutine()
        net = nn.Sequential():add(mine):add(nn.InCoroutine())
        steps = {}
        local co = coroutine.wrap(function()
           for i = 1, 2 do coroutine.yield(net:forward(torch.ones(1) * i)[1]) end
        end)
        for i = 1, 2 do steps[i] = co() end
        function message()
           local co = coroutine.create(function() mine:forward(torch.ones(1)) end)
           return select(2, coroutine.resume(co))
        end
    """)
    assert runtime.globals().steps == [4, 8]
    runtime.execute("mine.fails = true")
    assert runtime.eval("message()") == "mine"
    runtime.execute("mine.fails, mine.yields = nil, true")
    assert "attempt to yield across C-call boundary" in runtime.eval("message()")
    runtime.execute("mine.yields = nil")
    assert runtime.eval("net:forward(torch.ones(1))[1]") == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nn.Select(1)", "index is nil; nn.Select takes dimension, index"),
        ("nn.Euclidean()", "inputSize is nil; nn.Euclidean takes inputSize, outputSize"),
        ("nn.WeightedMSECriterion()", "w is nil; nn.WeightedMSECriterion takes w"),
    ],
)
def test_an_argument_that_is_missing_is_named(
    runtime: lua.Runtime, text: str, message: str
) -> None:
    runtime.execute("require 'nn'")
    with pytest.raises(lua.LuaError, match=message):
        runtime.execute(text)


def test_nothing_and_nil_are_not_the_same(runtime: lua.Runtime) -> None:
    assert runtime.eval("select('#', torch.getmetatable('Nope'))") == 0
    message = runtime.execute("return select(2, pcall(setmetatable))")
    assert message == "bad argument #1 to '?' (table expected, got no value)"


def test_a_generator_in_an_object_is_torch7_s(runtime: lua.Runtime) -> None:
    runtime.execute("""
        require 'nn'
        local Drawing = torch.class('nn.Drawing', 'nn.Module')
        function Drawing:__init() self.own, self.all = torch.Generator(), {torch.Generator()} end
        layer = nn.Drawing()
        torch.manualSeed(layer.own, 7)
        torch.manualSeed(layer.all[1], 5)
    """)
    drawn = runtime.eval("torch.uniform(layer.own), torch.random(layer.own, 1, 10)")
    assert drawn == (pytest.approx(0.076308291172609), 3)
    seeded = runtime.eval("torch.uniform(layer.all[1]), torch.initialSeed(layer.all[1])")
    assert seeded == (pytest.approx(0.22199317137711), 5)
    assert runtime.eval("torch.type(layer.own), layer.own == layer.own") == (
        "torch.Generator",
        True,
    )


def test_an_empty_storage_in_a_field_stays_itself(runtime: lua.Runtime) -> None:
    runtime.execute("""
        require 'nn'
        m = nn.Identity()
        m.size, m.sizes = torch.LongStorage(), {torch.LongStorage()}
        m.size:resize(2):copy(torch.LongStorage{3, 4})
        m.sizes[1]:resize(2):fill(5)
        c = m:clone()
        c.size:resize(5)
    """)
    assert runtime.eval("{#m.size, m.size[2], #m.sizes[1], m.sizes[1][2], #c.size}") == [
        2,
        4,
        2,
        5,
        5,
    ]
    runtime.execute("m.size:resize(0) m.size:resize(1):fill(6)")
    assert runtime.eval("{#m.size, m.size[1]}") == [1, 6]
