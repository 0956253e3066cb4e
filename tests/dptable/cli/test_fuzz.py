"""The short forms of fuzz.py, fuzz_commands.py and interrupted_saves.py."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked_python import forked_python
from support.paths import ROOT

HERE = Path(__file__).parent


def run(script: Path, *options: str) -> str:
    command = [forked_python(), str(script), *options]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("mutations", [80, pytest.param(5000, marks=pytest.mark.slow)])
def test_damaged_files_of_all_kinds(mutations: int) -> None:
    said = run(HERE / "fuzz.py", "--mutations", str(mutations))
    assert f"0 failed of {mutations:,}" in said


@pytest.mark.parametrize("lines", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_command_lines_drawn_by_chance(lines: int) -> None:
    found = re.search(
        r"(\d+) well, (\d+) errors, (\d+) refused",
        run(HERE / "fuzz_commands.py", "--lines", str(lines)),
    )
    assert found and min(map(int, found.groups())) > lines // 15


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a library loaded before libc")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("names", [["t7 durable", "run"], pytest.param([], marks=pytest.mark.slow)])
def test_saves_that_fail_at_every_system_call(names: list[str]) -> None:
    said = run(HERE.parent / "interrupted_saves.py", *names)
    assert said.count("'killed'") == (len(names) or 11), said
