"""The short form of fuzz.py."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.forked_python import forked_python
from support.paths import ROOT

SCRIPT = Path(__file__).with_name("fuzz.py")


@pytest.mark.parametrize("mutations", [200, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", [[], ["--objects"]], ids=["plain", "objects"])
def test_damaged_files_give_errors_or_values(way: list[str], mutations: int) -> None:
    command = [forked_python(), str(SCRIPT), "--mutations", str(mutations), *way]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 0, done.stderr
    found = re.match(r"(\d+) read, (\d+) refused", done.stdout)
    assert found and min(int(found[1]), int(found[2])) > mutations // 15
