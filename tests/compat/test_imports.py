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
