"""Ctrl-C ends a script within a second, and shows where Lua was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends a signal")

ROOT = Path(__file__).parents[3]
THREADS = """
local threads = require 'threads'
local pool = threads.Threads(2, function() require 'torch' end)
for i = 1, 2 do pool:addjob(function() while true do end end) end
io.write('go\\n') io.flush()
pool:synchronize()
"""
TOWERS = """
require 'cunn'
local net = nn.DataParallelTable(1):add(nn.Sequential():add(nn.Linear(300, 300)), {1, 2})
net:threads(function() require 'nn' end)
local x = torch.ones(64, 300)
io.write('go\\n') io.flush()
while true do net:backward(x, net:forward(x)) end
"""
# What runs, and what the stack must name.
SCRIPTS = {
    "a loop": ("local x = torch.ones(3) while true do x:add(1) end", "s.lua:3: in main chunk"),
    "a compiled loop": (
        "local function f() while true do end end f()",
        "s.lua:3: in function 'f'",
    ),
    "a loop in C": ("local _ = ('a'):rep(60):find(('a*'):rep(30) .. 'b')", "in function 'find'"),
    "pcall": ("while true do pcall(sys.sleep, 1) end", "s.lua:3: in main chunk"),
    "a coroutine": (
        "coroutine.wrap(function() while true do coroutine.yield(torch.ones(1)) end end)()"
        " while true do end",
        "s.lua:3: in main chunk",
    ),
    "a long operation": (
        "x = torch.ones(9000, 300) while true do y = x * x:t() end",
        "s.lua:3:",
    ),
    "sys.sleep": ("sys.sleep(100)", "in function 'sleep'"),
    "os.execute": ("os.execute('sleep 100')", "in function 'execute'"),
    "io.popen": ("io.popen('sleep 100'):read('*a') while true do end", "s.lua:3: in main chunk"),
    "io.read": ("io.read() while true do end", "s.lua:3: in main chunk"),
    "threads": (THREADS, "in function 'synchronize'"),
    "DataParallelTable": (TOWERS, "s.lua:7: in main chunk"),
}


QUICK = ("a compiled loop", "pcall", "os.execute", "threads")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SCRIPTS],
)
def test_ctrl_c_ends_a_script(tmp_path: Path, name: str) -> None:
    script, stack = SCRIPTS[name]
    if "'go" not in script:
        script = f"require 'sys'\nio.write('go\\n') io.flush()\n{script}\n"
    (tmp_path / "s.lua").write_text(script)
    with subprocess.Popen(
        [sys.executable, "-m", "compat.lua", "s.lua"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout and process.stdout.readline() == b"go\n"
            time.sleep(0.3)
            start = time.monotonic()
            # As a terminal does: to the programs that it runs, too.
            os.killpg(process.pid, signal.SIGINT)
            while process.poll() is None and time.monotonic() < start + 20:
                time.sleep(0.01)
            elapsed = time.monotonic() - start
        finally:
            if process.poll() is None:
                process.kill()
        errors = process.communicate()[1].decode()
    # A second, and what a busy machine may add.
    assert elapsed < 3
    assert "interrupted!" in errors and stack in errors
    assert process.returncode == 130
