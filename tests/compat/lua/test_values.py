"""Values keep what they are on their way between Lua and Python."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch

from compat import lua, nn
from compat.lua import Runtime


def test_a_tensor_is_the_same_object_on_both_sides(runtime: Runtime) -> None:
    tensor = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    runtime.globals().t = tensor
    assert runtime.globals().t is tensor
    assert runtime.eval("t == t and rawequal(t, t) and t:sum()") == 15
    made = runtime.eval("torch.FloatTensor(2):fill(7)")
    runtime.globals().made = made
    assert runtime.globals().made is made
    assert made.dtype == torch.float32


def test_fields_may_have_names_that_are_words_of_python(runtime: Runtime) -> None:
    table = runtime.eval("setmetatable({lambda = 1, _x = 2}, {})")
    table.class_ = 3
    assert (table.lambda_, table._x, table["class"]) == (1, 2, 3)


def test_identity_lasts_as_long_as_either_side_holds_the_tensor(runtime: Runtime) -> None:
    runtime.execute("x = torch.Tensor(3):fill(1)")
    identity = id(runtime.globals().x)
    gc.collect()
    assert id(runtime.globals().x) == identity
    tensor = runtime.globals().x
    runtime.execute("x = nil collectgarbage() collectgarbage()")
    tensor.add_(1)
    runtime.globals().y = tensor
    assert runtime.eval("y:sum()") == 6


def test_memory_is_shared(runtime: Runtime) -> None:
    tensor = torch.zeros(2, 3, dtype=torch.float64)
    runtime.globals().t = tensor
    runtime.execute("t[1][2] = 5; t:select(1, 2):add(1)")
    assert tensor.tolist() == [[0, 5, 0], [1, 1, 1]]
    tensor[0, 0] = -1
    assert runtime.eval("t[1][1]") == -1


def test_views_made_in_python_share_their_storage_in_lua(runtime: Runtime) -> None:
    whole = torch.arange(4.0, dtype=torch.float64)
    runtime.globals().whole, runtime.globals().half = whole, whole[2:]
    assert runtime.eval("whole:storage() == half:storage() and half:storageOffset()") == 3
    # One resizes the storage: the other goes on with the new memory.
    runtime.execute("half:resize(100):fill(2)")
    assert runtime.eval("whole[3]") == 2
    assert whole.tolist() == [0, 1, 2, 2]


def test_lua_moves_tensors_that_python_holds(runtime: Runtime) -> None:
    tensor = runtime.eval("torch.Tensor(3):fill(1)")
    runtime.globals().t = tensor
    runtime.execute("t:resize(2, 2):fill(4)")
    assert tensor.tolist() == [[4, 4], [4, 4]]
    runtime.execute("t:set(torch.Tensor{7, 8})")
    assert tensor.tolist() == [7, 8]


def test_memory_of_numpy_grows_into_other_memory(runtime: Runtime) -> None:
    tensor = torch.from_numpy(np.arange(3.0))
    runtime.globals().whole, runtime.globals().part = tensor, tensor[1:]
    runtime.execute("part:resize(50):fill(4)")
    assert runtime.eval("whole:totable()") == [0, 4, 4]
    assert runtime.eval("part:storage() == whole:storage()")
    assert runtime.globals().whole is tensor
    assert tensor.tolist() == [0, 4, 4]


def test_lua_does_not_keep_tensors_that_it_never_saw(runtime: Runtime) -> None:
    tensor = torch.zeros(3)
    dropped = weakref.ref(tensor)
    lua.moved([tensor])
    del tensor
    assert dropped() is None


def test_lua_sees_tensors_that_python_moved(runtime: Runtime) -> None:
    tensor = torch.zeros(2, dtype=torch.float64)
    runtime.globals().t = tensor
    tensor.data = torch.tensor([1.0, 2, 3], dtype=torch.float64)
    lua.moved([tensor])
    assert runtime.eval("t:size(1) * 10 + t[3]") == 33


def test_parameters_are_changed_in_place_without_a_graph(runtime: Runtime) -> None:
    parameter = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    runtime.globals().p = parameter
    runtime.execute("p:add(1):mul(3); q = p * 2")
    assert parameter.tolist() == [6, 6]
    assert parameter.requires_grad
    assert parameter.grad_fn is None
    assert not runtime.globals().q.requires_grad


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "text", [1, [2, "x"]], {"a": 1, "b": {"c": [True]}}, "\xff\x00"],
    ids=repr,
)
def test_plain_values_come_back(runtime: Runtime, value: Any) -> None:
    assert runtime.eval("...", value) == value


def test_functions_pass_both_ways(runtime: Runtime) -> None:
    runtime.globals().python = lambda x, y: (x + y, x * y)
    assert runtime.eval("select(2, python(3, 4)) + python(1, 1)") == 14
    add = runtime.eval("function(a, b) return a + b, 'two' end")
    assert add(1, 2) == (3, "two")
    assert runtime.eval("...", sorted) is sorted
    assert runtime.eval("function(f) return f(2, 3) end")(add) == (5, "two")


def test_objects_of_lua_classes_are_tables(runtime: Runtime) -> None:
    point = runtime.execute(
        "local P = torch.class('Point') function P:__init(x) self.x = x end"
        " function P:twice() return 2 * self.x end return Point(4)"
    )
    assert isinstance(point, lua.LuaTable)
    assert point.x == 4
    assert point["twice"](point) == 8
    point.x = 5
    assert runtime.eval("(...):twice()", point) == 10
    point.lambda_ = 3  # a word of Python's
    assert (point["lambda"], point.lambda_, point["lambda_"]) == (3, 3, None)


def test_errors_of_python_are_strings_in_lua(runtime: Runtime) -> None:
    def fail(x: float) -> None:
        raise ValueError(f"{x} is bad")

    runtime.globals().fail = fail
    assert runtime.execute("return select(2, pcall(function() fail(3) end))", name="@a.lua") == (
        "a.lua:1: 3 is bad"
    )


def test_errors_of_lua_have_file_line_and_stack(runtime: Runtime) -> None:
    with pytest.raises(lua.LuaError, match=r"^b\.lua:2: torch is lost$") as caught:
        runtime.execute("local function f()\n error('torch is lost') end\n f()", name="@b.lua")
    assert "b.lua:3" in caught.value.traceback


def test_errors_keep_their_value_through_python(runtime: Runtime) -> None:
    runtime.globals().call = lambda f: f()
    code = "local ok, e = pcall(call, function() error({code = 7}) end) return e.code"
    assert runtime.execute(code) == 7


def test_two_runtimes_share_a_tensor() -> None:
    first, second = Runtime(), Runtime()
    tensor = torch.zeros(2, dtype=torch.float64)
    first.globals().t, second.globals().t = tensor, tensor
    first.execute("t[1] = 3")
    assert second.eval("t[1]") == 3


def test_flattened_parameters_are_seen_moved(runtime: Runtime) -> None:
    net = nn.Linear(2, 1)
    runtime.globals().w = net.weight
    flat, _ = net.getParameters()
    runtime.globals().flat = flat
    runtime.execute("flat:fill(3)")
    assert runtime.eval("w[1][2]") == 3
    assert runtime.eval("w:storage() == flat:storage()")


def test_a_tensor_that_lua_holds_stays_when_its_net_is_converted(runtime: Runtime) -> None:
    net = nn.Linear(2, 1).double()
    runtime.globals().before = net.weight
    net.float()
    runtime.globals().after = net.weight
    assert runtime.eval("torch.type(before)") == "torch.DoubleTensor"
    assert runtime.eval("torch.type(after)") == "torch.FloatTensor"
    assert runtime.eval("before:fill(1):sum() + after:fill(2):sum()") == 6
    assert net.weight.tolist() == [[2, 2]]


def test_a_package_with_classes_is_a_dict_with_python_s(runtime: Runtime) -> None:
    assert runtime.require("nn")["Linear"] is nn.Linear


def test_finalisers_of_a_state_that_closes_reach_no_python() -> None:
    runtime = lua.Runtime()
    runtime.execute(
        "kept = newproxy(true) getmetatable(kept).__gc = function() torch.ones(300):sum() end"
    )
    del runtime
    gc.collect()


def test_functions_of_python_may_give_tensors_other_memory(runtime: lua.Runtime) -> None:
    def resize(value: Any) -> None:
        tensor = value if isinstance(value, torch.Tensor) else value[0]
        tensor.resize_(5).fill_(3)

    def replace(tensor: torch.Tensor) -> None:
        tensor.data = torch.ones(7, dtype=torch.float64)

    runtime.globals().resize, runtime.globals().replace = resize, replace
    runtime.execute("x, y, z = torch.ones(2), torch.ones(2), torch.ones(2)")
    runtime.execute("resize(x) resize{y} replace(z)")
    assert runtime.eval("x:size(1), x:sum(), y:sum(), z:sum()") == (5, 15, 15, 7)


def test_both_sides_resize_a_tensor_in_turns(runtime: lua.Runtime) -> None:
    tensor, resize = torch.zeros(5, 2), runtime.eval("function(x) x:resize(5, 2):fill(3) end")
    for _ in range(3):
        resize(tensor.resize_(1, 2))
        assert tensor.shape == (5, 2) and tensor.sum() == 30


def test_python_may_change_the_class_of_what_lua_has(runtime: lua.Runtime) -> None:
    runtime.execute("require 'nn' l = {nn.Tanh()} m = nn.Sequential():add(l[1])")
    assert runtime.eval("torch.type(m.modules[1])") == "nn.Tanh"
    runtime.globals().m.modules[0].__class__ = nn.Sigmoid
    assert runtime.eval("torch.type(m.modules[1]), m.modules[1] == l[1]") == ("nn.Sigmoid", True)
