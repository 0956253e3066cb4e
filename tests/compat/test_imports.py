"""Packages that import each other can each be imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.paths import ROOT


@pytest.mark.parametrize("name", ["compat.cudnn", "compat.rnn", "compat.nn.recurrent.cells"])
def test_a_package_can_be_imported_first(name: str) -> None:
    command = [sys.executable, "-c", f"import {name}"]
    subprocess.run(command, check=True, cwd=ROOT)


def test_the_container_of_replicas_says_who_brings_it() -> None:
    command = [sys.executable, "-c", "from compat import nn; nn.DataParallelTable"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert "nn.DataParallelTable is dptable's: import dptable brings it" in done.stderr
