"""Replicas that share no memory: what is on one device must reach the others."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import cutorch, nn, optim, random
from dptable.container import parameters
from dptable.container.data_parallel_table import DataParallelTable
from dptable.container.split_and_join import distribute_like


@pytest.fixture
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let replicas on one device keep parameters of their own, as on two devices."""
    monkeypatch.setattr(parameters, "_share_storage", lambda replicas: None)


def _steps(net: nn.Module, wrapped: nn.Module) -> torch.Tensor:
    """The parameters after five steps on words of which some are in both halves of a batch."""
    params, grads = net.getParameters()
    input = torch.tensor([[1, 2], [2, 3], [2, 4], [5, 1]])
    state: dict[str, float] = {"learningRate": 0.5}
    for step in range(5):
        grads.zero_()
        output = wrapped.forward(input.roll(step, 0))
        wrapped.backward(input.roll(step, 0), output - 3)

        optim.sgd(lambda x: (0.0, grads), params, state)
    return params.clone()


@pytest.mark.parametrize("threads", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_rows_that_any_replica_uses_are_bounded_for_all(
    apart: None, threads: bool, flat: bool
) -> None:
    def net() -> nn.Sequential:
        random.manualSeed(3)
        lookup = nn.LookupTable(6, 3, maxNorm=0.7)
        return nn.Sequential().add(lookup).add(nn.View(6)).add(nn.Linear(6, 2))

    alone = net().double()
    expected = _steps(alone, alone)
    replicated = net().double()
    dpt = DataParallelTable(1, flat).add(replicated, ["cpu", "cpu"])
    if threads:
        dpt.threads()
    found = _steps(dpt, dpt)
    dpt.close()
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_a_device_that_is_not_a_logical_one_is_refused_at_once() -> None:
    cutorch.configure(["meta", "meta"])
    dpt = DataParallelTable(1)
    with pytest.raises(ValueError, match=r"device is cpu; a logical device \(meta"):
        dpt.add(nn.Linear(2, 2), ["cpu", "cpu"])
    assert not dpt.modules


def test_a_move_keeps_every_precision() -> None:
    tower = torch.nn.Sequential(
        torch.nn.Linear(2, 2).double(), torch.nn.Linear(2, 2).half(), torch.nn.BatchNorm1d(2)
    )
    net = nn.Sequential().add(nn.Linear(2, 2).double()).add(nn.DontCast(nn.Linear(2, 2).half()))
    net.add(tower)
    dtypes = [tensor.dtype for tensor in (*net.parameters()[0], *tower.buffers())]
    net.move(torch.device("cpu"))
    assert [tensor.dtype for tensor in (*net.parameters()[0], *tower.buffers())] == dtypes
    assert len(set(dtypes)) == 4
    assert [part.type() for part in net.modules[:2]] == ["torch.DoubleTensor", "torch.FloatTensor"]


@pytest.mark.devices(3)
def test_replicas_on_other_devices_keep_every_precision() -> None:
    net = nn.Sequential().add(nn.DontCast(nn.Linear(4, 4).double(), True)).add(nn.Linear(4, 3))
    dpt = DataParallelTable(1).add(net, [2, 3])
    input = torch.randn(5, 4)
    assert dpt.backward(input, torch.ones_like(dpt.forward(input))).shape == input.shape
    for replica, device in zip(dpt.exec(lambda m, i: m), cutorch.devices()[1:], strict=True):
        tensors = [t for both in replica.parameters() for t in both]
        assert [t.device for t in tensors] == [device] * 8
        assert [t.dtype for t in tensors] == [*[torch.float64] * 2, *[torch.float32] * 2] * 2
    dpt.close()


def test_gradients_of_a_batch_from_elsewhere_are_where_the_net_is() -> None:
    cutorch.configure(["meta", "meta"])
    with torch.device("meta"):
        dpt = DataParallelTable(1).add(nn.Linear(3, 3), [1, 2])
    input = torch.randn(4, 3)
    assert dpt.backward(input, dpt.forward(input)).is_meta


def test_a_gradient_goes_where_its_output_is() -> None:
    outputs = [torch.empty(2, 3, device="meta"), torch.empty(1, 3)]
    parts = distribute_like(torch.arange(9.0).view(3, 3), 0, outputs)
    assert [part.device.type for part in parts] == ["meta", "cpu"]
    assert parts[1].tolist() == [[6, 7, 8]]


def test_the_callers_default_device_and_hooks_reach_the_replicas() -> None:
    packed: list[torch.Size] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed.append(tensor.shape)
        return tensor

    made: list[torch.Tensor] = []

    class Making(nn.Module):
        def compute(self, input: torch.Tensor) -> torch.Tensor:
            made.append(torch.empty(1))
            return input * input

    dpt = DataParallelTable(1).add(Making(), ["cpu", "cpu"]).threads()
    input = torch.randn(4, 3)
    with torch.device("meta"), torch.autograd.graph.saved_tensors_hooks(pack, lambda held: held):
        dpt.forward(input)
    dpt.backward(input, torch.ones(4, 3))
    dpt.close()
    assert [tensor.device.type for tensor in made] == ["meta", "meta"]
    if hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"):  # not in PyTorch 2.6
        assert packed == [torch.Size((2, 3))] * 4


@pytest.mark.devices(2)
@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: nn.AddConstant(torch.arange(6.0)), (4, 6)),
        (lambda: nn.SpatialSubtractiveNormalization(1, torch.ones(3, 3)), (4, 1, 6, 6)),
        (lambda: nn.SpatialContrastiveNormalization(1, torch.ones(3, 3)), (4, 1, 6, 6)),
    ],
)
def test_what_is_no_parameter_moves_too(make: Any, size: tuple[int, ...]) -> None:
    input = torch.randn(size)
    expected = make().forward(input)
    dpt = DataParallelTable(1).add(nn.Sequential().add(make()), [1, 2])
    torch.testing.assert_close(dpt.forward(input).cpu(), expected)
    assert dpt.backward(input, torch.ones(size)).shape == input.shape
