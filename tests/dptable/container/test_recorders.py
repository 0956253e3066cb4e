"""Recorded passes on simulated accelerators, which refuse what no graph can hold."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import simulator
import torch
from support.simulated import no_waiting, side_stream
from support.tensors import randn
from torch import Tensor

from compat import cutorch, nn, random
from dptable import DataParallelTable
from dptable.container.recorders import AcceleratorRecorder

pytestmark = [
    pytest.mark.skipif(
        not hasattr(torch.accelerator, "Graph"),
        reason="this PyTorch has no torch.accelerator.Graph",
    ),
    pytest.mark.usefixtures("simulated_devices"),
]
DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])

Make = Callable[..., DataParallelTable]


@pytest.fixture
def simulated_devices(simulated: None) -> None:
    cutorch.configure([f"sim:{i}" for i in range(3)])


def net() -> nn.Sequential:
    random.manualSeed(1)
    return (
        nn.Sequential()
        .add(nn.Linear(4, 6))
        .add(nn.BatchNormalization(6))
        .add(nn.ReLU(True))
        .add(nn.Dropout(0.3))
        .add(nn.Linear(6, 3))
        .double()
    )


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[DataParallelTable] = []

    def over(
        tower: Any, captured: bool, threads: bool = False, flat: bool = True, replicas: int = 3
    ) -> DataParallelTable:
        table = DataParallelTable(1, flat).add(tower, list(range(1, replicas + 1)))
        if threads:
            table.threads()
        made.append(table)
        return table.capture(captured)

    yield over
    for table in made:
        table.close()


def steps(table: DataParallelTable, count: int, size: int = 7) -> list[Any]:
    """What some steps give, with the same random numbers each time."""
    torch.sim.manual_seed_all(5)  # type: ignore[attr-defined]
    torch.manual_seed(2)
    found = []
    for _ in range(count):
        input, gradOutput = randn(size, 4), randn(size, 3)
        table.zeroGradParameters()
        output = table.forward(input).clone()
        found.append([output, table.backward(input, gradOutput).clone()])
        table.updateParameters(0.1)
    return [found, [p.cpu() for p in table.parameters()[0]]]


def replays(table: DataParallelTable) -> bool:
    capture = table._passes.capture
    return capture is not None and capture.running is not None


@DISPATCHERS
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("order", ["late", "random"])
def test_replayed_steps_are_the_computed_ones(
    make: Make, threads: bool, flat: bool, replicas: int, order: str
) -> None:
    simulator.configure(order=order, seed=3)
    replayed, computed = (make(net(), each, threads, flat, replicas) for each in (True, False))
    torch.testing.assert_close(steps(replayed, 4), steps(computed, 4))
    assert replays(replayed)
    variances = [t.exec(lambda m, i: m.get(2).running_var.cpu()) for t in (replayed, computed)]
    torch.testing.assert_close(*variances)


@DISPATCHERS
def test_a_replayed_step_waits_for_nothing(make: Make, threads: bool) -> None:
    table = make(net(), True, threads)
    input, gradOutput = (t.to("sim:0") for t in (randn(7, 4), randn(7, 3)))

    def step() -> None:
        table.zeroGradParameters()
        table.forward(input)
        table.backward(input, gradOutput)
        table.updateParameters(0.1)

    step()
    with no_waiting():
        for _ in range(3):
            step()
    assert replays(table)


@DISPATCHERS
def test_steps_on_a_stream_of_the_callers(make: Make, threads: bool) -> None:
    replayed, computed = (make(net(), each, threads) for each in (True, False))
    wanted = steps(computed, 3)
    with torch.get_device_module("sim").stream(side_stream()):
        torch.testing.assert_close(steps(replayed, 3), wanted)
    assert replays(replayed)


class Doing(nn.Module):
    """Does something with the input besides passing it on."""

    def __init__(self, what: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.what = (what,)

    def compute(self, input: Tensor) -> Tensor:
        self.what[0](input.detach())
        return input * 1

    def __deepcopy__(self, memo: dict[int, Any]) -> Doing:
        return Doing(self.what[0])


@DISPATCHERS
@pytest.mark.parametrize(
    "what",
    [
        lambda t: t.sum().item(),
        lambda t: t.cpu(),
        lambda t: torch.nonzero(t),
        lambda t: torch.accelerator.synchronize(),
        lambda t: torch.accelerator.current_stream().query(),
        lambda t: torch.zeros(2, device=f"sim:{(t.device.index + 1) % 3}"),
    ],
    ids=["item", "cpu", "size", "synchronize", "query", "elsewhere"],
)
def test_what_cannot_be_recorded_is_computed(make: Make, threads: bool, what: Any) -> None:
    tables = [make(net().add(Doing(what)), each, threads) for each in (True, False)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [steps(table, 3) for table in tables]
    [message] = [str(w.message) for w in caught if "capture:" in str(w.message)]
    assert "is not possible while a graph is captured; such passes are computed" in message
    assert not replays(tables[0])
    torch.testing.assert_close(*found)
    # The failed recording harms no later one.
    again = make(net(), True, threads)
    steps(again, 2)
    assert replays(again)


class Counting(nn.Module):
    """Its output depends on how often it was called."""

    calls = 0

    def compute(self, input: Tensor) -> Tensor:
        self.calls += 1
        return input * self.calls


@DISPATCHERS
def test_what_is_given_up_before_it_is_recorded_is_waited_for(make: Make, threads: bool) -> None:
    simulator.configure(order="late")
    table = make(net().add(Counting()), True, threads)
    input = randn(7, 4).to("sim:0")
    with pytest.warns(UserWarning, match="Counting, is another number in every pass"):
        table.forward(input)


def test_memory_of_recordings_is_given_back(make: Make) -> None:
    table = make(net(), False)
    steps(table, 2)
    table.clearState()
    gc.collect()
    before = torch.sim.memory_allocated(0)  # type: ignore[attr-defined]
    for _ in range(3):
        table.capture()
        steps(table, 2)
        assert replays(table)
        table.capture(False).clearState()
    gc.collect()
    assert torch.sim.memory_allocated(0) == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("missing", ["graphs", "registration"])
def test_without_graphs_of_the_device_passes_are_computed(
    make: Make, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> None:
        raise RuntimeError("no graphs are registered")

    if missing == "graphs":
        monkeypatch.delattr(torch.accelerator, "Graph")
    else:
        monkeypatch.setattr(torch.accelerator, "Graph", none)
    assert AcceleratorRecorder.refusal(torch.device("sim:0")) == (
        "this PyTorch records no graphs on sim:0"
    )
    wanted = steps(make(net(), False), 2)
    with pytest.warns(UserWarning, match="records no graphs on sim:0; such passes are computed"):
        torch.testing.assert_close(steps(make(net(), True), 2), wanted)
