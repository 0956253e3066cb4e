"""A step that keeps no results needs hardly more memory than in torch.nn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.paths import ROOT

from compat import cutorch, nn, optim
from dptable import DataParallelTable, models

sys.path.append(str(ROOT / "benchmarks"))
import native_nets

BATCH = 16
IMAGES, LABELS = torch.randn(BATCH, 3, 32, 32), torch.randint(1, 11, (BATCH,))
Step = Callable[[], Any]


def native() -> Step:
    net = native_nets.resnet(10, 3, 32, 32)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        torch.nn.functional.cross_entropy(net(IMAGES), LABELS - 1).backward()
        optimizer.step()

    return step


def ours(replicas: int) -> Step:
    net: Any = models.resnet(10, 3, 32, 32).keepResults(False)
    if replicas:
        net = DataParallelTable(1, True).add(net, list(range(1, replicas + 1)))
        net.gradInput = None
    criterion = nn.CrossEntropyCriterion()
    x, dx = net.getParameters()
    config = {"learningRate": 0.1, "momentum": 0.9, "dampening": 0}

    def feval(_: torch.Tensor) -> tuple[float, torch.Tensor]:
        net.zeroGradParameters()
        loss = criterion.forward(net.forward(IMAGES), LABELS)
        net.backward(IMAGES, criterion.backward(net.output, LABELS))
        return loss, dx

    return lambda: optim.sgd(feval, x, config)


def peak(make: Callable[[], Step]) -> int:
    """The most bytes in tensors at any time while a net is made and takes three steps."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        step = make()
        for _ in range(3):
            step()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    total = highest = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        total += event.nbytes()
        highest = max(highest, total)
    assert highest > 0
    return highest


@pytest.mark.parametrize("replicas", [0, 1, 2], ids=["bare", "one replica", "two replicas"])
def test_the_peak_of_a_step_is_that_of_torch_nn(replicas: int) -> None:
    cutorch.configure(["cpu"] * 2)
    assert peak(lambda: ours(replicas)) <= 1.1 * peak(native)
