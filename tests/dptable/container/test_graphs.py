"""Replayed passes against computed ones.

On accelerators they are recorded with PyTorch's graphs, where it has any. On CPUs a stand-in takes
their place: it replays by running the same function again into the same tensors, which is all that
the container relies on.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from compat import cutorch, nn, random
from compat.tensor_tables import tensors
from dptable import DataParallelTable
from dptable.container.cuda_recorder import CudaRecorder
from dptable.container.graphs import Capture
from dptable.container.recorders import AcceleratorRecorder
from dptable.models import MODELS

pytestmark = pytest.mark.devices(3)
DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
SHARED = ("weight", "bias", "gradWeight", "gradBias")
FLAT = pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])


class Rerun:
    """Replays by running again, and counts."""

    recorded = replayed = 0

    def __init__(self, device: torch.device) -> None:
        pass

    @staticmethod
    def refusal(device: torch.device) -> str | None:
        return None

    def side_stream(self) -> AbstractContextManager[None]:
        return nullcontext()

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        result = function()
        type(self).recorded += 1

        def replay() -> None:
            type(self).replayed += 1
            for mine, new in zip(tensors(result), tensors(function()), strict=True):
                mine.copy_(new)

        return result, replay


class Recorded(AcceleratorRecorder):
    """Records graphs of the device, and counts with ``Rerun``."""

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        result, replay = super().record(function)
        Rerun.recorded += 1

        def counted() -> None:
            Rerun.replayed += 1
            replay()

        return result, counted


class Still(Rerun):
    """Replays nothing: what is left is the work around a replay."""

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        return function(), lambda: None


@pytest.fixture(autouse=True)
def fresh() -> None:
    if cutorch.accelerated() and not hasattr(torch.accelerator, "Graph"):
        pytest.skip("this PyTorch has no torch.accelerator.Graph")
    random.manualSeed(5)
    torch.manual_seed(5)
    Rerun.recorded = Rerun.replayed = 0


Make = Callable[..., Any]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[DataParallelTable] = []

    def over(
        net: Any,
        threads: bool = False,
        flat: bool = False,
        replicas: int = 2,
        recorder: Any = Rerun,
        **options: Any,
    ) -> DataParallelTable:
        table = DataParallelTable(1, flat, **options).add(net, list(range(1, replicas + 1)))
        if threads:
            table.threads()
        if recorder is Rerun and cutorch.accelerated():
            recorder = Recorded
        if recorder is not None:
            assert table.capture() is table
            table._passes.capture = Capture(lambda device: recorder)
        made.append(table)
        return table

    yield over
    for table in made:
        table.close()


def net() -> nn.Sequential:
    random.manualSeed(1)
    shared = nn.Linear(6, 6)
    twice = nn.ConcatTable().add(shared).add(shared.clone(*SHARED))
    return (
        nn.Sequential()
        .add(nn.Linear(4, 6))
        .add(nn.BatchNormalization(6))
        .add(nn.ReLU(True))
        .add(twice)
        .add(nn.CAddTable())
        .add(nn.Linear(6, 3))
        .double()
    )


def batch(size: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    kind: Any = {"dtype": torch.float64, "generator": torch.Generator().manual_seed(seed)}
    return torch.randn(size, 4, **kind), torch.randn(size, 3, **kind)


def step(table: Any, input: Any, gradOutput: Any) -> list[Any]:
    table.zeroGradParameters()
    output = table.forward(input)
    gradInput = table.backward(input, gradOutput)
    found = [output, gradInput, [g.clone() for g in table.parameters()[1]]]
    table.updateParameters(0.1)
    return found


def same(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=0, atol=0)


def statistics(table: DataParallelTable) -> list[list[Tensor]]:
    return table.exec(
        lambda m, i: [n.running_var for n in m.findModules("nn.BatchNormalization")[0]]
    )


# Replays.


@DISPATCHERS
@FLAT
@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_a_replayed_run_is_the_same_to_the_bit(
    make: Make, threads: bool, flat: bool, replicas: int
) -> None:
    tables = [make(net(), threads, flat, replicas, recorder) for recorder in (Rerun, None)]
    for i in range(6):
        given = batch(7, i)
        mine, theirs = (step(table, *given) for table in tables)
        same(mine, theirs)
    same(*map(statistics, tables))
    assert Rerun.recorded == 2 * replicas and Rerun.replayed == 12 * replicas


def test_recording_leaves_no_trace(make: Make) -> None:
    table = make(net().insert(nn.Dropout(0.4).double(), 4), replicas=2, recorder=None)
    same_net = make(net().insert(nn.Dropout(0.4).double(), 4), replicas=2)
    for one in (table, same_net):
        one.zeroGradParameters()
        random.manualSeed(9)
        torch.manual_seed(9)
        for seed in (1, 2):
            one.forward(batch(6, seed)[0])
            one.backward(*batch(6, seed))
        one.numbers = random.uniform(), torch.rand(1).item()
    assert Rerun.recorded == 4
    same(table.output, same_net.output)
    same(table.parameters(), same_net.parameters())
    same(statistics(table), statistics(same_net))
    assert table.numbers == same_net.numbers


def test_towers_of_torch_nn_and_their_buffers(make: Make) -> None:
    def tower() -> torch.nn.Module:
        torch.manual_seed(0)
        linear, last = torch.nn.Linear(4, 5), torch.nn.Linear(5, 3)
        return torch.nn.Sequential(linear, torch.nn.BatchNorm1d(5), torch.nn.ReLU(), last).double()

    tables = [make(tower(), recorder=recorder) for recorder in (Rerun, None)]
    for i in range(4):
        mine, theirs = (step(table, *batch(6, i)) for table in tables)
        same(mine, theirs)
    same(*(table.exec(lambda m, i: list(m.module.buffers())) for table in tables))
    assert Rerun.replayed == 16


def test_modules_with_torch7s_methods(make: Make) -> None:
    tables = [make(net().add(Opaque().double()), recorder=recorder) for recorder in (Rerun, None)]
    for i in range(3):
        same(*(step(table, *batch(6, i)) for table in tables))
    assert Rerun.replayed == 12


def test_results_are_not_overwritten_by_the_next_pass(make: Make) -> None:
    table = make(net(), replicas=1)
    first, gradInput, _ = step(table, *batch(4, 0))
    copies = first.clone(), gradInput.clone()
    step(table, *batch(4, 1))
    same((first, gradInput), copies)


def test_modules_show_the_replayed_outputs(make: Make) -> None:
    tables = [make(net(), recorder=recorder) for recorder in (Rerun, None)]
    for i in range(3):
        for table in tables:
            step(table, *batch(6, i))
        same(*(table.exec(lambda m, i: [k.output for k in m.listModules()]) for table in tables))


@pytest.mark.parametrize("scale", [1, 0.5, 0, -2])
def test_the_two_halves_of_backward_and_their_scale(make: Make, scale: float) -> None:
    tables = [make(net(), recorder=recorder) for recorder in (Rerun, None)]
    for table in tables:
        table.zeroGradParameters()
        for i in range(3):
            input, gradOutput = batch(5, i)
            table.forward(input)
            table.backward(input, gradOutput, scale)
            table.forward(input)
            table.gradients = [table.updateGradInput(input, gradOutput).clone()]
            table.accGradParameters(input, gradOutput, scale)
    torch.testing.assert_close(
        tables[0].parameters(), tables[1].parameters(), rtol=1e-9, atol=1e-12
    )
    same(tables[0].gradients, tables[1].gradients)
    assert Rerun.replayed


def test_tables(make: Make) -> None:
    def tower() -> Any:
        random.manualSeed(2)
        ends = nn.ConcatTable().add(nn.Linear(4, 3)).add(nn.Linear(4, 2))
        return nn.Sequential().add(nn.CAddTable()).add(ends).double()

    tables = [make(tower(), recorder=recorder) for recorder in (Rerun, None)]
    for i in range(3):
        (a, g), (b, _) = batch(6, i), batch(6, 10 + i)
        gradOutput = [g, g[:, :2].contiguous()]
        mine, theirs = (step(table, [a, b], gradOutput) for table in tables)
        same(mine, theirs)
    assert Rerun.replayed == 12


def test_gradients_of_several_passes_add_up(make: Make) -> None:
    tables = [make(net(), True, recorder=recorder) for recorder in (Rerun, None)]
    for table in tables:
        for i in range(3):
            with table.no_sync() if i < 2 else nullcontext():
                table.forward(batch(6, i)[0])
                table.backward(*batch(6, i))
    same(tables[0].parameters()[1], tables[1].parameters()[1])


@pytest.mark.cpus(3)  # gloo carries no simulated tensors
def test_replays_in_a_group_of_processes(make: Make, tmp_path: Path) -> None:
    tables = [make(net(), True, recorder=recorder) for recorder in (Rerun, None)]
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        tables[0].distribute()
        for i in range(3):
            same(*(step(table, *batch(6, i)) for table in tables))
        assert Rerun.replayed == 12
        tables[0].close_group()
    finally:
        dist.destroy_process_group()


def test_no_gradInput_where_none_is_wanted(make: Make) -> None:
    table = make(net())
    table.gradInput = None
    assert step(table, *batch(6))[1] is None
    assert table.gradInput is None and Rerun.replayed == 4
    assert all(m.gradInput is not None for m in table.exec(lambda m, i: m))


@DISPATCHERS
def test_the_gradOutput_is_checked(make: Make, threads: bool) -> None:
    table = make(net(), threads)
    table.forward(batch(6)[0])
    with pytest.raises(TypeError, match=r"gradOutput is torch.float32 .* output is torch.float64"):
        table.backward(batch(6)[0], batch(6)[1].float())
    bare = make(net(), recorder=None)
    same(step(table, *batch(6))[0], step(bare, *batch(6))[0])


# What is computed normally.


def test_an_input_of_another_form_is_computed_after_one_warning(make: Make) -> None:
    tables = [make(net(), recorder=recorder) for recorder in (Rerun, None)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i, size in enumerate((6, 6, 5, 6, 1, 6)):
            mine, theirs = (step(table, *batch(size, i)) for table in tables)
            same(mine, theirs)
    assert [str(w.message) for w in caught] == [
        "capture: the input has another form than the one recorded; "
        "such passes are computed normally"
    ]
    assert Rerun.recorded == 4 and Rerun.replayed == 16


def test_evaluation_is_computed_as_ever(make: Make) -> None:
    tables = [make(net(), recorder=recorder) for recorder in (Rerun, None)]
    for i in range(3):
        for table in tables:
            step(table, *batch(6, i))
        outputs = [table.evaluate().forward(batch(4)[0]) for table in tables]
        same(*outputs)
        for table in tables:
            table.training()
        with torch.no_grad():
            same(*(table.forward(batch(6)[0]) for table in tables))
    assert Rerun.recorded == 4 and Rerun.replayed == 18


class Opaque(nn.Module):
    """A module the Torch7 way."""

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = input * 2
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        self.gradInput = gradOutput * 2
        return self.gradInput


class Counting(nn.Module):
    """Its output depends on how often it was called."""

    calls = 0

    def compute(self, input: Tensor) -> Tensor:
        self.calls += 1
        return input * self.calls


class Broken(Rerun):
    """A recording that fails as CUDA's do: its end, too."""

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        try:
            raise RuntimeError("operation not permitted when stream is capturing\nmore")
        finally:
            raise RuntimeError("operation failed due to a previous error during capture")


