"""Packages that import each other can each be imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.forked_python import forked_python
from support.paths import ROOT


@pytest.mark.parametrize("name", ["compat.cudnn", "compat.rnn", "compat.nn.recurrent.cells"])
def test_a_package_can_be_imported_first(name: str) -> None:
    command = [sys.executable, "-c", f"import {name}"]
    subprocess.run(command, check=True, cwd=ROOT)


def test_the_container_of_replicas_says_who_brings_it() -> None:
    command = [forked_python(), "-c", "from compat import nn; nn.DataParallelTable"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "nn.DataParallelTable is dptable's: import dptable brings it" in done.stderr


def test_training_does_not_import_the_compiler() -> None:
    """It takes longer to import than all the rest together."""
    program = """
import sys, torch
from compat import nn, optim
net = nn.Sequential().add(nn.Linear(3, 2)).add(nn.BatchNormalization(2)).add(nn.Tanh()).float()
parameters, gradients = net.getParameters()
for _ in range(4):
    input = torch.ones(4, 3)
    net.backward(input, net.forward(input).clone())
    optim.sgd(lambda _: (0.0, gradients), parameters, {})
print([name for name in ("torch._dynamo", "torch._inductor") if name in sys.modules])
"""
    command = [forked_python(), "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
