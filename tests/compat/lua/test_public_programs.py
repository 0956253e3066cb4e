"""Public training scripts run as they are: TORCH7_SOURCES names a folder with their checkouts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from support import public_checkouts
from torch import Tensor

from compat import lua, t7

pytestmark = public_checkouts.MARKS


def checkout(name: str, place: Path) -> Path:
    """A copy of a checkout in which a program may write."""
    return Path(shutil.copytree(public_checkouts.need(name), place / name))


def run(folder: Path, *arguments: str, devices: int = 1) -> str:
    """What ``dptable lua`` prints in a folder."""
    ran = public_checkouts.run(folder, *arguments, devices=devices)
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
    assert len(run(folder, "sample.lua", str(saved), "-gpuid", "-1", "-length", "50")) > 50
    checkpoint = t7.load(saved)
    net = checkpoint["protos"]["rnn"]
    states = [torch.zeros(2, 8, dtype=torch.float64) for _ in range(4 if model == "lstm" else 2)]
    input = [torch.tensor([1.0, 2.0], dtype=torch.float64), *states]
    before = net.forward(input)[-1].clone()
    net.zeroGradParameters()
    gradients = [torch.zeros_like(s) for s in states]
    net.backward(input, [*gradients, -torch.eye(*before.shape, dtype=torch.float64)])
    net.updateParameters(0.1)
    after = net.forward(input)[-1]
    assert bool((after.diagonal() > before.diagonal()).all())
    resumed = saved.with_name("from_python.t7")
    t7.save(resumed, checkpoint)
    assert "train_loss" in run(folder, "train.lua", *settings, "-init_from", str(resumed))


_IMAGES = """
local function images(n)
   local data, labels = torch.ByteTensor(n, 3, 32, 32):random(0, 255), torch.LongTensor(n)
   return {data = data, labels = labels:random(1, 10)}
end
torch.save(..., {train = images(32), val = images(16)})
"""


def train_in_python(file: Path) -> None:
    """Take one step with the net in a file, and save it."""
    net, images = t7.load(file), torch.rand(2, 3, 32, 32, dtype=torch.float32)
    before = net.training().forward(images).clone()
    assert isinstance(before, Tensor)
    assert before.shape == (2, 10)
    net.zeroGradParameters()
    net.backward(images, torch.ones_like(before))
    net.updateParameters(1e-3)
    assert net.forward(images).sum() < before.sum()
    t7.save(file, net)


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
        if epochs == 1:
            train_in_python(saved / "model_1.t7")
