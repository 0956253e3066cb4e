"""Train a CIFAR-style residual net on several devices: a Torch7 program, ported.

::

    python examples/resnet/main.py --synthetic --nGPU 2 --batchSize 32 --nEpochs 5
    python examples/resnet/main.py --data cifar-10-batches-t7 --nGPU 4
    python examples/resnet/main.py --data cifar-10-batches-t7 --nGPU 2 --resume runs/example

The options, the files and the flow are those of the Lua programs that trained ImageNet nets. The
checkpoint folder is theirs, too: it resumes what they wrote, and they resume what this writes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

import checkpoints
import data
import models
from train import Trainer

from compat import cutorch
from compat import torch as torch7
from compat.checks import whole
from compat.cmdline import Options

# The options that are whole numbers, and from which number on.
LEAST = {
    **{"nGPU": 1, "nEpochs": 1, "batchSize": 1, "imageSize": 1},
    **{"nThreads": 0, "manualSeed": 0, "depth": 8},
}


def parse(arg: Sequence[str] | None = None) -> Options:
    cmd = torch7.CmdLine()
    cmd.text("Train a residual net.")
    cmd.text()
    cmd.text("Data:")
    cmd.option("--data", "", "a .t7 file, the folder of CIFAR-10's .t7 files, or one of images")
    cmd.option("--synthetic", False, "train on made-up images")
    cmd.option("--labelsFromZero", False, "the .t7 file's labels are 0 to K-1: add 1 to each")
    cmd.option("--plain", False, "do not mirror and shift the images to train on")
    cmd.option("--imageSize", 32, "scale the images of a folder to this size")
    cmd.option("--nThreads", 2, "data loading processes, 0 for none")
    cmd.text("Training:")
    cmd.option("--nGPU", 1, "number of devices")
    cmd.option("--nEpochs", 164, "number of epochs, in all")
    cmd.option("--batchSize", 128, "images per step, on all devices together")
    cmd.option("--LR", 0.1, "learning rate; a tenth of it from epoch 81 on, a hundredth from 122")
    cmd.option("--momentum", 0.9, "momentum")
    cmd.option("--weightDecay", 1e-4, "weight decay")
    cmd.option("--manualSeed", 0, "seed of the weights and of the images' order")
    cmd.option("--testOnly", False, "test the model, do not train")
    cmd.text("Model:")
    cmd.option("--depth", 20, "layers, 6n+2")
    cmd.option("--shortcutType", "A", "A, B or C")
    cmd.text("Checkpoints:")
    cmd.option("--save", "runs/example", "folder to write checkpoints to")
    cmd.option("--resume", "", "folder of the checkpoint to go on from")
    opt = cmd.parse(arg)
    if bool(opt.data) == opt.synthetic:
        cmd.error("either --data or --synthetic is needed")
    for name, least in LEAST.items():
        opt[name] = whole(opt[name], f"--{name}", least)
    if opt.nGPU > cutorch.getDeviceCount():
        raise ValueError(f"--nGPU is {opt.nGPU}; there are {cutorch.getDeviceCount()} devices")
    if opt.LR <= 0:
        raise ValueError(f"--LR is {opt.LR}; a positive number is accepted")
    return opt


def main(arg: Sequence[str] | None = None) -> None:
    opt = parse(arg)
    if not opt.testOnly:
        # That nothing can be written there is better known before the first epoch.
        Path(opt.save).mkdir(parents=True, exist_ok=True)
    torch7.manualSeed(opt.manualSeed)
    cutorch.manualSeedAll(opt.manualSeed)

    latest, saved, optimState = checkpoints.latest(opt)
    loaders = data.create(opt)
    model, criterion = models.setup(opt, loaders.classes, loaders.size, saved)
    try:
        trainer = Trainer(model, criterion, opt, optimState)
        if opt.testOnly:
            trainer.test(latest.get("epoch", 0), loaders.val)
            return
        best = latest.get("bestTop1", math.inf)
        for epoch in range(latest.get("epoch", 0) + 1, opt.nEpochs + 1):
            trainer.train(epoch, loaders.train)
            top1, _ = trainer.test(epoch, loaders.val)
            is_best, best = top1 < best, min(top1, best)
            checkpoints.save(opt, epoch, model, trainer.optimState, is_best, bestTop1=best)
        print(f" * Finished top1: {best:6.3f}")
    finally:
        model.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except (ImportError, OSError, TypeError, ValueError) as error:
        sys.exit(f"main.py: {error}")
