"""What one runtime sets is that runtime's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from compat import lua, nn
from compat.nn.core.results import buffer_reuse


@pytest.fixture
def runtimes() -> Iterator[tuple[lua.Runtime, lua.Runtime]]:
    found = lua.Runtime(), lua.Runtime("torch.FloatTensor")
    for runtime in found:
        runtime.execute("require 'nn'")
    yield found
    for runtime in found:
        runtime.close()


def test_default_types_and_buffers(runtimes: tuple[lua.Runtime, lua.Runtime]) -> None:
    double, single = runtimes
    in_python = torch.get_default_dtype()
    assert in_python == torch.float32 and not buffer_reuse.on
    assert double.eval("torch.type(torch.Tensor(2)), torch.type(nn.Linear(2, 2).weight)") == (
        "torch.DoubleTensor",
        "torch.DoubleTensor",
    )
    assert single.eval("torch.type(nn.Linear(2, 2).weight)") == "torch.FloatTensor"
    assert nn.Linear(2, 2).weight.dtype == in_python and not buffer_reuse.on
    single.execute("torch.setdefaulttensortype('torch.DoubleTensor')")
    assert single.eval("torch.type(nn.Linear(2, 2).weight)") == "torch.DoubleTensor"
    assert torch.get_default_dtype() == in_python


def test_python_called_by_lua_has_lua_s(runtimes: tuple[lua.Runtime, lua.Runtime]) -> None:
    def look() -> tuple[bool, bool]:
        return torch.get_default_dtype() == torch.float64, buffer_reuse.on

    assert runtimes[0].execute("return (...)()", look) == (True, True)
    assert look() == (False, False)


def test_outputs_are_kept_in_python(runtimes: tuple[lua.Runtime, lua.Runtime]) -> None:
    net = runtimes[0].eval("nn.Linear(2, 2)")
    first = net.forward(torch.ones(2).double())
    assert net.forward(torch.zeros(2).double()) is not first


def test_methods_of_classes(runtimes: tuple[lua.Runtime, lua.Runtime]) -> None:
    first, second = runtimes
    first.execute("""
        function nn.Tanh:updateOutput(x) self.output = x * 7 return self.output end
        function nn.Tanh:added() return 'added' end
        nn.Tanh.clearState = nil
    """)
    text = "nn.Tanh():forward(torch.ones(1))[1], nn.Tanh().added ~= nil"
    assert first.eval(text) == (7, True)
    value, has = second.eval(text)
    assert (round(value, 4), has) == (0.7616, False)
    assert nn.Tanh().forward(torch.ones(1)).item() == pytest.approx(0.76159, abs=1e-4)
    assert not hasattr(nn.Tanh, "added")
    first.execute("nn.Tanh.updateOutput = nil")
    assert first.eval("nn.Tanh():forward(torch.ones(1))[1]") == pytest.approx(0.76159, abs=1e-4)


def test_an_error_ends_it(runtimes: tuple[lua.Runtime, lua.Runtime]) -> None:
    with pytest.raises(lua.LuaError):
        runtimes[0].execute("error('no')")
    assert torch.get_default_dtype() == torch.float32 and not buffer_reuse.on
