"""The container on one GPU, listed as up to four logical devices."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.simulated import no_waiting
from torch import Tensor

from compat import cutorch, nn, optim, random
from dptable import DataParallelTable
from dptable.cli import main
from dptable.prefetch import Prefetcher

pytestmark = pytest.mark.cuda

DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
CAPTURED = pytest.mark.parametrize("captured", [False, True], ids=["computed", "replayed"])


@pytest.fixture(autouse=True)
def one_gpu_four_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    cutorch.configure(["cuda:0"] * 4)
    random.manualSeed(0)
    torch.manual_seed(0)


Make = Callable[..., DataParallelTable]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[DataParallelTable] = []

    def over(
        net: nn.Module,
        replicas: int = 2,
        threads: bool = False,
        flat: bool = True,
        captured: bool = False,
        **options: Any,
    ) -> DataParallelTable:
        table = DataParallelTable(1, flat, **options).add(net, list(range(1, replicas + 1)))
        if threads:
            table.threads()
        made.append(table)
        return table.cudaDouble().capture(captured)

    yield over
    for table in made:
        table.close()


def net(dropout: float | None = None) -> nn.Sequential:
    random.manualSeed(1)
    whole = (
        nn.Sequential()
        .add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1))
        .add(nn.SpatialBatchNormalization(4))
        .add(nn.ReLU(True))
        .add(nn.SpatialMaxPooling(2, 2, 2, 2))
        .add(nn.View(64).setNumInputDims(3))
        .add(nn.Linear(64, 5))
    )
    return whole if dropout is None else whole.insert(nn.Dropout(dropout), 6)


def batch(size: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    kind: Any = {"dtype": torch.float64, "generator": torch.Generator().manual_seed(seed)}
    return torch.randn(size, 3, 8, 8, **kind).cuda(), torch.randn(size, 5, **kind).cuda()


def step(table: Any, input: Any, gradOutput: Any) -> list[Any]:
    table.zeroGradParameters()
    output = table.forward(input)
    gradInput = table.backward(input, gradOutput)
    found = [output, gradInput, [g.clone() for g in table.parameters()[1]]]
    table.updateParameters(0.1)
    return found


def close(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-8, atol=1e-10)


@DISPATCHERS
@CAPTURED
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize("replicas", [2, 4])
def test_steps_equal_those_of_the_net_alone(
    make: Make, replicas: int, threads: bool, flat: bool, captured: bool
) -> None:
    # Batch normalisation takes other statistics from a part of the batch.
    alone = net()
    alone.remove(2)
    table = make(alone.clone(), replicas, threads, flat, captured)
    alone.cudaDouble()
    for i in range(4):
        close(step(table, *batch(9, i)), step(alone, *batch(9, i)))
    if captured:
        assert table._passes.capture is not None and table._passes.capture.running is not None


@DISPATCHERS
@CAPTURED
@pytest.mark.parametrize("overlap", [False, True], ids=["after", "overlap"])
def test_steps_on_a_stream_of_the_callers_own(
    make: Make, threads: bool, captured: bool, overlap: bool
) -> None:
    random.manualSeed(2)
    alone = nn.Sequential()
    for _ in range(6):
        alone.add(nn.Linear(512, 512)).add(nn.Tanh())
    table = make(alone.clone(), 3, threads, captured=captured, overlap=overlap)
    alone.cudaDouble()
    input = torch.randn(64, 512, dtype=torch.float64, device="cuda")
    gradOutput = torch.randn_like(input) / 1000
    wanted = [step(alone, input, gradOutput) for _ in range(4)]
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for each in wanted:
            # What the step is given comes late.
            torch.cuda._sleep(10_000_000)
            close(step(table, input.clone(), gradOutput.clone()), each)


@DISPATCHERS
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_replayed_steps_equal_computed_ones(make: Make, replicas: int, threads: bool) -> None:
    tables = [make(net(), replicas, threads, captured=captured) for captured in (True, False)]
    for i in range(6):
        mine, theirs = (step(table, *batch(8, i)) for table in tables)
        close(mine, theirs)
    variances = [t.exec(lambda m, i: m.get(2).running_var) for t in tables]
    close(*variances)


def test_replayed_noise_is_the_computed_noise(make: Make) -> None:
    tables = [make(net(0.5), captured=captured) for captured in (True, False)]
    outputs: list[list[Tensor]] = [[], []]
    for table, found in zip(tables, outputs, strict=True):
        torch.cuda.manual_seed(7)
        found += [step(table, *batch(8))[0] for _ in range(4)]
    close(*outputs)
    noises = tables[0].exec(lambda m, i: m.findModules("nn.Dropout")[0][0].noise.clone())
    tables[0].forward(batch(8)[0])
    for noise, later in zip(noises, tables[0].exec(lambda m, i: m.get(6).noise), strict=True):
        assert not torch.equal(noise, later)


def test_recording_leaves_no_trace(make: Make) -> None:
    states = []
    for captured in (True, False):
        table = make(net(0.5), captured=captured)
        table.zeroGradParameters()
        for gradient in table.parameters()[1]:
            gradient.fill_(3)
        torch.cuda.manual_seed(7)
        table.forward(batch(8)[0])
        variances = table.exec(lambda m, i: m.get(2).running_var.clone())
        gradients = [g.clone() for g in table.parameters()[1]]
        states.append([variances, gradients, torch.rand(3, device="cuda")])
    close(*states)


class Reading(nn.Module):
    """Makes the CPU wait for the GPU, which cannot be recorded."""

    def compute(self, input: Tensor) -> Tensor:
        return input * input.detach().abs().max().item()


@DISPATCHERS
@pytest.mark.parametrize("dropout", [None, 0.5])
def test_what_cannot_be_recorded_is_computed(
    make: Make, threads: bool, dropout: float | None
) -> None:
    tables = [
        make(net(dropout).add(Reading()), threads=threads, captured=captured)
        for captured in (True, False)
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3):
            found = [step(table, *batch(8, i)) for table in tables]
            if dropout is None:
                close(*found)
    assert sum("capture:" in str(warning.message) for warning in caught) == 1
    # The failed recording harms no later one, nor is memory of two streams lost.
    used = torch.cuda.memory_allocated()
    for _ in range(10):
        next(iter(Prefetcher([torch.zeros(1 << 20)], "cuda:0")))
    torch.cuda.synchronize()
    torch.zeros(1, device="cuda")
    assert torch.cuda.memory_allocated() < used + (2 << 22)
    test_replayed_steps_equal_computed_ones(make, 2, threads)


def test_inputs_of_another_form_are_computed(make: Make) -> None:
    tables = [make(net(), captured=captured) for captured in (True, False)]
    with pytest.warns(UserWarning, match="another form"):
        for i, size in enumerate((8, 8, 5, 8, 8, 1)):
            close(*(step(table, *batch(size, i)) for table in tables))


def test_memory_of_recordings_is_given_back(make: Make) -> None:
    table = make(net(), captured=True)
    step(table, *batch(8))
    table.capture(False).clearState()
    gc.collect()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        table.capture()
        step(table, *batch(8))
        table.capture(False).clearState()
    gc.collect()
    assert torch.cuda.memory_allocated() <= before + (1 << 20)


@DISPATCHERS
@CAPTURED
@pytest.mark.parametrize("overlap", [False, True], ids=["after", "overlap"])
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_a_steady_step_waits_for_nothing(
    make: Make, replicas: int, overlap: bool, threads: bool, captured: bool
) -> None:
    table = make(net(0.5), replicas, threads, captured=captured, overlap=overlap)
    parameters, gradients = table.getParameters()
    state: dict[str, Any] = {"learningRate": 0.1, "momentum": 0.9}
    input, gradOutput = batch(8)

    def whole_step() -> None:
        table.zeroGradParameters()
        table.forward(input)
        table.backward(input, gradOutput)
        optim.sgd(lambda x: (0.0, gradients), parameters, state)

    for _ in range(3):
        whole_step()
    with no_waiting():
        for _ in range(3):
            whole_step()


@CAPTURED
def test_the_train_command_on_a_gpu_twice(
    captured: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["train", "--devices", "cuda:0,cuda:0", "--epochs", "2", "--output", "run"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "capture: the input has another form")
        assert main([*argv, *(["--capture"] if captured else [])]) == 0


@CAPTURED
def test_a_group_of_one_process(make: Make, tmp_path: Path, captured: bool) -> None:
    table, alone = (make(net(), captured=c) for c in (captured, False))
    dist.init_process_group(
        "cpu:gloo,cuda:nccl", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        table.distribute()
        for i in range(4):
            close(step(table, *batch(8, i)), step(alone, *batch(8, i)))
        table.close_group()
    finally:
        dist.destroy_process_group()
