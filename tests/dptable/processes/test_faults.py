"""A process that dies, hangs or goes astray: the others stop in time and name it."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.processes import Failure, send, started, wait_for_ever

from compat import nn, random
from dptable import DataParallelTable
from dptable.processes import heartbeat
from dptable.sharding import ShardedParameters

TIMEOUT = 2
# What it takes to find out who is to blame, on a slow machine.
GRACE = 25


class Fault(nn.Module):
    """Passes its input on, until ``what`` happens in this process."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def updateOutput(self, input: Any) -> Any:
        self._happen("forward")
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self._happen("backward")
        self.gradInput = gradOutput
        return gradOutput

    def _happen(self, where: str) -> None:
        if self.what == f"fail in {where}":
            raise ValueError(f"mishap in {where}")
        if self.what == f"hang in {where}":
            wait_for_ever()


def training(what: str, culprit: int, shard: bool = False) -> None:
    """Train for ever, but for what happens to one rank in the third step."""
    heartbeat.INTERVAL = 0.25
    random.manualSeed(1)
    fault = Fault("")
    net = nn.Sequential().add(nn.Linear(4, 3)).add(nn.BatchNormalization(3)).add(fault)
    statistics = "synchronised" if "statistics" in what else "first"
    model = DataParallelTable(1, True, statistics=statistics).add(net.add(nn.Linear(3, 2)), ["cpu"])
    if shard:
        ShardedParameters(model)
    else:
        model.distribute()
    # So that backward begins while the ranks still tell each other what they have.
    model.gradInput = None
    input = torch.randn(5, 4)
    mine = dist.get_rank() == culprit
    for step in range(10**6):
        send(step)
        if step == 2 and mine:
            fault.what = what
            if what.startswith("hang between"):
                wait_for_ever()
            if what == "leave":
                model.close_group()
                return
            if what == "change":
                net.add(nn.Linear(2, 2))
            if what == "hang in statistics":
                net.get(2).kernels = SimpleNamespace(batch_norm=lambda *_: wait_for_ever())
                model.statistics = "first"
        model.zeroGradParameters()
        output = model.forward(input)
        model.backward(input, output)


def verdicts(
    what: str, culprit: int, size: int = 3, signals: int | None = None, shard: bool = False
) -> dict[int, str]:
    """Why each of the other ranks ended; all within the timeout and some seconds."""
    with started(training, size, what, culprit, shard, timeout=TIMEOUT) as processes:
        for rank in range(size):
            for step in range(3):
                assert processes.receive(rank) == step
        if signals is not None:
            processes.signal(culprit, signals)
        start, found = time.monotonic(), {}
        for rank in range(size):
            if rank == culprit and "fail" not in what and what != "change":
                continue
            while isinstance(result := processes.receive(rank, GRACE + TIMEOUT), int):
                assert time.monotonic() < start + GRACE + TIMEOUT
            assert isinstance(result, Failure), result
            found[rank] = f"{result.kind}: {result.message}"
        assert time.monotonic() < start + GRACE + TIMEOUT
        return found


@pytest.mark.parametrize("culprit", [0, 1])
def test_a_rank_that_dies_is_named(culprit):
    for message in verdicts("nothing", culprit, signals=signal.SIGKILL).values():
        assert message.startswith(f"RuntimeError: rank {culprit} is gone: ")


def test_a_rank_that_dies_is_named_by_a_sharded_run():
    for message in verdicts("nothing", 2, signals=signal.SIGKILL, shard=True).values():
        assert message.startswith("RuntimeError: rank 2 is gone: ")


def test_a_stopped_rank_is_named():
    for message in verdicts("nothing", 2, signals=signal.SIGSTOP).values():
        assert message.startswith("RuntimeError: rank 2 is gone: ")


@pytest.mark.parametrize(
    "what",
    [
        *("hang between passes", "hang in backward", "hang in statistics"),
        pytest.param("hang in forward", marks=pytest.mark.slow),
    ],
)
def test_a_rank_that_hangs_is_named(what):
    for message in verdicts(what, 1).values():
        assert "rank 1 is late, hanging or taking part in fewer passes: " in message


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_rank_that_fails_is_named_with_its_error(where):
    found = verdicts(f"fail in {where}", 1)
    assert f"mishap in {where}" in found.pop(1)
    for message in found.values():
        assert message.startswith("RuntimeError: rank 1 failed (")
        assert f"mishap in {where}" in message


def test_a_rank_whose_net_changes_its_shape_is_named():
    found = verdicts("change", 1)
    assert all("has other parameters than rank" in message for message in found.values())
    assert "rank 1 has other parameters than rank 0" in found[0]
    assert "rank 1 has other parameters than rank 2" in found[2]


def test_a_rank_that_leaves_is_named():
    for message in verdicts("leave", 1, size=2).values():
        assert message.startswith("RuntimeError: rank 1 is gone: ")


def in_a_group_of_some() -> None:
    """The last two of three processes train; their ranks in the group are not those of the job."""
    group = dist.new_group([1, 2])
    if dist.get_rank() == 0:
        wait_for_ever()
    heartbeat.INTERVAL = 0.25
    model = DataParallelTable(1, True).add(nn.Linear(4, 2 + dist.get_rank()), ["cpu"])
    with pytest.raises(ValueError, match=r"rank 2 has .* where rank 1 has "):
        model.distribute(group)
    model = DataParallelTable(1, True).add(nn.Linear(4, 2), ["cpu"]).distribute(group)
    input = torch.randn(5, 4)
    for step in range(10**6):
        send(step)
        output = model.forward(input)
        model.backward(input, output)


def test_ranks_are_named_as_torchrun_names_them():
    with started(in_a_group_of_some, 3, timeout=TIMEOUT) as processes:
        for step in range(3):
            assert processes.receive(1) == processes.receive(2) == step
        processes.signal(2)
        while isinstance(result := processes.receive(1, GRACE), int):
            pass
        assert result.message.startswith("rank 2 is gone: ")


def recovering() -> list[str]:
    """All ranks fail in the same pass, go on, and then one of them dies."""
    model = DataParallelTable(1, True).add(nn.Linear(4, 2), ["cpu"]).distribute()
    input = torch.randn(5, 4)
    for step in range(10**6):
        send(step)
        if step == 1:
            with pytest.raises(Exception, match="3 features; 4 are accepted"):
                model.forward(torch.randn(5, 3))
        output = model.forward(input)
        model.backward(input, output)
    return []


def test_an_error_that_all_ranks_got_over_is_not_blamed_later():
    with started(recovering, 2, timeout=TIMEOUT) as processes:
        for rank in range(2):
            for step in range(5):
                assert processes.receive(rank) == step
        processes.signal(1)
        while isinstance(result := processes.receive(0, GRACE), int):
            pass
        assert result.message.startswith("rank 1 is gone: ")
