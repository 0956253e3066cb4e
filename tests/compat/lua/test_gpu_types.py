"""torch.CudaTensor and its kin in Lua: on CPUs, and on accelerators, whose memory is PyTorch's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from compat import cutorch, lua, nn, t7
from dptable import DataParallelTable

HERE = Path(__file__).parent
pytestmark = pytest.mark.filterwarnings("ignore:torch.* means cpu here")


@pytest.mark.devices(2)
def test_tensors_have_the_names_of_their_types(runtime: lua.Runtime) -> None:
    runtime.execute("require 'cutorch'; x = torch.CudaTensor(2, 3):fill(1)")
    assert runtime.eval("torch.type(x), x:type(), torch.typename(x:storage())") == (
        "torch.CudaTensor",
        "torch.CudaTensor",
        "torch.CudaStorage",
    )
    assert runtime.eval("torch.isTypeOf(x, 'torch.CudaTensor'), torch.isTensor(x)") == (True, True)
    assert runtime.eval("x:getDevice(), torch.CudaTensor():getDevice()") == (1, 0)
    rows = " 1  1  1\n 1  1  1\n[torch.CudaTensor of size 2x3]\n"
    assert runtime.eval("tostring(x)") == rows
    names = ["cuda", *(f"cuda{k}" for k in ("Double", "Half", "Byte", "Char", "Short", "Int"))]
    for name in names:
        expected = f"torch.Cuda{name.removeprefix('cuda')}Tensor"
        assert runtime.eval(f"torch.randn(2):{name}():type(), x:{name}():type()") == (
            expected,
            expected,
        )
    assert runtime.eval("x:float():type(), x:double():type()") == (
        "torch.FloatTensor",
        "torch.DoubleTensor",
    )
    assert not runtime.eval("x:float() == x") and runtime.eval("x:cuda() == x")
    with pytest.raises(lua.LuaError, match="number expected, got userdata"):
        runtime.execute("return x + torch.FloatTensor(2, 3)")


@pytest.mark.devices(2)
@pytest.mark.parametrize("kind", ["", "Double", "Long"])
def test_operations_give_what_they_give_on_the_cpu(runtime: lua.Runtime, kind: str) -> None:
    runtime.run(HERE / "gpu_operations.lua")
    there = runtime.eval(f"results('Cuda{kind}')")
    assert len(there.split("\n")) > 250
    assert there == runtime.eval(f"results('{kind or 'Float'}')")


@pytest.mark.devices(1)
def test_indices_and_masks_may_be_of_older_types(runtime: lua.Runtime) -> None:
    """Of the tensor's own, as in the cutorch of 2015, and the CPU's."""
    runtime.execute("require 'cutorch'; x = torch.CudaTensor{{1, 2}, {3, 4}}")
    for kind in ("CudaLong", "Cuda", "Long"):
        of = f"torch.{kind}Tensor"
        assert runtime.eval(f"x:index(1, {of}{{2}})[1][2]") == 4
        assert runtime.eval(f"x:gather(2, {of}{{{{2}}, {{1}}}})[2][1]") == 3
    for kind in ("CudaByte", "Cuda", "Byte"):
        mask = f"torch.{kind}Tensor{{{{0, 1}}, {{0, 0}}}}"
        assert runtime.eval(f"x[{mask}][1], x:clone():maskedFill({mask}, 9)") == (2, 9)
    with pytest.raises(lua.LuaError, match=r"torch\.CudaLongTensor expected"):
        runtime.execute("x:index(1, torch.CudaIntTensor{1})")


@pytest.mark.devices(2)
def test_nets_train_as_on_the_cpu(runtime: lua.Runtime) -> None:
    runtime.run(HERE / "gpu_training.lua")
    assert runtime.eval("trainings(true, 1)") == runtime.eval("trainings(false)")


@pytest.mark.devices(2)
def test_nets_train_on_several_devices(runtime: lua.Runtime) -> None:
    pytest.importorskip("dptable")
    runtime.run(HERE / "gpu_training.lua")
    one, several = runtime.eval("trainings(true, 1)"), runtime.eval("trainings(true, 2)")
    assert one.partition("in several")[0] == several.partition("in several")[0]
    last = several.split()[-1]
    assert float(last) > 0


@pytest.mark.devices(2)
def test_tensors_are_made_on_the_current_device(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'cutorch'
        x = cutorch.withDevice(2, function() return torch.CudaTensor(3):fill(2) end)
        y = torch.CudaTensor(3):copy(x)
        """
    )
    is_cpu = not cutorch.accelerated()
    assert runtime.eval("x:getDevice(), y:getDevice(), y:sum()") == (1 if is_cpu else 2, 1, 6)
    assert runtime.globals().x.device == cutorch.device(2)


