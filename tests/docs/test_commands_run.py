"""The command lines of the pages run, one after the other, in a folder for each page.

What is long or needs other machines is shortened: one epoch of a small data set, CPUs for GPUs.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT

from compat import nn, t7
from dptable.data import load

pytestmark = [pytest.mark.needs("lupa"), pytest.mark.needs("safetensors")]

LINE = re.compile(r"^    ((?:dptable|torchrun|python) .*)$", re.MULTILINE)


def commands(page: str) -> list[str]:
    """The indented command lines of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").replace("\\\n", " ")
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    lines = [line.partition("  #")[0].strip() for line in LINE.findall(text)]
    return [line for line in lines if "--nnodes" not in line]  # that is two machines


def shortened(line: str) -> str:
    """Return a command that does the same with less data, on the devices that there are."""
    if not torch.cuda.is_available():
        line = re.sub(r"cuda:\d", "cpu", line)
    if "dptable train" in line:  # of options that are given twice, the last one counts
        line += " --epochs 1 --batch-size 16" if "--resume" not in line else " --epochs 2"
        line += "" if "--data" in line or "--resume" in line else " --data my.t7"
    return line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the pages name."""
    for name in ("examples", "dptable"):
        (tmp_path / name).symlink_to(ROOT / name)
    bin = tmp_path / "bin"
    bin.mkdir()
    modules = {"dptable": "-m dptable ", "python": "", "torchrun": "-m torch.distributed.run "}
    for name, arguments in modules.items():
        (bin / name).write_text(f'#!/bin/sh\nexec "{forked_python()}" {arguments}"$@"\n')
        (bin / name).chmod(0o755)
    digits = load().train
    t7.save(tmp_path / "my.t7", {"data": digits.data[:320], "labels": digits.labels[:320]})
    shutil.copy(ROOT / "dptable" / "data" / "digits.t7", tmp_path)
    shutil.copy(ROOT / "examples" / "lua" / "train.lua", tmp_path)
    net = nn.Sequential().add(nn.SpatialConvolution(1, 4, 3, 3)).add(nn.ReLU())
    net.add(nn.View(144).setNumInputDims(3)).add(nn.Linear(144, 10))
    (tmp_path / "checkpoints").mkdir()
    for name in ("model.t7", "checkpoints/a.t7", "checkpoints/b.t7"):
        t7.save(tmp_path / name, net.float())
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


SCRIPT = """
import torch, torch.distributed as dist
from compat import nn, optim
from dptable import DataParallelTable, devices

dist.init_process_group("gloo")
devices.configure(["cpu", "cpu"])
dpt = DataParallelTable(1, True).add(nn.Linear(3, 1).float(), [1, 2]).threads().distribute()
params, gradParams = dpt.getParameters()

def feval(x):
    dpt.zeroGradParameters()
    output = dpt.forward(torch.ones(4, 3) * (1 + dist.get_rank()))
    dpt.backward(None, torch.ones_like(output))
    return output.sum().item(), gradParams

optim.sgd(feval, params, {"learningRate": 0.1})
found = [torch.empty_like(params) for _ in range(dist.get_world_size())]
dist.all_gather(found, params)
assert found[0].equal(found[1])
dpt.close_group()
dist.destroy_process_group()
"""


# How many commands each page has.
PAGES = {
    "leaving.md": 7,
    "lua.md": 1,
    "porting.md": 1,
    "several_devices.md": 1,
    "training.md": 7,
    "view.md": 2,
}


@pytest.mark.slow
@pytest.mark.timeout(500)
@pytest.mark.parametrize(("page", "count"), PAGES.items())
def test_the_commands_of_a_page_run(page: str, count: int, folder: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "BROWSER": "true",
        "DPTABLE_DEVICES": "cpu,cpu",
        "OMP_NUM_THREADS": "1",
    }
    lines = commands(page)
    assert len(lines) == count
    for line in map(shortened, lines):
        if "onnx" in line and importlib.util.find_spec("onnxruntime") is None:
            continue
        done = subprocess.run(
            line, shell=True, cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (line, done.stdout[-500:], done.stderr[-1500:])


def test_every_page_with_commands_is_run() -> None:
    found = {path.name for path in (ROOT / "docs").glob("*.md") if commands(path.name)}
    assert found == PAGES.keys()
