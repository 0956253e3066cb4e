"""Public training scripts run as they are: TORCH7_SOURCES names a folder with their checkouts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from compat import lua, t7

ROOT = Path(__file__).parents[3]
SOURCES = os.environ.get("TORCH7_SOURCES", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SOURCES, reason="TORCH7_SOURCES names no folder with checkouts"),
]


def checkout(name: str, place: Path) -> Path:
    """A copy of a checkout in which a program may write."""
    source = Path(SOURCES, name)
    if not source.is_dir():
        pytest.skip(f"{source} is not there")
    return Path(shutil.copytree(source, place / Path(name).name))


def run(folder: Path, *arguments: str, devices: int = 1) -> str:
    """What ``dptable lua`` prints in a folder."""
    ran = subprocess.run(
        [sys.executable, "-m", "compat.lua", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "T7_NGPU": str(devices)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    return ran.stdout


@pytest.mark.parametrize("model", ["lstm", "gru", "rnn"])
def test_char_rnn_trains_goes_on_and_samples(model: str, tmp_path: Path) -> None:
    folder = checkout("char-rnn", tmp_path)
    (folder / "data/tiny").mkdir()
    (folder / "data/tiny/input.txt").write_text("the quick brown fox jumps over the dog. " * 150)
    small = ["-data_dir", "data/tiny", "-gpuid", "-1", "-rnn_size", "8", "-seq_length", "20"]
    settings = [*small, "-model", model, "-savefile", model, "-max_epochs", "1"]
    assert "train_loss" in run(folder, "train.lua", *settings)
    (saved,) = folder.glob(f"cv/lm_{model}_epoch1.00_*.t7")
    assert "train_loss" in run(folder, "train.lua", *settings, "-init_from", str(saved))
    assert len(run(folder, "sample.lua", str(saved), "-gpuid", "-1", "-length", "50")) > 50
    net = t7.load(saved)["protos"]["rnn"]
    weights, _ = net.parameters()
    assert all(bool(torch.isfinite(w).all()) for w in weights)


_IMAGES = """
local function images(n)
   local data, labels = torch.ByteTensor(n, 3, 32, 32):random(0, 255), torch.LongTensor(n)
   return {data = data, labels = labels:random(1, 10)}
end
torch.save(..., {train = images(32), val = images(16)})
"""


def test_resnet_trains_on_two_devices_and_goes_on_with_one_and_three(tmp_path: Path) -> None:
    folder = checkout("fb.resnet.torch", tmp_path)
    (folder / "gen").mkdir()
    lua.Runtime().execute(_IMAGES, str(folder / "gen/cifar10.t7"))
    settings = ["-dataset", "cifar10", "-depth", "8", "-batchSize", "8", "-nThreads", "1"]
    saved = tmp_path / "saved"
    for epochs, devices in ((1, 2), (2, 1), (2, 3)):
        place = saved if epochs == 1 else tmp_path / f"on{devices}"
        resumed = [] if epochs == 1 else ["-resume", str(saved)]
        told = run(
            folder,
            "main.lua",
            *settings,
            *("-nGPU", str(devices), "-nEpochs", str(epochs), "-save", str(place)),
            *resumed,
            devices=3,
        )
        assert f"Finished epoch # {epochs}" in told
    net = t7.load(saved / "model_1.t7")
    result = net.evaluate().forward(torch.rand(2, 3, 32, 32))
    assert isinstance(result, Tensor)
    assert result.shape == (2, 10)
