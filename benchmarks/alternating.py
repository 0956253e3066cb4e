"""Timing things against each other: in one run, in turn, as medians of ratios with their spread.

Absolute times mean little on a shared machine; what two contenders took right after each other
compares.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping

import torch

from compat import accelerators

# Seconds of three calls up to which a turn has ten.
_SHORT = 0.15


def seconds(
    function: Callable[[], object],
    devices: Iterable[torch.device] = (),
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """How long a call takes, the work that it leaves to ``devices`` included."""
    used = set(devices)
    for device in used:
        accelerators.synchronize(device)
    start = clock()
    function()
    for device in used:
        accelerators.synchronize(device)
    return clock() - start


def alternate(
    contenders: Mapping[str, Callable[[], float]], budget: float = 10, rounds: int = 200
) -> dict[str, list[float]]:
    """The times of each contender, which returns its own in seconds, round after round.

    A contender's turn is ten calls, or three if ten take too long, whose median counts: the first
    ones pay for what the contender before left in caches and memory, which nobody does who runs
    just one of them. Two turns warm up. The order turns round every round. Stops after ``rounds``
    or when ``budget`` seconds are spent, but not before five; without any budget, which is to see
    that it runs, after two.
    """
    names = list(contenders)
    for name in names * 2:
        _turn(contenders[name])
    times: dict[str, list[float]] = {name: [] for name in names}
    end = time.perf_counter() + budget
    for i in range(rounds):
        for name in names if i % 2 == 0 else reversed(names):
            times[name].append(_turn(contenders[name]))
        if i >= (4 if budget else 1) and time.perf_counter() > end:
            break
    return times


def _turn(contender: Callable[[], float]) -> float:
    times = [contender() for _ in range(3)]
    if sum(times) < _SHORT:
        times += [contender() for _ in range(7)]
    return statistics.median(times)


def ratio(times: Mapping[str, list[float]], name: str, base: str) -> tuple[float, float, float]:
    """Median and quartiles of ``name``'s time over ``base``'s in the same round."""
    ratios = [a / b for a, b in zip(times[name], times[base], strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4)
    return median, low, high


def row(title: str, times: Mapping[str, list[float]], name: str, base: str) -> str:
    """A line of a table: both medians in ms, the ratio and its quartiles."""
    median, low, high = ratio(times, name, base)
    ours, theirs = (1e3 * statistics.median(times[n]) for n in (name, base))
    return f"{title:32} {ours:10.3f} {theirs:10.3f} {median:7.2f}  {low:.2f}..{high:.2f}"


def header(title: str, name: str, base: str) -> str:
    return f"{title:32} {name[:7] + ' ms':>10} {base[:7] + ' ms':>10} {'ratio':>7}  quartiles"
