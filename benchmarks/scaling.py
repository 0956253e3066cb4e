"""What a step costs on several processes: a model, fitted here, checked here, and extended.

    python benchmarks/scaling.py [--rounds N]

The model of a step (docs/scaling.md explains it):

    compute       C = c0 + c1 rows, while the cores' other halves compute too
    local sum     L = bytes (replicas - 1) / local bandwidth
    all-reduce    A = (alpha (n - 1) + delta max(0, n - cores)) buckets + beta (n - 1) bytes
    pass          T = C max(1, n / cores) + share A, with another share for sharded ones

On one machine all processes share the loopback and the cores: hence (n - 1) bytes where a network
has 2 (n - 1) / n, a wait for a turn on a core, and a share of A that is exposed which a fit tells.
Between machines the overlap is simulated, bucket by bucket.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from processes import Processes

from compat import cutorch, nn
from dptable import DataParallelTable, comm, models
from dptable.processes import heartbeat
from dptable.processes.exchange import AllReduce
from dptable.sharding import ShardedParameters

MiB = 1 << 20
CORES = len(os.sched_getaffinity(0))
# Net, its image, further arguments.
NETS: dict[str, tuple[str, tuple[int, int, int], dict[str, Any]]] = {
    "LeNet": ("lenet", (1, 28, 28), {}),
    "MLP": ("mlp", (3, 32, 32), {"hidden": (512,) * 5}),
}
WORLDS = [2, 3, 4]


# Measuring.


@dataclass(frozen=True)
class Sum:
    """An all-reduce of so many bytes in so many buckets, on n processes."""

    n: int
    size: int
    buckets: int


@dataclass(frozen=True)
class Pass:
    """Forward and backward of so many rows in each of n processes; at 0 MiB without sums."""

    n: int
    net: str
    rows: int
    bucket_mb: float = 25
    sharded: bool = False


class Rank:
    """One process of a group: answers how many ms something takes."""

    def __init__(self) -> None:
        cutorch.configure(["cpu"])
        heartbeat.INTERVAL = 10
        self._flat = torch.ones(16 * MiB // 4)
        self._tables: dict[tuple[str, float, bool], tuple[DataParallelTable, Any]] = {}

    def __call__(self, question: Sum | Pass | str) -> Any:
        if isinstance(question, str):
            return self._forms()
        run = self._sum(question) if isinstance(question, Sum) else self._pass(question)
        dist.barrier()
        start = time.perf_counter()
        run()
        return 1e3 * (time.perf_counter() - start)

    def _sum(self, what: Sum) -> Callable[[], Any]:
        parts = self._flat[: what.size // 4].chunk(what.buckets)

        def run() -> None:
            for work in [dist.all_reduce(part, async_op=True) for part in parts]:
                work.wait()

        return run

    def _pass(self, what: Pass) -> Callable[[], Any]:
        key = (what.net, what.bucket_mb, what.sharded)
        if key not in self._tables:
            self._tables[key] = self._made(*key)
        table, sharded = self._tables[key]
        input, criterion = torch.randn(what.rows, *NETS[what.net][1]), nn.CrossEntropyCriterion()
        target = torch.randint(1, 11, (what.rows,))

        def run() -> None:
            table.zeroGradParameters()
            with nullcontext() if what.bucket_mb else table.no_sync():
                criterion.forward(table.forward(input), target)
                table.backward(input, criterion.backward(table.output, target))
            if sharded is not None:
                sharded.gather()

        return run

    def _made(self, net: str, bucket_mb: float, sharded: bool) -> tuple[DataParallelTable, Any]:
        name, shape, more = NETS[net]
        table = DataParallelTable(1, True).add(getattr(models, name)(10, *shape, **more), ["cpu"])
        shards = ShardedParameters(table) if sharded else None
        if shards is None:
            # As between machines: the model is one of messages.
            table.distribute(bucket_cap_mb=bucket_mb or 25, exchange=AllReduce)
        table.gradInput = None
        return table, shards

    def _forms(self) -> dict[tuple[str, float, bool], tuple[int, int]]:
        """The bytes of each net's gradients, and into how many buckets they were put."""
        return {
            key: (4 * sum(p.numel() for p in table.parameters()[0]), len(reducer.buckets))
            for key, (table, _) in self._tables.items()
            if (reducer := table._gradients.reducer) is not None
        }


def measure(questions: Sequence[Sum | Pass], rounds: int) -> tuple[list[float], Any]:
    """The median time of each, of the slowest process, and the nets' forms.

    They take turns, so that what else the machine does meets all alike.
    """
    groups = {n: Processes(n, Rank) for n in WORLDS}
    times: list[list[float]] = [[] for _ in questions]
    try:
        for i in range(rounds + 1):
            for question, found in zip(questions, times, strict=True):
                ms = max(groups[question.n](question))
                if i:
                    found.append(ms)
        return [statistics.median(found) for found in times], groups[WORLDS[0]]("forms")[0]
    finally:
        for group in groups.values():
            group.close()


def local_sum_ms(size: int, replicas: int, rounds: int) -> float:
    copies = [torch.ones(size // 4) for _ in range(replicas)]
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        comm.reduce_into_(copies, zero=True)
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[1:])


# Fitting.


def fit(rows: Sequence[Sequence[float]], measured: Sequence[float]) -> np.ndarray:
    """Factors, none negative, of the least sum of squared relative errors."""
    matrix, target = np.array(rows, dtype=float), np.array(measured, dtype=float)
    weighted = matrix / target[:, None]
    left = list(range(matrix.shape[1]))
    factors = np.zeros(matrix.shape[1])
    while left:
        found = np.linalg.lstsq(weighted[:, left], np.ones(len(target)), rcond=None)[0]
        if (found >= 0).all():
            factors[left] = found
            break
        left = [column for column, value in zip(left, found, strict=True) if value > 0]
    return factors


class Comparison:
    """Prints predictions beside measurements, and at the end how far they were off."""

    def __init__(self, title: str) -> None:
        self._errors: list[float] = []
        print(f"\n{title:44} measured  predicted     error")

    def add(self, what: str, measured: float, predicted: float) -> None:
        error = predicted / measured - 1
        self._errors.append(abs(error))
        print(f"{what:44} {measured:8.2f}  {predicted:9.2f}  {100 * error:+7.0f} %", flush=True)

    def close(self) -> None:
        worst = max(self._errors)
        print(f"{'median and largest error':44} {'':20}", end="")
        print(f"{100 * statistics.median(self._errors):6.0f} % {100 * worst:4.0f} %", flush=True)


@dataclass
class Here:
    """The model of this machine; times in ms."""

    message: np.ndarray
    compute: dict[str, tuple[float, float]]
    # Exposed of an all-reduce, and of what sharding does instead.
    share: dict[bool, float] = field(default_factory=dict)

    def all_reduce(self, n: int, size: float, buckets: int) -> float:
        return float(_message(n, size, buckets) @ self.message)

    def computing(self, what: Pass) -> float:
        c0, c1 = self.compute[what.net]
        return (c0 + c1 * what.rows) * max(1, what.n / CORES)


def _message(n: int, size: float, buckets: int) -> np.ndarray:
    return np.array([(n - 1) * buckets, max(0, n - CORES) * buckets, (n - 1) * size / MiB])


def measure_and_fit(rounds: int) -> None:
    """Fits the model to some of what is measured, and checks it with the rest."""
    fitted_sums = [
        Sum(n, size, buckets)
        for n in (2, 4)
        for size, buckets in [(4 << 10, 1), (MiB, 1), (4 * MiB, 1), (16 * MiB, 1), (4 * MiB, 4)]
    ]
    other_sums = [Sum(n, size, 1) for n in (2, 4) for size in (64 << 10, 8 * MiB)]
    other_sums += [Sum(n, 16 * MiB, 4) for n in (2, 4)]
    other_sums += [
        Sum(3, size, buckets) for size, buckets in [(4 << 10, 1), (MiB, 1), (8 * MiB, 2)]
    ]
    alone = [Pass(CORES, net, rows, 0) for net in NETS for rows in (4, 32)]
    fitted = [Pass(n, net, rows) for n in (2, 4) for net in NETS for rows in (4, 32)]
    fitted += [Pass(n, net, 32, 25, True) for n in (2, 4) for net in NETS]
    others = [Pass(n, net, 16) for n in WORLDS for net in NETS]
    others += [Pass(3, net, 32) for net in NETS]
    others += [Pass(n, net, 32, 1) for n in WORLDS for net in NETS]
    others += [Pass(n, net, 16, 25, True) for n in WORLDS for net in NETS]
    asked = [*fitted_sums, *other_sums, *alone, *fitted, *others]
    found, forms = measure(asked, rounds)
    times = dict(zip(asked, found, strict=True))

    columns = [_message(one.n, one.size, one.buckets) for one in fitted_sums]
    here = Here(fit(columns, [times[one] for one in fitted_sums]), {})
    for net in NETS:
        own = [one for one in alone if one.net == net]
        c0, c1 = fit([(1, one.rows) for one in own], [times[one] for one in own])
        here.compute[net] = (c0, c1)

    def sums_of(one: Pass) -> float:
        return here.all_reduce(one.n, *forms[one.net, one.bucket_mb, one.sharded])

    for sharded in (False, True):
        own = [one for one in fitted if one.sharded == sharded]
        sums = np.array([sums_of(one) / times[one] for one in own])
        rest = np.array([1 - here.computing(one) / times[one] for one in own])
        here.share[sharded] = max(0.0, float(sums @ rest / (sums @ sums)))

    table = Comparison("all-reduce, ms (not fitted)")
    for one in other_sums:
        what = f"{one.n} processes, {one.size / MiB:.2f} MiB in {one.buckets}"
        table.add(what, times[one], here.all_reduce(one.n, one.size, one.buckets))
    table.close()
    for sharded in (False, True):
        table = Comparison(f"{'sharded pass' if sharded else 'pass'}, ms (not fitted)")
        for one in (one for one in others if one.sharded == sharded):
            buckets = forms[one.net, one.bucket_mb, one.sharded][1]
            what = f"{one.net}, {one.n} processes, {one.rows} rows each, {buckets} buckets"
            predicted = here.computing(one) + here.share[sharded] * sums_of(one)
            table.add(what, times[one], predicted)
        table.close()
    alpha, delta, beta = here.message
    print(
        f"\nfitted: alpha {1e3 * alpha:.0f} us, delta {1e3 * delta:.0f} us, 1 / beta "
        f"{MiB / 1e6 / beta:.2f} GB/s; {here.share[False]:.2f} of an all-reduce exposed, or "
        f"{here.share[True]:.2f} if sharded"
    )
    for net, (c0, c1) in here.compute.items():
        size, buckets = forms[net, 25, False]
        print(f"{net}: C = {c0:.2f} + {c1:.3f} rows ms, {size / 1e6:.1f} MB of gradients")
    print(f"\n{'where the time of a pass of 16 rows each goes, ms':44}   compute    exposed sums")
    for one in others:
        if one.rows == 16:
            exposed = here.share[one.sharded] * sums_of(one)
            what = f"{one.net}, {one.n} processes{', sharded' if one.sharded else ''}"
            print(f"{what:44} {here.computing(one):9.2f} {exposed:15.2f}")


def local_sums(rounds: int) -> None:
    # Beyond what caches hold, as the gradients are when backward has just ended.
    sizes = [(64 * MiB, 2), (32 * MiB, 4)]
    times = [local_sum_ms(size, replicas, rounds) for size, replicas in sizes]
    (gamma,) = fit([((replicas - 1) * size / MiB,) for size, replicas in sizes], times)
    table = Comparison("local sum of replicas, ms (not fitted)")
    for size, replicas in [(32 * MiB, 2), (128 * MiB, 2), (64 * MiB, 4)]:
        ms = local_sum_ms(size, replicas, rounds)
        table.add(
            f"{replicas} replicas, {size / MiB:.0f} MiB", ms, gamma * (replicas - 1) * size / MiB
        )
    table.close()
    print(f"local bandwidth {MiB / 1e6 / gamma:.1f} GB/s")


# On paper.


@dataclass(frozen=True)
class Link:
    """Latency of a message in ms, and bytes per ms."""

    alpha: float
    bandwidth: float

    def ring(self, n: int, size: float) -> float:
        """An all-reduce: 2 (n - 1) / n of the bytes; latencies as in a tree beyond 8."""
        if n == 1:
            return 0.0
        hops = 2 * min(n - 1, 2 * math.ceil(math.log2(n)))
        return hops * self.alpha + 2 * (n - 1) / n * size / self.bandwidth

    def rooted(self, n: int, size: float) -> float:
        """A sum onto one, or a copy from one: all bytes once, in a chain of pieces."""
        return (n - 1) * self.alpha + size / self.bandwidth if n > 1 else 0.0


# Assumed: NVLink of 300 GB/s and 10 us; for each GPU 400 Gb/s, of which 40 GB/s, and 20 us.
INSIDE, BETWEEN = Link(0.010, 300e6), Link(0.020, 40e6)
GPUS = 8
# Bytes of gradients, and ms that a GPU computes per step; assumed.
BUCKETS = [2**i for i in range(11)]
PAPER = {"ResNet-50, batch 64 per GPU": (102e6, 50.0), "1e9 parameters": (4e9, 500.0)}


def reduce_ms(machines: int, gpus: int, whole: bool, size: float) -> float:
    """To sum a bucket: ``whole``, a process drives all GPUs of a machine; else one each."""
    if whole:
        return INSIDE.rooted(gpus, size) + BETWEEN.ring(machines, size)
    return INSIDE.ring(gpus, size) + BETWEEN.ring(machines, size / gpus)


def paper_step(
    machines: int, gpus: int, whole: bool, size: float, compute: float, bucket: float, sharded: bool
) -> float:
    """A step: buckets become ready evenly over backward, two thirds of it, and go one by one."""
    count = max(1, round(size / bucket))
    forward, over = compute / 3, compute / 3
    each = reduce_ms(machines, gpus, whole, size / count)
    owners = machines if whole else machines * gpus
    sharded = sharded and owners > 1
    if sharded:
        # Half the bytes during backward, but a bucket is cut where another process's slice begins,
        # and each piece is a reduce of its own; the other half after the step.
        each = each / 2 + (owners - 1) / count * 2 * BETWEEN.alpha
    for i in range(count):
        over = max(over, forward + (compute - forward) * (i + 1) / count) + each
    if sharded:
        over += reduce_ms(machines, gpus, whole, size) / 2
    if whole:
        over += INSIDE.rooted(gpus, size)  # new parameters to the other GPUs
    return over


def paper() -> None:
    layouts = [(1, 1), (1, 8), (2, 8), (16, 8), (128, 8)]
    columns = "  GPUs  a process per   step ms   exposed  of ideal   sharded  best bucket"
    for title, (size, compute) in PAPER.items():
        print(
            f"\n{title}: {size / 1e6:.0f} MB of gradients, {compute:.0f} ms to compute\n{columns}"
        )
        for machines, gpus in layouts:
            for whole in (True, False) if gpus > 1 else (False,):
                place = (machines, gpus, whole, size, compute)
                plain, sharded = (paper_step(*place, 25 * MiB, s) for s in (False, True))
                best, bucket = min((paper_step(*place, b * 1e6, False), b) for b in BUCKETS)
                print(
                    f"{machines * gpus:6}  {'machine' if whole else 'GPU':13}  {plain:8.1f}  "
                    f"{plain - compute:8.1f}  {100 * compute / plain:6.0f} %  {sharded:8.1f}  "
                    f"{bucket} MB: {best:.1f} ms"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description="A cost model of several processes.")
    parser.add_argument("--rounds", type=int, default=30, help="measurements of each point")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {CORES} cores")
    torch.set_num_threads(1)
    measure_and_fit(options.rounds)
    local_sums(options.rounds)
    paper()


if __name__ == "__main__":
    main()