@DISPATCHERS
@pytest.mark.cpus(2)  # accelerators: test_recorders.py
@pytest.mark.parametrize(
    ("tower", "recorder", "options", "shares", "reason"),
    [
        (net, CudaRecorder, {}, None, "cpu is not a GPU"),
        (net, Broken, {}, None, "operation not permitted when stream is capturing"),
        (net, Rerun, {}, "auto", "shares is 'auto', with which the slices change"),
    ],
)
def test_what_cannot_be_recorded(
    tower: Any, recorder: Any, options: Any, shares: Any, reason: str, threads: bool
) -> None:
    tables = [DataParallelTable(1).add(tower(), [1, 2], shares) for _ in range(2)]
    tables[0].capture()._passes.capture = Capture(lambda device: recorder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if threads:
            tables[0].threads()
        for i in range(3):
            for table in tables:
                step(table, *batch(6, i))
    [warning] = caught
    assert reason in str(warning.message) and "computed normally" in str(warning.message)
    if shares is None:
        same(tables[0].parameters(), tables[1].parameters())
        same(*map(statistics, tables))
    tables[0].close()


def test_statistics_of_all_replicas_cannot_be_recorded(make: Make) -> None:
    table = make(net(), True, statistics="synchronised")
    with pytest.warns(UserWarning, match="statistics is 'synchronised'"):
        step(table, *batch(6))


def test_numbers_that_change_cannot_be_recorded(make: Make) -> None:
    table = make(nn.Sequential().add(nn.Linear(4, 3)).add(Counting()).double(), replicas=1)
    with pytest.warns(UserWarning, match="calls of module 3, a Counting, is another number"):
        table.forward(batch(4)[0])


def test_an_error_of_the_net_is_its_own(make: Make) -> None:
    table = make(net())
    with pytest.raises(ValueError, match="input has 7 features"):
        table.forward(torch.ones(6, 7).double())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(step(table, *batch(6)), step(make(net(), recorder=None), *batch(6)))
    assert Rerun.replayed == 4


# What changes around a recording.


@DISPATCHERS
@pytest.mark.parametrize("change", ["type", "clearState", "apply", "close", "flat", "outer", "add"])
def test_changes_of_the_net_are_recorded_anew(make: Make, threads: bool, change: str) -> None:
    tables = [make(net(), threads, recorder=recorder) for recorder in (Rerun, None)]
    for table in tables:
        for i in range(2):
            step(table, *batch(6, i))
        if change == "type":
            for name in ("cuda", "cudaDouble") if cutorch.accelerated() else ("float", "double"):
                getattr(table, name)()
        elif change == "apply":
            table.apply(lambda m: setattr(m, "momentum", 0.5))
        elif change == "flat":
            table.flattenParameters()
        elif change == "outer":
            last = nn.Linear(3, 3).double()
            last.move(cutorch.device(1))
            table.outer = nn.Sequential().add(table).add(last)
            table.flat = table.outer.getParameters()
        elif change == "add":
            random.manualSeed(3)
            table.get(1).add(nn.Linear(3, 3).double())
            if table._passes.capture is not None:
                table._passes.capture = Capture(lambda device: Rerun)
        else:
            getattr(table, change)()
    for i in range(3):
        mine, theirs = (step(table, *batch(6, i)) for table in tables)
        same(mine, theirs)
    same(*map(statistics, tables))
    assert Rerun.recorded == 8 and Rerun.replayed == 4 * 5


def test_gradients_that_optimizers_drop(make: Make) -> None:
    def tower() -> torch.nn.Module:
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))

    tables = [make(tower().double(), recorder=recorder) for recorder in (Rerun, None)]
    optimizers = [torch.optim.SGD(table.parameters()[0], lr=0.1) for table in tables]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(8):
            for table, optimizer in zip(tables, optimizers, strict=True):
                table.forward(batch(6, i)[0])
                optimizer.zero_grad()
                table.backward(*batch(6, i))
                optimizer.step()
            same(tables[0].parameters(), tables[1].parameters())
    [warning] = caught
    assert "parameters or gradients are elsewhere in every step" in str(warning.message)


