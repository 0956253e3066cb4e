"""Random programs end in errors of Lua or not at all; the long form is fuzz.py itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.forked_python import forked_python

FUZZ = Path(__file__).with_name("fuzz.py")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory")
@pytest.mark.parametrize(
    "options",
    [
        ("--programs", "8"),
        pytest.param(("--programs", "80", "--threads", "2"), marks=pytest.mark.slow),
    ],
)
def test_random_programs_leave_the_process_alive(options: tuple[str, ...]) -> None:
    done = subprocess.run(
        [forked_python(), str(FUZZ), *options], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout
