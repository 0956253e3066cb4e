"""Times of what a device does, known when it is through."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from support.pretended_streams import Streams

from compat import accelerators, cutorch, nn
from dptable import DataParallelTable
from dptable.container import timed_steps as phases
from dptable.container.stopwatch import Stopwatch


def test_a_cpu_is_through_when_the_block_is() -> None:
    watch = Stopwatch(torch.device("cpu"))
    with watch:
        time.sleep(0.02)
    assert 0.02 <= (watch.seconds() or 0) < 1


class Passed:
    """An event that the GPU passes when the test says so."""

    passed = False

    def __init__(self, device: torch.device, timed: bool) -> None:
        assert timed

    def record(self, stream: Any) -> None:
        self.stream = stream

    def query(self) -> bool:
        return self.passed

    def elapsed_time(self, end: Passed) -> float:
        assert end.passed and end.stream is self.stream
        return 250.0


def test_the_time_of_a_gpu_is_known_when_it_is_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streams = Streams(monkeypatch)
    monkeypatch.setattr(accelerators, "event", Passed)
    watch = Stopwatch(torch.device("cuda", 0))
    with streams.within(streams.stream("own")), watch:
        pass
    assert watch.seconds() is None
    monkeypatch.setattr(Passed, "passed", True)
    assert watch.seconds() == 0.25


class Late(Stopwatch):
    """One that knows its time later; device 2 is three times as slow."""

    made: list[Late] = []
    through = 0

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.number = len(self.made)
        self.made.append(self)

    def seconds(self) -> float | None:
        slowness = 3.0 if self.number % 2 else 1.0
        return slowness if self.number < Late.through else None


@pytest.mark.parametrize("threads", [False, True], ids=["basic", "threads"])
def test_measured_shares_take_in_times_that_come_late(
    threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phases, "Stopwatch", Late)
    monkeypatch.setattr(Late, "made", [])
    monkeypatch.setattr(Late, "through", 0)
    cutorch.configure(["cpu"] * 2)
    table = DataParallelTable(1).add(nn.Linear(3, 2), [1, 2], shares="auto")
    if threads:
        table.threads()
    input, gradOutput = torch.randn(18, 3), torch.randn(18, 2)
    table.forward(input)
    table.backward(input, gradOutput)
    assert [len(part) for part in table.inputGpu] == [9, 9]
    Late.through = 3  # one of the replicas has not come back yet
    table.forward(input)
    table.forward(input)
    # What is known of the forward before has been taken in: 9 rows in 1 and in 3 seconds.
    assert [len(part) for part in table.inputGpu] == [13, 5]
    table.close()
