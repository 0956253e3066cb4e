"""Public checkouts of Torch7's packages and programs, in the folder that TORCH7_SOURCES names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCES = os.environ.get("TORCH7_SOURCES", "")
MARKS = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not SOURCES, reason="TORCH7_SOURCES names no folder of checkouts"),
]
_ROOT = Path(__file__).parents[2]


def need(path: str) -> Path:
    """What is at a path in the folder; the test is skipped if it is not there."""
    found = Path(SOURCES, path)
    if not found.exists():
        pytest.skip(f"TORCH7_SOURCES has no {path}")
    return found


def run(cwd: Path, *arguments: str, devices: int = 1) -> subprocess.CompletedProcess[str]:
    """Run ``dptable lua`` in a folder; packages are found among the checkouts."""
    return subprocess.run(
        [sys.executable, "-m", "compat.lua", "--torch-home", SOURCES, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(_ROOT), "T7_NGPU": str(devices)},
        capture_output=True,
        encoding="latin-1",
        timeout=3600,
    )
