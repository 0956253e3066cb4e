"""Whatever fails, wherever: the error comes out, nothing hangs, and the next step is right.

One net on three replicas and the same net alone take the same steps. Faults strike in any phase of
a step, in any replica; afterwards both must still agree.
"""

from __future__ import annotations

import ctypes
import random as chance
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import cutorch, nn, random
from dptable import DataParallelTable, comm
from dptable.container import gradients as gradient_sum
from dptable.container import parameters as link
from dptable.container import passes

REPLICAS = 3

PHASES = ("sync", "distribute", "forward", "concat", "backward", "reduce")
INSIDE = ("forward", "backward")
DISPATCHERS = pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
# A watchdog: a hang ends the run with the stacks of all threads.
pytestmark = [pytest.mark.devices(REPLICAS), pytest.mark.timeout(100)]


class TwoArguments(Exception):
    """An error whose text is not its only argument."""


ERRORS: list[BaseException] = [
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    torch.OutOfMemoryError("CUDA out of memory"),
    MemoryError(),
    TwoArguments("one", 2),
    KeyboardInterrupt(),
    SystemExit(3),
]


class Trouble:
    """What is to go wrong, once: `phase` in replica `replica` (0: wherever), before or after it."""

    def __init__(self) -> None:
        self.none()

    def none(self) -> None:
        self.error: BaseException | None = None
        self.phase, self.replica, self.late = "", 0, False
        self._lock = threading.Lock()

    def plan(self, error: BaseException, phase: str, replica: int = 0, late: bool = False) -> None:
        self.error, self.phase, self.replica, self.late = error, phase, replica, late

    def strike(self, phase: str, replica: int = 0, late: bool = False) -> None:
        with self._lock:
            if (phase, replica, late) != (self.phase, self.replica, self.late):
                return
            error, self.error, self.phase = self.error, None, ""
        assert error is not None
        # A fresh one: places are written into them.
        raise type(error)(*error.args)

    def around(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def troubled(*args: Any, **kwargs: Any) -> Any:
            self.strike(phase)
            result = function(*args, **kwargs)
            self.strike(phase, late=True)
            return result

        return troubled


class _Watched(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, layer: Any) -> Tensor:
        ctx.layer = layer
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        layer = ctx.layer
        layer.trouble[0].strike("backward", layer.replica, layer.late)
        return gradient, None


class Watched(nn.Module):
    """Passes everything through, and may fail in either direction."""

    def __init__(self, trouble: Trouble, late: bool) -> None:
        super().__init__()
        # In the net alone nothing fails.
        self.trouble, self.late, self.replica = (trouble,), late, -1

    def compute(self, input: Tensor) -> Tensor:
        self.trouble[0].strike("forward", self.replica, self.late)
        return _Watched.apply(input, self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Watched:
        return Watched(self.trouble[0], self.late)


@pytest.fixture
def trouble(monkeypatch: pytest.MonkeyPatch) -> Trouble:
    """Faults in every phase, when planned."""
    planned = Trouble()
    for place, name, phase in (
        (passes, "distribute", "distribute"),
        (passes, "distribute_like", "distribute"),
        (passes, "concat", "concat"),
        (link, "spread", "sync"),
        (comm, "reduce_into_", "reduce"),
        (comm, "reduce_slice_", "reduce"),
    ):
        monkeypatch.setattr(place, name, planned.around(phase, getattr(place, name)))
    # Replicas on one device would share their parameters, and there would be nothing to copy.
    monkeypatch.setattr(link, "_share_storage", lambda replicas: None)
    # However small, sums are shared by the threads.
    monkeypatch.setattr(gradient_sum, "_SHARED_BYTES", 0)
    return planned


@pytest.fixture(autouse=True)
def three_devices() -> None:
    random.manualSeed(0)
    torch.manual_seed(0)


class Pair:
    """The net on replicas and the same net alone."""

    def __init__(
        self,
        trouble: Trouble,
        threads: bool,
        flat: bool = True,
        overlap: bool | None = None,
        statistics: str = "first",
    ) -> None:
        self.trouble = trouble
        together = statistics == "synchronised"
        self.alone = (
            nn.Sequential()
            .add(Watched(trouble, False))
            .add(nn.Linear(4, 6))
            .add(nn.BatchNormalization(6) if together else nn.Tanh())
            .add(nn.Linear(6, 3))
            .add(Watched(trouble, True))
            .double()
        )
        self.table = DataParallelTable(1, flat, overlap=overlap, statistics=statistics)
        self.table.add(self.alone.clone(), list(range(1, REPLICAS + 1)))
        if threads:
            self.table.threads()
        self.threads = threads
        self.number()

    def number(self) -> None:
        """Tell each replica which one it is."""

        def tell(module: nn.Module, i: int) -> None:
            for watched in (module.get(1), module.get(5)):
                watched.replica = i

        self.table.exec(tell)

    def both(self, function: Callable[[Any], Any]) -> None:
        assert_same(function(self.table), function(self.alone))

    def compare(self) -> None:
        for mine, theirs in zip(self.table.parameters(), self.alone.parameters(), strict=True):
            assert_same(mine, theirs)

    def good_step(self, size: int = 7) -> None:
        input, gradOutput = batch(size)

        def step(net: Any) -> Any:
            net.zeroGradParameters()
            output = net.forward(input)
            gradInput = net.backward(input, gradOutput)
            return output, gradInput

        self.both(step)
        self.compare()
        for net in (self.table, self.alone):
            net.updateParameters(0.1)
        self.compare()
        if self.threads:
            names = [t.name for t in threading.enumerate() if t.name.startswith("dptable-replica")]
            assert sorted(names) == [f"dptable-replica-{i}" for i in range(1, REPLICAS + 1)]


@pytest.fixture
def pair(trouble: Trouble) -> Iterator[Callable[..., Pair]]:
    made: list[Pair] = []

    def make(*args: Any, **options: Any) -> Pair:
        made.append(Pair(trouble, *args, **options))
        return made[-1]

    yield make
    for one in made:
        one.table.close()


def assert_same(actual: Any, wanted: Any) -> None:
    torch.testing.assert_close(actual, wanted, rtol=1e-9, atol=1e-12)


def batch(size: int) -> tuple[Tensor, Tensor]:
    return torch.randn(size, 4, dtype=torch.float64), torch.randn(size, 3, dtype=torch.float64)


def failing_step(pair: Pair, error: BaseException) -> None:
    table = pair.table
    input, gradOutput = batch(6)
    with pytest.raises(type(error)) as caught:
        table.syncParameters()
        table.forward(input)
        table.backward(input, gradOutput)
    assert caught.value is not error and not pair.trouble.phase


@DISPATCHERS
@pytest.mark.parametrize("overlap", [False, True], ids=["after", "overlap"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "every", [pytest.param(False, id="third"), pytest.param(True, id="all", marks=pytest.mark.slow)]
)
def test_a_fault_in_any_phase(
    pair: Callable[..., Pair], every: bool, phase: str, threads: bool, flat: bool, overlap: bool
) -> None:
    both = pair(threads, flat, overlap)
    both.good_step()
    # A third: each error meets each phase, replica and moment, but not in each of the ways.
    part = threads + flat + overlap
    for place, (error, late) in enumerate(product(ERRORS, (False, True))):
        for replica in range(1, REPLICAS + 1) if phase in INSIDE else (0,):
            if not every and (place + replica + part) % 3:
                continue
            both.trouble.plan(error, phase, replica, late)
            failing_step(both, error)
            both.good_step()


@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("replica", range(1, REPLICAS + 1))
def test_a_fault_while_the_others_wait_for_statistics(
    pair: Callable[..., Pair], phase: str, replica: int
) -> None:
    both = pair(True, statistics="synchronised")
    for error, late in product(ERRORS, (False, True)):
        both.trouble.plan(error, phase, replica, late)
        failing_step(both, error)
        both.good_step()


@DISPATCHERS
@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("replica", range(1, REPLICAS + 1))
def test_out_of_memory_in_one_replica_says_where(
    pair: Callable[..., Pair], phase: str, replica: int, threads: bool
) -> None:
    both = pair(threads)
    both.trouble.plan(torch.OutOfMemoryError("CUDA out of memory"), phase, replica)
    input, gradOutput = batch(6)
    place = rf"^replica {replica} \(GPU {replica}, {cutorch.device(replica)}\)"
    with pytest.raises(torch.OutOfMemoryError, match=place):
        both.table.forward(input)
        both.table.backward(input, gradOutput)
    both.good_step()


# Gradients that accumulate over several passes.


@DISPATCHERS
@pytest.mark.parametrize("phase", ["backward", "concat", "reduce"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
def test_a_failed_backward_leaves_no_parts_of_sums(
    pair: Callable[..., Pair], phase: str, threads: bool, late: bool, flat: bool
) -> None:
    both = pair(threads, flat)
    both.good_step()
    table = both.table
    given = batch(6)
    table.forward(given[0])
    both.trouble.plan(RuntimeError("fault"), phase, 2 if phase == "backward" else 0, late)
    with pytest.raises(RuntimeError, match="fault"):
        table.backward(*given)
    for gradients in table.exec(lambda module, i: module.parameters()[1]):
        assert not any(g.any() for g in gradients)
    # The passes of the step are repeated: without the failed one's, and without being reset.
    both.alone.zeroGradParameters()
    for given in (batch(6), batch(5)):
        both.both(lambda net, given=given: (net.forward(given[0]), net.backward(*given)))
    both.compare()


@DISPATCHERS
def test_a_failed_backward_drops_what_was_not_summed_yet(
    pair: Callable[..., Pair], threads: bool
) -> None:
    both = pair(threads)
    given = batch(6)
    both.table.forward(given[0])
    with both.table.no_sync():
        both.table.backward(*given)
    both.trouble.plan(RuntimeError("fault"), "backward", 3)
    with pytest.raises(RuntimeError, match="fault"):
        both.table.backward(*given)
    both.both(lambda net: (net.forward(given[0]), net.backward(*given)))
    both.compare()


@DISPATCHERS
def test_a_gradOutput_that_could_not_be_distributed_changes_no_gradient(
    pair: Callable[..., Pair], threads: bool
) -> None:
    both = pair(threads)
    both.good_step()
    given = batch(6)
    both.both(lambda net: net.forward(given[0]))
    for late in (False, True):
        both.trouble.plan(RuntimeError("fault"), "distribute", late=late)
        with pytest.raises(RuntimeError, match="fault"):
            both.table.backward(*given)
        both.compare()
    both.both(lambda net: net.backward(*given))
    both.compare()


@DISPATCHERS
def test_a_refused_gradOutput_changes_no_gradient(pair: Callable[..., Pair], threads: bool) -> None:
    both = pair(threads)
    both.good_step()
    with pytest.raises(ValueError, match="gradOutput has size 9"):
        both.table.backward(*batch(9))
    both.compare()
    both.both(lambda net: (net.forward(batch_of(5)), net.backward(batch_of(5), ones(5))))
    both.compare()


def batch_of(size: int) -> Tensor:
    return torch.linspace(-1, 1, size * 4, dtype=torch.float64).view(size, 4)


def ones(size: int) -> Tensor:
    return torch.ones(size, 3, dtype=torch.float64)


@DISPATCHERS
def test_gradients_that_could_not_be_dropped_are_dropped_later(
    pair: Callable[..., Pair], threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = pair(threads)
    both.good_step()
    zero = torch._foreach_zero_

    def gone(tensors: Any) -> None:
        raise RuntimeError("CUDA error: device lost")

    input, gradOutput = batch(6)
    monkeypatch.setattr(torch, "_foreach_zero_", gone)
    both.table.forward(input)
    both.trouble.plan(RuntimeError("fault"), "reduce", late=True)
    # Between devices the sum itself sets to zero.
    with pytest.raises(RuntimeError, match=r"fault|device lost"):
        both.table.backward(input, gradOutput)
    both.trouble.none()
    with pytest.raises(RuntimeError, match="device lost"):
        both.table.updateParameters(0.1)
    with pytest.raises(RuntimeError, match="device lost"):
        both.table.backward(input, gradOutput)
    monkeypatch.setattr(torch, "_foreach_zero_", zero)
    both.alone.zeroGradParameters()
    both.both(lambda net: (net.forward(input), net.backward(input, gradOutput)))
    both.compare()


@DISPATCHERS
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("flat", [False, True], ids=["plain", "flat"])
@pytest.mark.parametrize("change", ["updateParameters", "reset"])
def test_parameters_that_could_not_be_copied_are_copied_later(
    pair: Callable[..., Pair], change: str, threads: bool, flat: bool, late: bool
) -> None:
    both = pair(threads, flat)
    both.good_step()
    both.trouble.plan(RuntimeError("fault"), "sync", late=late)
    random.manualSeed(7)
    with pytest.raises(RuntimeError, match="fault"):
        getattr(both.table, change)(0.1)
    random.manualSeed(7)
    getattr(both.alone, change)(0.1)
    both.good_step()


# What is left of a pass that failed.


@DISPATCHERS
@pytest.mark.parametrize("phase", ["sync", "distribute", "forward", "concat"])
def test_there_is_no_way_back_through_a_failed_forward(
    pair: Callable[..., Pair], phase: str, threads: bool
) -> None:
    both = pair(threads)
    both.good_step()
    both.table.needsSync = True
    both.trouble.plan(RuntimeError("fault"), phase, 2 if phase == "forward" else 0)
    input, gradOutput = batch(7)
    with pytest.raises(RuntimeError, match="fault"):
        both.table.forward(input)
    with pytest.raises(RuntimeError, match="backward needs a forward pass first"):
        both.table.backward(input, gradOutput)
    both.good_step()


# Devices and threads that go.


@DISPATCHERS
def test_a_device_that_disappears(pair: Callable[..., Pair], threads: bool) -> None:
    both = pair(threads)
    both.good_step()
    input, gradOutput = batch(6)
    both.table.forward(input)
    devices = [cutorch.device(i) for i in range(1, REPLICAS + 1)]
    cutorch.configure(devices[:-1])
    for use in (
        lambda: both.table.backward(input, gradOutput),
        lambda: both.table.forward(input),
        lambda: both.table.exec(lambda module, i: i),
    ):
        with pytest.raises(ValueError, match="3"):
            use()
    cutorch.configure(devices)
    both.good_step()


@DISPATCHERS
@pytest.mark.parametrize("replica", range(1, REPLICAS + 1))
def test_a_device_that_answers_nothing_for_a_while(
    pair: Callable[..., Pair], replica: int, threads: bool
) -> None:
    both = pair(threads)
    both.good_step()
    input, gradOutput = batch(6)
    for phase in ("forward", "backward", "forward", "backward"):
        if phase == "backward":
            both.table.forward(input)
        both.trouble.plan(RuntimeError("CUDA error: no device"), phase, replica)
        with pytest.raises(RuntimeError, match=f"replica {replica} .*no device"):
            both.table.forward(input)
            both.table.backward(input, gradOutput)
    # It is given up: the container is opened anew without it.
    both.table.close()
    both.table.gpuAssignments = [i for i in (1, 2, 3) if i != replica]
    same = both.alone.clone()
    assert_same(both.table.forward(input), same.forward(input))


@pytest.mark.parametrize("replica", range(1, REPLICAS + 1))
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_is_ended_from_outside(pair: Callable[..., Pair], replica: int) -> None:
    both = pair(True)
    both.good_step()
    [thread] = [t for t in threading.enumerate() if t.name == f"dptable-replica-{replica}"]
    # It ends when it wakes, which is when it gets its next job.
    raised = ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
    )
    assert raised == 1
    start = time.monotonic()
    with pytest.raises((RuntimeError, SystemExit)):
        both.table.forward(batch(6)[0])
    assert time.monotonic() - start < 20
    both.good_step()


# All of it, at random.


def torment(pair: Pair, steps: int, seed: int) -> int:
    """Random passes with random faults; returns how many faults struck."""
    luck = chance.Random(seed)
    struck = 0
    for _ in range(steps):
        input, gradOutput = batch(luck.randint(1, 9))
        if luck.random() < 0.5:
            phase = luck.choice(PHASES)
            replica = luck.randint(1, REPLICAS) if phase in INSIDE else 0
            pair.trouble.plan(luck.choice(ERRORS), phase, replica, luck.random() < 0.5)
        backward = False
        try:
            if luck.random() < 0.3:
                pair.table.zeroGradParameters()
                pair.alone.zeroGradParameters()
            output = pair.table.forward(input)
            assert_same(output, pair.alone.forward(input))
            backward = pair.table.gradOutputGpu == []
            if luck.random() < 0.7:
                gradInput = pair.table.backward(input, gradOutput)
            else:
                gradInput = pair.table.updateGradInput(input, gradOutput)
                pair.table.accGradParameters(input, gradOutput)
            assert_same(gradInput, pair.alone.backward(input, gradOutput))
        except BaseException as error:
            if type(error) not in map(type, ERRORS):
                raise
            struck += 1
            if backward and not any(g.any() for g in pair.table.parameters()[1]):
                # It had begun to add to the gradients.
                pair.alone.zeroGradParameters()
        pair.trouble.none()
        pair.compare()
        if luck.random() < 0.2:
            if luck.random() < 0.3:
                pair.trouble.plan(luck.choice(ERRORS), "sync", late=luck.random() < 0.5)
            with suppress(*map(type, ERRORS)):
                pair.table.updateParameters(0.01)
            pair.trouble.none()
            pair.alone.updateParameters(0.01)
        if luck.random() < 0.01:
            pair.table.close()
            pair.number()
    pair.good_step()
    return struck


WAYS = list(product((False, True), (False, True), (False, True)))


@pytest.mark.parametrize(("threads", "flat", "overlap"), WAYS)
def test_random_faults(pair: Callable[..., Pair], threads: bool, flat: bool, overlap: bool) -> None:
    assert torment(pair(threads, flat, overlap), 60, 1) > 10


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_steps_of_random_faults(pair: Callable[..., Pair]) -> None:
    before = threading.active_count()
    struck = 0
    for seed, way in enumerate(WAYS):
        both = pair(*way)
        struck += torment(both, 10_000 // len(WAYS), seed)
        both.table.close()
        assert threading.active_count() == before
    assert struck > 3000
