"""The bucketed reduce-scatter against plain sums, in worlds of 1 to 4 processes."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
import torch.distributed as dist
from support.processes import together
from torch import Tensor

from dptable.reduce_scatter import ReduceScatterBucketer, reduce_scatter

WORLDS = [1, 2, 3, 4]
# 64 KiB hold 16384 floats in all, whatever the number of processes.
CAP = 1 / 16
FLOATS = 16384


def inputs(rank: int, size: int, *shape: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """What a rank gives: whole numbers, so that every order of summing is exact."""
    generator = torch.Generator().manual_seed(rank)
    return [torch.randint(-50, 50, shape, generator=generator).to(dtype) for _ in range(size)]


def expected(rank: int, size: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return sum(inputs(r, size, *shape, dtype=dtype)[rank] for r in range(size))  # type: ignore


class Calls:
    """Callbacks that take down what they were given, under a name."""

    def __init__(self) -> None:
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.names: list[str] = []
        self.results: dict[str, Tensor] = {}

    def named(self, name: str):
        def callback(result: Tensor) -> None:
            self.names.append(name)
            self.results[name] = result

        return callback

    def check(self, name: str, *shape: int, dtype: torch.dtype = torch.float32) -> None:
        want = expected(self.rank, self.size, *shape, dtype=dtype)
        assert torch.equal(self.results[name], want), name

    def give(self, bucketer: ReduceScatterBucketer, name: str, *shape: int, **kind) -> None:
        given = inputs(self.rank, self.size, *shape, **kind)
        bucketer.reduce_scatter_async(given, dist.group.WORLD, self.named(name))


def plain() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    for dtype in (torch.float32, torch.float64, torch.float16, torch.int64, torch.int32):
        given = inputs(rank, size, 3, 5, dtype=dtype)
        output = torch.empty(3, 5, dtype=dtype)
        reduce_scatter(output, torch.stack(given), dist.group.WORLD)
        assert torch.equal(output, expected(rank, size, 3, 5, dtype=dtype)), dtype
        theirs = torch.empty(3, 5, dtype=dtype)
        try:
            dist.reduce_scatter(theirs, given)
        except RuntimeError as error:  # gloo of older PyTorch
            assert "does not support reduce_scatter" in str(error)
        else:
            assert torch.equal(output, theirs), dtype
    transposed = torch.stack(inputs(rank, size, 5, 3)).transpose(1, 2)
    reduce_scatter(output := torch.empty(3, 5), transposed)
    assert torch.equal(output, expected(rank, size, 5, 3).t())


def large_at_once() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    calls.give(bucketer, "small", 7)
    assert not calls.names
    calls.give(bucketer, "large", FLOATS // calls.size + 1)
    assert calls.names == ["large"]
    calls.give(bucketer, "smaller", 2, 3)
    bucketer.flush()
    assert calls.names == ["large", "small", "smaller"]
    calls.check("large", FLOATS // calls.size + 1)
    calls.check("small", 7)
    calls.check("smaller", 2, 3)
    bucketer.flush()
    assert len(calls.names) == 3


def full_buckets() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    third = FLOATS // calls.size // 3
    for i in range(5):
        calls.give(bucketer, str(i), third)
        # A bucket takes three; the one that finds no room sends them off.
        assert calls.names == ["0", "1", "2"][: 3 * (i >= 3)]
    # What was handed out stays as it was when the bucket is used again.
    bucketer.flush()
    assert calls.names == ["0", "1", "2", "3", "4"]
    for name in calls.names:
        calls.check(name, third)
    exact = FLOATS // calls.size
    calls.give(bucketer, "exact", exact)
    assert calls.names[-1] == "4"
    bucketer.flush()
    calls.check("exact", exact)


def kinds() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    other = dist.new_group(range(calls.size))
    calls.give(bucketer, "float", 4)
    calls.give(bucketer, "double", 4, dtype=torch.float64)
    bucketer.reduce_scatter_async(
        inputs(calls.rank, calls.size, 4), other, calls.named("other group")
    )
    assert [key[0] for key in bucketer.buckets] == [torch.float32, torch.float64, torch.float32]
    rows = [b.data.size(1) * b.data.element_size() * calls.size for b in bucketer.buckets.values()]
    assert all(abs(row - CAP * 2**20) < 8 * calls.size for row in rows)
    bucketer.flush()
    assert calls.names == ["float", "double", "other group"]
    calls.check("double", 4, dtype=torch.float64)
    calls.check("other group", 4)


def buffers() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    calls.give(bucketer, "before", 9)
    with pytest.raises(RuntimeError, match="not reduced yet"):
        bucketer.teardown()
    bucketer.flush()
    kept = calls.results["before"].clone()
    bucketer.teardown()
    for bucket in bucketer.buckets.values():
        assert bucket.data.untyped_storage().size() == 0
        assert bucket.output_shard.untyped_storage().size() == 0
    bucketer.teardown()
    assert torch.equal(calls.results["before"], kept)
    calls.give(bucketer, "after", 9)
    bucketer.flush()
    calls.check("after", 9)
    calls.check("before", 9)


def disabled(cap: float) -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(cap)
    calls.give(bucketer, "one", 1)
    calls.give(bucketer, "none", 0)
    assert calls.names == ["one", "none"]
    assert not bucketer.buckets
    calls.check("one", 1)


def empty_and_silent() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    calls.give(bucketer, "empty", 0)
    bucketer.flush()
    assert calls.names == ["empty"]
    bucketer.reduce_scatter_async(inputs(calls.rank, calls.size, 3), dist.group.WORLD)
    bucketer.flush()
    assert calls.names == ["empty"]


def failing_callback() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)

    def fail(_: Tensor) -> None:
        raise KeyError("mine")

    bucketer.reduce_scatter_async(inputs(calls.rank, calls.size, 3), dist.group.WORLD, fail)
    with pytest.raises(KeyError, match="mine"):
        bucketer.flush()
    calls.give(bucketer, "next", 3)
    bucketer.flush()
    assert calls.names == ["next"]
    calls.check("next", 3)


def callback_that_fails_in_one_process() -> None:
    """The others know nothing of it: all sums are taken, and all callbacks called."""
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)

    def fail(_: Tensor) -> None:
        calls.names.append("failing")
        if calls.rank == 0:
            raise KeyError("mine")

    bucketer.reduce_scatter_async(inputs(calls.rank, calls.size, 3), dist.group.WORLD, fail)
    calls.give(bucketer, "behind it", 3)
    calls.give(bucketer, "in another bucket", 3, dtype=torch.float64)
    with pytest.raises(KeyError) if calls.rank == 0 else nullcontext():
        bucketer.flush()
    assert calls.names == ["failing", "behind it", "in another bucket"]
    calls.check("behind it", 3)
    calls.check("in another bucket", 3, dtype=torch.float64)
    bucketer.flush()
    bucketer.teardown()
    assert len(calls.names) == 3


def callback_that_gives_more() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)

    def more(_: Tensor) -> None:
        calls.give(bucketer, "more", 2)
        calls.give(bucketer, "of another kind", 2, dtype=torch.float64)

    bucketer.reduce_scatter_async(inputs(calls.rank, calls.size, 3), dist.group.WORLD, more)
    bucketer.flush()
    bucketer.flush()
    assert calls.names == ["more", "of another kind"]


def refused() -> None:
    calls, bucketer = Calls(), ReduceScatterBucketer(CAP)
    group = dist.group.WORLD
    good = inputs(calls.rank, calls.size, 3)
    with pytest.raises(ValueError, match=f"has {calls.size + 1} tensors; one for each of the"):
        bucketer.reduce_scatter_async([*good, good[0]], group)
    if calls.size > 1:
        with pytest.raises(ValueError, match=r"input_list\[1\]"):
            bucketer.reduce_scatter_async([good[0], torch.zeros(4), *good[2:]], group)
        with pytest.raises(ValueError, match=r"input_list\[1\]"):
            bucketer.reduce_scatter_async([good[0], good[1].double(), *good[2:]], group)
    with pytest.raises(TypeError, match=r"input_list\[0\]"):
        bucketer.reduce_scatter_async([1] * calls.size, group)  # type: ignore
    assert not bucketer.buckets


def everything() -> None:
    """All in one set of processes, which are what costs time."""
    for check in (
        *(plain, large_at_once, full_buckets, kinds, buffers),
        *(empty_and_silent, failing_callback, refused),
        *(callback_that_fails_in_one_process, callback_that_gives_more),
    ):
        check()
    disabled(0)
    disabled(-1)


@pytest.mark.parametrize("size", WORLDS)
def test_sums_buckets_and_callbacks(size):
    together(everything, size)
