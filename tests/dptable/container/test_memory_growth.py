"""Training does not gather memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.paths import ROOT

# glibc keeps freed memory for later; with these every tensor of the net goes back at once.
EXACT = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TRIM_THRESHOLD_": "0", "MALLOC_TOP_PAD_": "0"}

TRAINING = """
import resource, sys
from pathlib import Path

import torch
from compat import cutorch, nn, optim
from dptable import DataParallelTable, models

torch.set_num_threads(1)
cutorch.configure(["cpu"] * 2)
net = models.resnet(10, 3, 8, 8, depth=8)
if sys.argv[1] != "bare":
    net = DataParallelTable(1, True).add(net, [1, 2]).threads()
input, target = torch.randn(16, 3, 8, 8), torch.randint(10, (16,)) + 1
criterion = nn.CrossEntropyCriterion()
x, dx = net.getParameters()
state = {"learningRate": 0.01, "momentum": 0.9}

def feval(_):
    net.zeroGradParameters()
    loss = criterion.forward(net.forward(input), target)
    net.backward(input, criterion.backward(net.output, target))
    return loss, dx

def train(steps):
    for _ in range(steps):
        optim.sgd(feval, x, state)
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

train(30)
before = train(1)
print(train(100) - before)
if sys.argv[1] != "bare":
    net.close()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", [pytest.param("bare", marks=pytest.mark.slow), "threads"])
def test_100_steps_of_the_residual_net_leave_the_process_as_large(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, kind],
        env={**os.environ, **EXACT, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    # Two kilobytes per step; the results of one are 700.
    assert int(done.stdout) < 200 << 10
