"""Ctrl-C ends a script within a second or so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize(
    ("loop", "stack"),
    [("local x = torch.ones(3) while true do x:add(1) end", True), ("while true do end", False)],
)
def test_ctrl_c_ends_a_script(tmp_path: Path, loop: str, stack: bool) -> None:
    (tmp_path / "s.lua").write_text(f"require 'torch'\nio.write('go\\n') io.flush()\n{loop}\n")
    with subprocess.Popen(
        [sys.executable, "-m", "compat.lua", "s.lua"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stdout.readline() == b"go\n"
        time.sleep(0.2)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert time.monotonic() - start < 5
    assert b"interrupted!" in errors
    assert (b"s.lua:3" in errors) == stack
    assert process.returncode != 0
