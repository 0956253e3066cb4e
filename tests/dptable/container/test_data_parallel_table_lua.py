"""The cases of Torch7's own test of the class (cunn, test/test_DataParallelTable.lua)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from support.tensors import on, randn
from torch import Tensor

from compat import cutorch, nn, optim, random, t7
from compat.tensor_tables import map_tensors
from dptable import DataParallelTable

pytestmark = [pytest.mark.devices(8), pytest.mark.filterwarnings("ignore:NCCL is not used")]

BASE = 2
CONFIGS = pytest.mark.parametrize(
    "config", [(1, False, False), (1, True, False), (1, True, True)], ids=["plain", "flat", "nccl"]
)
DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])


@pytest.fixture(params=[2, 3, 8])
def count(request: pytest.FixtureRequest) -> int:
    """How many replicas."""
    # Not the first: a container that forgets to restore the device would go unnoticed.
    cutorch.setDevice(BASE)
    random.manualSeed(1)
    torch.manual_seed(1)
    return request.param


Make = Callable[..., DataParallelTable]


@pytest.fixture
def make(count: int) -> Iterator[Make]:
    """A container over a copy of a net, closed when the test ends."""
    made: list[DataParallelTable] = []

    def over(net: nn.Module, config: tuple[Any, ...] = (1,), threads: Any = False) -> Any:
        dpt = DataParallelTable(*config).type(net.type())
        if threads:
            dpt.threads(threads if callable(threads) else None)
        dpt.add(net.clone(), list(range(1, count + 1)))
        made.append(dpt)
        return dpt

    yield over
    for dpt in made:
        dpt.close()


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-9, atol=1e-10)


def double(net: nn.Module) -> Any:
    return net.type("torch.DoubleTensor")


def reread(net: Any) -> Any:
    return t7.loads(t7.dumps(net.clearState()))


# 1 DataParallelTable


def split_network(dimension: int, n: int) -> nn.ConcatTable:
    split = nn.ConcatTable()
    for i in range(1, n + 1):
        split.add(nn.Narrow(dimension, i, 1))
    return split


def conv_net(convolutions: int = 2) -> nn.Sequential:
    net = nn.Sequential().add(nn.JoinTable(2))
    for i in range(convolutions):
        net.add(nn.SpatialConvolutionMM(3 if i == 0 else 4, 4, 3, 3, 1, 1, 1, 1))
        net.add(nn.Threshold(0, 1e-6))
    net.add(nn.SpatialMaxPooling(2, 2, 2, 2)).add(nn.Reshape(4 * 4 * 4)).add(nn.Linear(64, 6))
    return net.add(split_network(2, 6))


@pytest.mark.parametrize("batch", ["2 per replica", 9, 15])
def test_trains_as_the_bare_net_inside_a_larger_one(count: int, batch: Any) -> None:
    size = 2 * count if isinstance(batch, str) else batch
    bare = double(conv_net())
    dpt = DataParallelTable(1).type("torch.DoubleTensor")
    for gpu in range(1, count + 1):
        with cutorch.device_guard(gpu):
            dpt.add(bare.clone(), gpu)

    def around(net: nn.Module) -> nn.Sequential:
        return nn.Sequential().add(split_network(2, 3)).add(net).add(nn.JoinTable(2))

    nets = [around(bare), reread(around(dpt))]
    nested = nets[1].findModules("nn.DataParallelTable")[0][0]
    flat = [net.getParameters() for net in nets]
    assert cutorch.getDevice() == BASE
    criterion = double(nn.MSECriterion())
    states: list[dict[str, Any]] = [{}, {}]
    config = {"learningRate": 0.1, "momentum": 0.9, "dampening": 0, "nesterov": True}
    input, target = randn(size, 3, 8, 8), randn(size, 6)
    for step in range(10):
        for net, (x, dx), state in zip(nets, flat, states, strict=True):

            def feval(_: Tensor, net: Any = net, dx: Tensor = dx) -> tuple[float, Tensor]:
                net.zeroGradParameters()
                assert cutorch.getDevice() == BASE
                output = net.forward(input)
                assert cutorch.getDevice() == BASE
                wanted = target.to(output.device)
                loss = criterion.forward(output, wanted)
                net.backward(input, criterion.backward(output, wanted))
                assert cutorch.getDevice() == BASE
                return loss, dx

            optim.sgd(feval, x, config, state)
        nested.syncParameters()
        assert cutorch.getDevice() == BASE
        close(nets[1].output, nets[0].output)
        close(flat[1][0], flat[0][0])
        close(flat[1][1], flat[0][1])
        close(nets[1].gradInput, nets[0].gradInput)
        if step % 4 == 0:
            mine = nets[0].get(2).parameters()[0]
            theirs = nets[1].get(2).get(1).parameters()[0]
            assert len(mine) == len(theirs)
            for p, q in zip(mine, theirs, strict=True):
                p.copy_(q)


# 2 smallBatch


def test_batches_smaller_than_the_replicas(count: int, make: Make) -> None:
    net = double(nn.SpatialConvolution(3, 3, 3, 5))
    dpt = make(net)
    for size in (count - 1, 2 * count - 1):
        input = randn(size, 3, 10, 10)
        close(dpt.forward(input), net.forward(input))
        gradOutput = randn(*net.output.shape)
        close(dpt.updateGradInput(input, gradOutput), net.updateGradInput(input, gradOutput))


# 3 emptyTensor


def test_an_empty_tensor_in_the_input(count: int, make: Make) -> None:
    net = double(nn.Sequential().add(nn.SelectTable(2)).add(nn.Linear(10, 2)))
    dpt = make(net)
    input = [torch.empty(0, dtype=torch.float64), torch.ones(count, 10, dtype=torch.float64)]
    close(dpt.forward(input), net.forward(input))
    gradOutput = randn(count, 2)
    close(dpt.backward(input, gradOutput)[1], net.backward(input, gradOutput)[1])


# 4 type


# The types of nets on CPUs.
@pytest.mark.cpus(8)
def test_type(count: int) -> None:
    dpt = DataParallelTable(1).add(nn.Linear(3, 2), [1, 2])
    assert dpt.type("torch.DoubleTensor") is dpt
    assert dpt.type() == "torch.DoubleTensor"
    assert {p.dtype for p in dpt.parameters()[0]} == {torch.float64}
    accepted = "torch.FloatTensor, torch.DoubleTensor, torch.HalfTensor, .* is accepted"
    with pytest.raises(ValueError, match=f"type is 'torch.IntTensor'; .*{accepted}"):
        dpt.type("torch.IntTensor")
    assert dpt.type() == "torch.DoubleTensor"
    input = randn(3, 3)
    close(dpt.forward(input), dpt.get(1).clone().forward(input))


# 5 sync


def test_forward_copies_updated_parameters(count: int, make: Make) -> None:
    net = double(nn.Sequential().add(nn.Linear(10, 10)).add(nn.ReLU(True)).add(nn.Linear(10, 10)))
    dpt = make(net)
    criterion = double(nn.MSECriterion())
    input, target = randn(2 * count, 10), randn(2 * count, 10)
    finals = []
    for trained in (net, dpt):
        x, dx = trained.getParameters()

        def feval(_: Tensor, trained: Any = trained, dx: Tensor = dx) -> tuple[float, Tensor]:
            trained.zeroGradParameters()
            wanted = target.to(trained.forward(input).device)
            loss = criterion.forward(trained.output, wanted)
            trained.backward(input, criterion.backward(trained.output, wanted))
            return loss, dx

        for _ in range(10):
            optim.sgd(feval, x, {"learningRate": 1})
        finals.append(x)
    close(finals[1], finals[0])


# 6 serialize


@DISPATCHERS
def test_flat_parameters_survive_a_file(count: int, make: Make, threads: bool) -> None:
    dpt = make(double(nn.Linear(10, 10)), threads=threads)
    dpt.getParameters()
    dpt = reread(dpt)
    input = randn(count, 10)
    assert dpt.forward(input).abs().sum() != 0
    dpt.flattenedParams[0][0].zero_()
    dpt.syncParameters()
    assert dpt.forward(input).abs().sum() == 0
    dpt.close()


# 7 flattenParameters


def test_only_the_part_that_is_wrapped_is_flat(count: int) -> None:
    seq = nn.Sequential().add(nn.Linear(10, 10))
    dpt = DataParallelTable(1, True, True).threads()
    dpt.add(nn.Linear(10, 5), list(range(1, count + 1)))
    seq.add(dpt)
    seq.move(cutorch.device(1))
    flat, gradients = seq.getParameters()
    seq.forward(on(1, torch.randn(7, 10)))
    assert dpt.flattenedParams is not None
    assert [len(t) for t in dpt.flattenedParams[0]] == [55, 55]
    assert len(flat) == len(gradients) == 165
    storages = {t.untyped_storage().data_ptr() for t in (flat, dpt.flattenedParams[0][0])}
    assert storages == {p.untyped_storage().data_ptr() for p in seq.parameters()[0]}
    dpt.close()


# 8 misc


@DISPATCHERS
def test_clone_and_lists_of_modules(count: int, make: Make, threads: bool) -> None:
    net = double(
        nn.Sequential().add(nn.Linear(3, 4)).add(nn.ReLU()).add(nn.Linear(4, 2)).add(nn.Tanh())
    )
    dpt = make(net, threads=threads)
    input = randn(2 * count, 3)
    output = dpt.forward(input).clone()
    clone = dpt.clone()
    assert torch.equal(clone.forward(input), output)
    clone.close()
    modules = dpt.listModules()
    assert len(modules) == len(net.listModules()) + 1
    assert [m.typename for m in modules[:2]] == ["nn.DataParallelTable", "nn.Sequential"]
    assert len(dpt.findModules("nn.ReLU")[0]) == 1


# 9 noGradInput


@DISPATCHERS
def test_a_net_without_gradient_of_its_input(count: int, make: Make, threads: bool) -> None:
    net = double(nn.Sequential().add(nn.LookupTable(10, 10)).add(nn.Linear(10, 7)).add(nn.ReLU()))
    dpt = make(net, threads=threads)
    input = torch.randint(1, 11, (5,))
    close(dpt.forward(input), net.forward(input))
    gradOutput = randn(5, 7)
    net.backward(input, gradOutput)
    dpt.backward(input, gradOutput)
    assert dpt.gradInput.shape == net.gradInput.shape
    assert not dpt.gradInput.any()
    close(dpt.parameters()[1], net.parameters()[1])


# 10 accGradParameters


@CONFIGS
@DISPATCHERS
def test_gradients_accumulate(count: int, make: Make, config: Any, threads: bool) -> None:
    net = double(nn.Sequential().add(nn.Linear(10, 10)).add(nn.ReLU(True)).add(nn.Linear(10, 5)))
    dpt = make(net, config, threads)
    inputs = [randn(count + i, 10) for i in range(3)]
    gradOutputs = [randn(count + i, 5) for i in range(3)]
    for trained in (net, dpt):
        trained.zeroGradParameters()
        for input, gradOutput in zip(inputs, gradOutputs, strict=True):
            trained.forward(input)
            trained.backward(input, gradOutput)
        trained.updateParameters(0.5)
    close(dpt.forward(inputs[0]), net.forward(inputs[0]))


# 11 apply


@CONFIGS
@DISPATCHERS
def test_apply_between_steps(count: int, make: Make, config: Any, threads: bool) -> None:
    net = double(nn.Sequential().add(nn.Linear(4, 6)).add(nn.Tanh()).add(nn.Linear(6, 2)))
    dpt = make(net, config, threads)
    input, gradOutput = randn(2 * count + 1, 4), randn(2 * count + 1, 2)
    for _ in range(3):
        for trained in (net, dpt):
            trained.apply(lambda m: None)
            trained.zeroGradParameters()
            trained.forward(input)
            trained.backward(input, gradOutput)
            trained.updateParameters(0.1)
            trained.apply(lambda m: None)
        close(dpt.output, net.output)
        close(dpt.parameters()[0], net.parameters()[0])
    close(dpt.forward(input), net.forward(input))


# 12 streams


@CONFIGS
@DISPATCHERS
@pytest.mark.parametrize("stream", [0, 1])
def test_streams(count: int, make: Make, config: Any, threads: bool, stream: int) -> None:
    cutorch.reserveStreams(1)

    def init() -> None:
        cutorch.reserveStreams(1)
        cutorch.setStream(stream)

    cutorch.setStream(stream)
    try:
        net = double(nn.Sequential().add(nn.Linear(6, 6)).add(nn.ReLU(True)).add(nn.Linear(6, 5)))
        dpt = make(net, config, threads and init)
        for _ in range(2):
            input, gradOutput = randn(count + 2, 6), randn(count + 2, 5)
            close(dpt.forward(input), net.forward(input))
            close(dpt.backward(input, gradOutput), net.backward(input, gradOutput))
    finally:
        cutorch.setStream(0)


# 13 emptyData


@DISPATCHERS
def test_replicas_without_data(count: int, make: Make, threads: bool) -> None:
    def identity() -> nn.Linear:
        linear = double(nn.Linear(5, 5))
        linear.weight.copy_(torch.eye(5))
        linear.bias.zero_()
        return linear

    dpt = make(identity(), threads=threads)
    pair = make(nn.ParallelTable().add(identity()).add(identity()).double(), threads=threads)
    for size in (count, 1, 2):
        input = randn(size, 5)
        close(dpt.forward(input), input)
        close(dpt.backward(input, dpt.output), input)
        table = [input, input]
        close(pair.forward(table), table)
        close(pair.backward(table, map_tensors(Tensor.clone, pair.output)), table)


# 14 ProfileDataParallelTable, which only measures: what must hold for any number of devices


@pytest.mark.parametrize("replicas", range(1, 9))
def test_a_batch_of_24_on_any_number_of_devices(replicas: int) -> None:
    net = double(conv_net(1))
    dpt = reread(DataParallelTable(1, True).add(net.clone(), list(range(1, replicas + 1))))
    input = [randn(24, 1, 8, 8) for _ in range(3)]
    close(dpt.forward(input), net.forward(input))
    gradOutput = map_tensors(torch.randn_like, net.output)
    close(dpt.backward(input, gradOutput), net.backward(input, gradOutput))
    close(dpt.parameters()[1], net.parameters()[1])