@pytest.mark.devices(1)
def test_the_default_type_is_that_of_tensors_and_nets(runtime: lua.Runtime) -> None:
    runtime.execute("require 'cunn'; torch.setdefaulttensortype('torch.CudaTensor')")
    made = "torch.Tensor(2):type(), torch.zeros(2):type(), nn.Linear(2, 2).weight:type()"
    assert set(runtime.eval(made)) == {"torch.CudaTensor"}
    assert runtime.eval("nn.Linear(2, 2):forward(torch.ones(1, 2)):type()") == "torch.CudaTensor"


@pytest.mark.devices(1)
def test_files_hold_the_types(runtime: lua.Runtime, tmp_path: Path) -> None:
    ours, again = str(tmp_path / "ours.t7"), str(tmp_path / "again.t7")
    runtime.execute(
        """
        require 'cunn'
        x = torch.CudaTensor{1, 2, 3}
        net = nn.Linear(3, 2):cuda()
        local all = {x = x, part = x:narrow(1, 2, 2), half = x:cudaHalf()}
        all.net, all.storage = net, x:storage()
        torch.save(..., all)
        """,
        ours,
    )
    read = t7.load(ours)
    assert read["x"].torch7_type == "torch.CudaTensor"
    assert read["half"].torch7_type == "torch.CudaHalfTensor"
    assert read["net"].type() == "torch.CudaTensor"
    t7.save(again, read)
    runtime.execute("read = torch.load(...)", again)
    assert runtime.eval("read.x:type(), read.half:type(), torch.type(read.storage)") == (
        "torch.CudaTensor",
        "torch.CudaHalfTensor",
        "torch.CudaStorage",
    )
    assert runtime.eval("read.net:type(), read.net.weight:type()") == ("torch.CudaTensor",) * 2
    assert runtime.eval("read.part:storage() == read.x:storage(), read.part[2]") == (True, 3)
    assert runtime.eval("(read.net:forward(x) - net:forward(x)):abs():max()") == 0


def test_a_tensor_of_a_net_for_gpus_is_one_wherever_lua_meets_it(runtime: lua.Runtime) -> None:
    """On the CPU, where PyTorch does not tell them from others."""
    runtime.execute(
        """
        require 'cunn'
        seen = {}
        local Spy, parent = torch.class('nn.SpyOfTest', 'nn.Module')
        function Spy:updateOutput(x)
           seen[#seen + 1] = x:type()
           self.output = x * 2
           return self.output
        end
        function Spy:updateGradInput(x, g)
           seen[#seen + 1] = g:type()
           self.gradInput = g * 2
           return self.gradInput
        end
        net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.SpyOfTest()):add(nn.Tanh()):cuda()
        x = torch.CudaTensor(4, 3):fill(1)
        net:backward(x, net:forward(x):clone())
        net.kept = torch.FloatTensor(2)
        """
    )
    lua_list = runtime.eval("seen")
    assert lua_list == ["torch.CudaTensor"] * 2
    for place in ("output", "gradInput", "modules[1].output", "modules[3].gradInput"):
        assert runtime.eval(f"net.{place}:type()") == "torch.CudaTensor", place
    assert runtime.eval("net.kept:type()") == "torch.FloatTensor"
    runtime.execute("net:float(); y = net:forward(x:float())")
    assert runtime.eval("y:type(), net.output:type(), net.modules[1].weight:type()") == (
        ("torch.FloatTensor",) * 3
    )


def test_a_class_may_have_a_type_of_its_own(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'cunn'
        local Own, parent = torch.class('nn.OwnTypeOfTest', 'nn.Module')
        function Own:type(...)
           self.asked = self.output
           return parent.type(self, ...)
        end
        m = nn.OwnTypeOfTest():cuda()
        """
    )
    assert runtime.eval("m:type(), m.output:type()") == ("torch.CudaTensor", "torch.CudaTensor")


def test_one_storage_may_be_of_two_classes(runtime: lua.Runtime) -> None:
    """What moves it moves both."""
    runtime.execute(
        """
        require 'cunn'
        net = nn.Linear(300, 10):float()
        before = net.weight
        net:cuda()
        after = net.weight
        after:storage():resize(100000)
        after:fill(3)
        collectgarbage()
        """
    )
    assert runtime.eval("before:type(), after:type()") == ("torch.FloatTensor", "torch.CudaTensor")
    assert runtime.eval("before[10][300], after[10][300], #before:storage()") == (3, 3, 100000)


def test_recursive_type_makes_new_tensors_in_shared_storages(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'cunn'
        x = torch.FloatTensor{1, 2, 3}
        t = nn.utils.recursiveType({x:narrow(1, 2, 2), {x}}, 'torch.CudaTensor')
        """
    )
    assert runtime.eval("t[1]:type(), t[2][1]:type(), x:type()") == (
        "torch.CudaTensor",
        "torch.CudaTensor",
        "torch.FloatTensor",
    )
    runtime.execute("t[2][1]:fill(5)")
    assert runtime.eval("t[1][1], x[2]") == (5, 2)


@pytest.mark.parametrize("bits", [-1, -(1 << 48), -(3 << 48) + 65535])
@pytest.mark.parametrize("wide", [True, False])
def test_any_bits_are_numbers(runtime: lua.Runtime, bits: int, wide: bool) -> None:
    """LuaJIT tells its values apart by the bits of NaNs."""
    x = torch.tensor([bits] * 3)
    x = x.view(torch.float64) if wide else (x >> 32).int().view(torch.float32)
    ask = runtime.eval(
        """function(x)
           local sum = 0
           for i = 1, 3 do if type(x[i]) ~= 'number' then error(type(x[i])) end end
           x:clone():apply(function(v) sum = sum + v end)
           return x[1], #x:totable(), sum, (x + 1)[2], x:sum(), x:dot(x), x:max(), x:storage()[3]
        end"""
    )
    first, count, *others = ask(x)
    assert count == 3
    assert first != first
    assert all(value != value for value in others)


def test_numbers_on_a_device_have_no_address(simulated: None, runtime: lua.Runtime) -> None:
    cutorch.configure(["sim:0"])
    runtime.execute("require 'cutorch'; x = torch.CudaTensor(3)")
    for call in ("x:data()", "x:storage():data()"):
        with pytest.raises(lua.LuaError, match=re.escape("are on a device, where PyTorch alone")):
            runtime.execute(f"return {call}")


def test_ids_of_devices_may_be_strings_of_a_command_line(runtime: lua.Runtime) -> None:
    # They are numbers for Lua Torch7's C functions.
    told = runtime.execute(
        """
        require 'cutorch'
        cutorch.setDevice('1')
        return {cutorch.getDevice(), (pcall(cutorch.setDevice, 'one'))}
        """
    )
    assert told == [1, False]


@pytest.mark.parametrize("threads", [False, True])
def test_a_container_that_python_saved_loads(
    threads: bool, runtime: lua.Runtime, tmp_path: Path
) -> None:
    path = str(tmp_path / "net.t7")
    net = DataParallelTable(1).add(nn.Linear(3, 2), [1, 2])
    t7.save(path, net.threads() if threads else net)
    again = runtime.execute("require 'cunn' return torch.load(...)", path)
    assert type(again.impl.dispatcher).__name__ == ("Threads" if threads else "Basic")
    assert torch.equal(again.get(1).weight, net.get(1).weight)
