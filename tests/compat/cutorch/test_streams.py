"""Streams under Torch7's numbers, on simulated devices: without the wait there would be a race."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from compat import cutorch


@pytest.fixture(autouse=True)
def two_devices(simulated: None) -> Iterator[None]:
    cutorch.configure(["sim:0", "sim:1"])
    cutorch.setDevice(1)  # an earlier test may have changed PyTorch's own
    cutorch.reserveStreams(2)
    yield
    cutorch.setDefaultStream()


def test_setStream_goes_for_all_devices() -> None:
    before = [torch.accelerator.current_stream(torch.device("sim", i)) for i in range(2)]
    cutorch.setStream(1)
    first = [torch.accelerator.current_stream(torch.device("sim", i)) for i in range(2)]
    cutorch.setDefaultStream()
    after = [torch.accelerator.current_stream(torch.device("sim", i)) for i in range(2)]
    assert before == after
    assert all(a != b for a, b in zip(before, first, strict=True))


@pytest.mark.parametrize(
    "wait",
    [
        lambda: cutorch.streamWaitFor(2, [1]),
        lambda: cutorch.streamWaitForMultiDevice(1, 2, {1: [0, 1], 2: [1]}),
        lambda: cutorch.streamBarrier([1, 2]),
        lambda: cutorch.streamBarrierMultiDevice({2: [0], 1: [2, 1]}),
        lambda: cutorch.streamSynchronize(1),
    ],
)
def test_a_stream_that_waits_reads_what_the_other_wrote(wait: Callable[[], None]) -> None:
    x = torch.zeros(3, device="sim:0")
    cutorch.streamWaitFor(1, [0])
    cutorch.setStream(1)
    x.add_(1)
    wait()
    cutorch.setStream(2)
    assert (2 * x).tolist() == [2, 2, 2]


def test_a_barrier_waits_both_ways() -> None:
    x, y = torch.zeros(3, device="sim:0"), torch.zeros(3, device="sim:0")
    cutorch.streamBarrier([0, 1, 2])
    for stream, tensor in ((1, x), (2, y)):
        cutorch.setStream(stream)
        tensor.add_(stream)
    cutorch.streamBarrier([1, 2])
    for stream, tensor in ((1, y), (2, x)):
        cutorch.setStream(stream)
        tensor.add_(1)
    cutorch.streamWaitFor(2, [1])
    assert torch.stack([x, y]).tolist() == [[2, 2, 2], [3, 3, 3]]
