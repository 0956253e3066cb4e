"""The source of a net against the same net written by hand: times of forward and of a step.

    python benchmarks/leaving.py [rounds]

Both run in one process, in turns. A ratio below 1 means that the source is faster.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch import nn as plain

from compat import nn
from compat.nn.source.written import write


def by_hand() -> plain.Module:
    """LeNet as PyTorch users write it."""
    return plain.Sequential(
        plain.Conv2d(1, 6, 5), plain.Tanh(), plain.MaxPool2d(2),
        plain.Conv2d(6, 16, 5), plain.Tanh(), plain.MaxPool2d(2), plain.Flatten(),
        plain.Linear(400, 120), plain.Tanh(), plain.Linear(120, 84), plain.Tanh(),
        plain.Linear(84, 10), plain.LogSoftmax(1),
    )  # fmt: skip


def of_torch7() -> nn.Module:
    """The same net of Torch7's layers."""
    net = nn.Sequential()
    for inputs, outputs in ((1, 6), (6, 16)):
        net.add(nn.SpatialConvolution(inputs, outputs, 5, 5)).add(nn.Tanh())
        net.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    net.add(nn.View(400)).add(nn.Linear(400, 120)).add(nn.Tanh())
    return net.add(nn.Linear(120, 84)).add(nn.Tanh()).add(nn.Linear(84, 10)).add(nn.LogSoftMax())


def forward(net: plain.Module, images: Tensor) -> None:
    with torch.no_grad():
        net(images)


def step(net: plain.Module, images: Tensor) -> None:
    net(images).sum().backward()


def seconds(
    work: Callable[[plain.Module, Tensor], None], net: plain.Module, images: Tensor
) -> float:
    start = time.perf_counter()
    for _ in range(20):
        work(net, images)
    return time.perf_counter() - start


def main(rounds: int) -> None:
    torch.set_num_threads(1)
    written = write(of_torch7().float(), torch.randn(2, 1, 32, 32)).net
    other = by_hand()
    print("batch  work     median ratio  quartiles")
    for batch in (1, 8, 64):
        images = torch.randn(batch, 1, 32, 32)
        for work in (forward, step):
            for net in (written, other):
                seconds(work, net, images)
            ratios = [
                seconds(work, written, images) / seconds(work, other, images) for _ in range(rounds)
            ]
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(f"{batch:5}  {work.__name__:7}  {middle:12.3f}  {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
