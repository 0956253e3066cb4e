"""Filling 10 million numbers: Torch7's generator against PyTorch's own, on one core.

    python benchmarks/random_fill.py [--size N] [--rounds N]

Both sides fill the same preallocated tensor, in turn.  The ratio is compat.random's time over
PyTorch's; uniform should stay under 2, normal under 10.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

import compat.random as rng

Fill = Callable[[torch.Tensor], object]

FILLS: dict[str, tuple[Fill, Fill]] = {
    "uniform": (lambda t: rng.uniform_(t), lambda t: t.uniform_()),
    "normal": (lambda t: rng.normal_(t), lambda t: t.normal_()),
    "bernoulli": (lambda t: rng.bernoulli_(t, 0.3), lambda t: t.bernoulli_(0.3)),
    "random": (lambda t: rng.random_(t, 1, 6), lambda t: t.random_(1, 7)),
    "exponential": (lambda t: rng.exponential_(t, 1), lambda t: t.exponential_(1)),
    "geometric": (lambda t: rng.geometric_(t, 0.3), lambda t: t.geometric_(0.3)),
    "cauchy": (lambda t: rng.cauchy_(t), lambda t: t.cauchy_()),
    "logNormal": (lambda t: rng.logNormal_(t), lambda t: t.log_normal_()),
}


def seconds(fill: Fill, tensor: torch.Tensor) -> float:
    start = time.perf_counter()
    fill(tensor)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Torch7's random fills against PyTorch's.")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'fill':12} {'dtype':8} {'Torch7 ms':>10} {'torch ms':>10} {'ratio':>7} {'spread':>13}")
    for name, (ours, theirs) in FILLS.items():
        for dtype in (torch.float32, torch.float64):
            tensor = torch.empty(options.size, dtype=dtype)
            seconds(ours, tensor), seconds(theirs, tensor)
            pairs = [
                (seconds(ours, tensor), seconds(theirs, tensor)) for _ in range(options.rounds)
            ]
            ratios = [mine / other for mine, other in pairs]
            mine, other = (1e3 * statistics.median(times) for times in zip(*pairs, strict=True))
            spread = f"{min(ratios):.2f}..{max(ratios):.2f}"
            print(
                f"{name:12} {str(dtype).removeprefix('torch.'):8} {mine:10.1f} {other:10.1f} "
                f"{statistics.median(ratios):7.2f} {spread:>13}"
            )


if __name__ == "__main__":
    main()
