"""Filling 10 million numbers: Torch7's generator against PyTorch's own, on one core.

    python benchmarks/random_fill.py [--size N] [--budget SECONDS]

Both sides fill the same preallocated tensor, in turn. The ratio is compat.random's time over
PyTorch's; uniform should stay under 2, normal under 10.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from alternating import alternate, header, row, seconds

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


def main() -> None:
    parser = argparse.ArgumentParser(description="Torch7's random fills against PyTorch's.")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--budget", type=float, default=3, help="seconds for each comparison")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(header("fill", "Torch7", "torch"))
    for name, fills in FILLS.items():
        for dtype in (torch.float32, torch.float64):
            tensor = torch.empty(options.size, dtype=dtype)
            contenders = {
                side: lambda fill=fill, tensor=tensor: seconds(lambda: fill(tensor))
                for side, fill in zip(("Torch7", "torch"), fills, strict=True)
            }
            title = f"{name}, {str(dtype).removeprefix('torch.')}"
            times = alternate(contenders, options.budget)
            print(row(title, times, "Torch7", "torch"), flush=True)


if __name__ == "__main__":
    main()
