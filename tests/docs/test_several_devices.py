"""The Python in docs/several_devices.md runs, from top to bottom."""

from __future__ import annotations

import re
import socket

import pytest
import torch
import torch.distributed as dist
from support.paths import ROOT

GUIDE = ROOT / "docs" / "several_devices.md"


@pytest.mark.skipif(not dist.is_available(), reason="PyTorch was built without it")
def test_the_examples_run(monkeypatch, capsys):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = [
        "\n" * text.count("\n", 0, found.start(1)) + found[1]
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]
    assert len(blocks) == 6
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    for name, value in alone.items():
        monkeypatch.setenv(name, value)
    # That would outlast the test.
    monkeypatch.setattr("dptable.memory.keep_freed", lambda: True)
    threads = torch.get_num_threads()
    names: dict[str, object] = {}
    try:
        for block in blocks:
            exec(compile(block, str(GUIDE), "exec"), names)
    finally:
        names.clear()
        torch.set_num_threads(threads)
        if dist.is_initialized():
            dist.destroy_process_group()
    shown = capsys.readouterr().out
    assert "backward" in shown and "reduce" in shown