def test_capture_can_be_switched_off_and_is_not_copied(make: Make) -> None:
    table = make(net())
    step(table, *batch(6))
    clone = table.clone()
    assert clone._passes.capture is None
    assert table.capture(False)._passes.capture is None
    same(step(table, *batch(6)), step(clone, *batch(6)))


def test_a_failed_pass_is_followed_by_a_right_one(make: Make) -> None:
    tables = [make(net(), True, recorder=recorder) for recorder in (Rerun, None)]
    for table in tables:
        step(table, *batch(6))
    tables[0].forward(batch(6)[0])
    with pytest.raises(ValueError, match="gradOutput has size 4"):
        tables[0].backward(batch(6)[0], batch(4)[1])
    replay = tables[0]._passes.capture.running[1]
    kept, replay._run_backward = replay._run_backward, lambda: 1 / 0
    with pytest.raises(ZeroDivisionError, match="replica 2"):
        tables[0].backward(*batch(6))
    replay._run_backward = kept
    assert not any(g.any() for g in tables[0].parameters()[1])
    tables[1].forward(batch(6)[0])
    same(*(step(table, *batch(6, 2)) for table in tables))


# What it is for.


@pytest.mark.cpus(2)  # the work around a replay is the same
@DISPATCHERS
def test_python_has_no_more_to_do_for_a_deeper_net(
    make: Make, threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Large sums are shared by the threads, for which there is a little more to do.
    monkeypatch.setattr("dptable.container.gradients._SHARED_BYTES", 1 << 40)

    def calls(depth: int) -> int:
        table = make(MODELS["resnet"](10, 3, 8, 8, depth=depth), threads, True, recorder=Still)
        table.gradInput = None
        parameters, gradients = table.getParameters()
        input, gradOutput = torch.randn(4, 3, 8, 8), torch.randn(4, 10)
        count = 0

        def note(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        for replayed in range(3):
            if replayed == 2:
                sys.setprofile(note)
            try:
                table.zeroGradParameters()
                table.forward(input)
                table.backward(input, gradOutput)
                parameters.sub_(gradients, alpha=0.1)
            finally:
                sys.setprofile(None)
        return count

    assert calls(8) == calls(14) > 0
