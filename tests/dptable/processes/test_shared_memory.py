"""Sums through the memory that the processes of one machine share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.processes import started, together
from torch import Tensor

from compat import nn, random
from dptable import DataParallelTable
from dptable.processes import shared_memory
from dptable.processes.exchange import AllReduce
from dptable.processes.shared_memory import SharedMemory

pytestmark = pytest.mark.skipif(
    not os.path.isdir(shared_memory._DIRECTORY), reason="this system has no files in memory"
)
DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def gradient(rank: int, step: int, count: int, dtype: torch.dtype) -> Tensor:
    """Whole numbers, whose sums are exact in any order."""
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randint(-9, 10, (count,), generator=generator).to(dtype)


def sums(piece: int, counts: list[int]) -> list[list[Tensor]]:
    """Several passes of several parts each, whose sums are awaited at the end of the pass."""
    shared_memory._PIECE, shared_memory._SMALL = piece, 8
    exchange, rank = SharedMemory(dist.group.WORLD), dist.get_rank()
    found = []
    for step in range(5):
        parts = [gradient(rank, step, n, DTYPES[i % 3]) for i, n in enumerate(counts)]
        for finish in [exchange.start(part) for part in parts]:
            finish()
        found.append(parts)
    assert exchange._memory is not None
    return found


@pytest.mark.parametrize("size, piece", [(2, 1 << 12), (3, 64), (4, 1 << 12)])
def test_parts_are_summed_whole_and_in_pieces(size, piece):
    counts = [1, 2, 1000, 7, 37, 5000, 64]
    expected = [
        [
            sum(gradient(r, step, n, DTYPES[i % 3]) for r in range(size))
            for i, n in enumerate(counts)
        ]
        for step in range(5)
    ]
    for found in together(sums, size, piece, counts):
        for step, parts in enumerate(found):
            for part, total in zip(parts, expected[step], strict=True):
                assert torch.equal(part, total)


def of_any_strides() -> Tensor:
    shared_memory._SMALL = 0
    part = torch.arange(12.0).view(3, 4).t()
    SharedMemory(dist.group.WORLD).start(part)()
    return part


def test_a_part_of_any_strides_is_summed_in_place():
    for part in together(of_any_strides, 2):
        assert torch.equal(part, 2 * torch.arange(12.0).view(3, 4).t())


def without(where: str) -> tuple[bool, Tensor]:
    shared_memory._SMALL = 0
    if dist.get_rank() == (where == "another rank"):
        patch = pytest.MonkeyPatch()  # until this process ends
        patch.setattr(shared_memory, "_made", _refused)
        patch.setattr(torch, "from_file", _refused)
    exchange = SharedMemory(dist.group.WORLD)
    part = torch.ones(100)
    exchange.start(part)()
    return exchange._memory is None, part


def _refused(*_: Any, **__: Any) -> Any:
    raise OSError("no space left")


@pytest.mark.parametrize("where", ["rank 0", "another rank"])
def test_without_the_memory_the_backend_sums(where):
    before = set(Path(shared_memory._DIRECTORY).glob("dptable-*"))
    for without_memory, part in together(without, 3, where):
        assert without_memory
        assert torch.equal(part, torch.full((100,), 3.0))
    assert set(Path(shared_memory._DIRECTORY).glob("dptable-*")) <= before


def trained(shared: bool, unequal: bool) -> tuple[Tensor, bool]:
    """Return the parameters after some steps of a net of 100 KB; whether memory was shared."""
    random.manualSeed(1)
    rank = dist.get_rank()
    net = nn.Sequential().add(nn.Linear(40, 500)).add(nn.Tanh()).add(nn.Linear(500, 10)).float()
    model = DataParallelTable(1, True).add(net, ["cpu"])
    model.gradInput = None
    model.distribute(**({} if shared else {"exchange": AllReduce}))
    generator = torch.Generator().manual_seed(rank)
    parameters, gradients = model.getParameters()
    for step in range(6):
        input = torch.randn(1 + (rank + step) % 3 if unequal else 2, 40, generator=generator)
        model.zeroGradParameters()
        model.backward(input, model.forward(input) / len(input))
        parameters -= 0.1 * gradients
    used = getattr(model.group.exchange, "_memory", None) is not None
    model.close_group()
    return parameters, used


@pytest.mark.parametrize("unequal", [False, True])
def test_a_container_of_two_processes_trains_to_the_bit_as_with_all_reduce(unequal):
    shared, plain = (together(trained, 2, way, unequal) for way in (True, False))
    for (ours, used), (theirs, not_used) in zip(shared, plain, strict=True):
        assert used
        assert not not_used
        assert torch.equal(ours, theirs)


def meeting() -> None:
    shared_memory._SMALL = 0
    exchange, part = SharedMemory(dist.group.WORLD), torch.ones(100)
    exchange.start(part)()
    if dist.get_rank() == 1:
        os._exit(3)
    exchange.start(part)()


def test_a_process_that_is_gone_ends_the_wait():
    with started(meeting, 2, timeout=5) as processes:
        assert processes.receive(0).kind in ("RuntimeError", "DistBackendError")


def opening() -> None:
    if dist.get_rank() == 1:
        os._exit(3)
    SharedMemory(dist.group.WORLD).start(torch.ones(shared_memory._SMALL))()


def test_a_process_that_is_gone_before_the_first_sum_leaves_no_file():
    before = set(Path(shared_memory._DIRECTORY).glob("dptable-*"))
    with started(opening, 2, timeout=5) as processes:
        assert processes.receive(0).kind in ("RuntimeError", "DistBackendError")
    assert set(Path(shared_memory._DIRECTORY).glob("dptable-*")) <= before


def test_half_of_the_free_memory_is_left_to_others() -> None:
    free = os.statvfs(shared_memory._DIRECTORY)
    before = set(Path(shared_memory._DIRECTORY).glob("dptable-*"))
    with pytest.raises(OSError, match="too little room"):
        shared_memory._made(free.f_bavail * free.f_frsize * 3 // 4)
    assert set(Path(shared_memory._DIRECTORY).glob("dptable-*")) <= before
