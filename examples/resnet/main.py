"""Train a residual net on several devices: a Torch7 program, ported.

::

    python examples/resnet/main.py --synthetic --nGPU 2 --batchSize 32 --nEpochs 5
    python examples/resnet/main.py -data cifar-10-batches-t7 -nGPU 4
    python examples/resnet/main.py -data imagenet -dataset imagenet -depth 50 -nGPU 4

The options, the files and the flow are those of fb.resnet.torch. The checkpoint folder is its, too:
this resumes what the Lua program wrote, which resumes what this writes.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import checkpoints
import data
import models
import torch
from train import Tally, Trainer

from compat import cutorch, random
from compat import torch as torch7
from compat.checks import check_choice, whole
from compat.cmdline import CmdLine, Options
from dptable.training import INTERRUPTED, stop_requests

# The options that are whole numbers, and from which number on.
LEAST = {
    **{"nGPU": 1, "nEpochs": 1, "batchSize": 1, "imageSize": 1, "epochNumber": 1},
    **{"nThreads": 0, "manualSeed": 0, "depth": 8, "nClasses": 0},
}
CHOICES = {
    "dataset": ("cifar10", "cifar100", "imagenet"),
    "precision": tuple(models.PRECISIONS),
    "netType": models.NET_TYPES,
    "cudnn": ("fastest", "default", "deterministic"),
    "backend": ("cudnn", "cunn"),
}


def declared() -> CmdLine:
    """The options, of which 0 and "" stand for what suits the data set."""
    cmd = torch7.CmdLine()
    cmd.text("Train a residual net. Options may be written with one dash, as in Lua.")
    cmd.text()
    cmd.text("Data:")
    cmd.option("--data", "", "a .t7 file, the folder of CIFAR's .t7 files, or one of images")
    cmd.option("--dataset", "cifar10", "cifar10, cifar100 or imagenet: how images are prepared")
    cmd.option("--synthetic", False, "train on made-up images")
    cmd.option("--labelsFromZero", False, "the .t7 file's labels are 0 to K-1: add 1 to each")
    cmd.option("--plain", False, "do not mirror and shift the images to train on")
    cmd.option("--imageSize", 0, "size of the images of a folder; 32, or 224 for imagenet")
    cmd.option("--nThreads", 2, "data loading processes, 0 for none")
    cmd.option("--gen", "", "no list of images is written here")
    cmd.text("Training:")
    cmd.option("--nGPU", 1, "number of devices")
    cmd.option("--nEpochs", 0, "number of epochs, in all; 164, or 90 for imagenet")
    cmd.option("--epochNumber", 1, "the number of the first epoch")
    cmd.option("--batchSize", 128, "images per step, on all devices together")
    cmd.option("--LR", 0.1, "learning rate, a tenth of it later and then again")
    cmd.option("--momentum", 0.9, "momentum")
    cmd.option("--weightDecay", 1e-4, "weight decay")
    cmd.option("--manualSeed", 0, "seed of the weights and of the images' order")
    cmd.option("--testOnly", False, "test the model, do not train")
    cmd.option("--tenCrop", False, "test on ten parts of each image")
    cmd.option("--precision", "single", "single, double or half")
    cmd.option("--backend", "cudnn", "cudnn or cunn, which are one here")
    cmd.option("--cudnn", "fastest", "fastest, default or deterministic")
    cmd.text("Model:")
    cmd.option("--netType", "resnet", "resnet or preresnet")
    cmd.option("--depth", 0, "layers: 6n+2, by default 20; for imagenet 18, 34, 50, …, 34")
    cmd.option("--shortcutType", "", "A, B or C; A, or B for imagenet")
    cmd.option("--retrain", "", "file of a model to begin with")
    cmd.option("--optimState", "", "file of an optimizer's state to begin with")
    cmd.option("--resetClassifier", False, "replace the last layer of that model")
    cmd.option("--nClasses", 0, "number of classes, by default that of the data set")
    cmd.option("--shareGradInput", False, "nothing: results are freed as backward goes")
    cmd.option("--optnet", False, "nothing, likewise")
    cmd.text("Checkpoints:")
    cmd.option("--save", "runs/example", "folder to write checkpoints to")
    cmd.option("--resume", "", "folder of the checkpoint to go on from")
    return cmd


def unluaed(cmd: CmdLine, arg: Sequence[str]) -> list[str]:
    """A command line of the Lua program as one of this: with ``-tenCrop true``."""
    words: list[str] = []
    left = [f"-{word}" if f"-{word}" in cmd.options else word for word in arg]
    while left:
        word = left.pop(0)
        option = cmd.options.get(word)
        if option is not None and option.type == "boolean" and left[:1] in (["true"], ["false"]):
            if left.pop(0) == "true":
                words.append(word)
        else:
            words.append(word)
    return words


def parse(arg: Sequence[str] | None = None) -> Options:
    cmd = declared()
    opt = cmd.parse(unluaed(cmd, sys.argv[1:] if arg is None else arg))
    if bool(opt.data) == opt.synthetic:
        cmd.error("either --data or --synthetic is needed")
    if opt.resetClassifier and not opt.nClasses:
        cmd.error("--nClasses is needed with --resetClassifier")
    if opt.shareGradInput and opt.optnet:
        cmd.error("--shareGradInput and --optnet are one or the other")
    for name, choices in CHOICES.items():
        check_choice(opt[name], f"--{name}", choices)
    for name in ("resume", "retrain", "optimState"):
        opt[name] = "" if opt[name] == "none" else opt[name]
    large = opt.dataset == "imagenet"
    opt.imageSize = opt.imageSize or (224 if large else 32)
    opt.nEpochs = opt.nEpochs or (90 if large else 164)
    opt.depth = opt.depth or (34 if large else 20)
    opt.shortcutType = opt.shortcutType or ("B" if large else "A")
    for name, least in LEAST.items():
        opt[name] = whole(opt[name], f"--{name}", least)
    if opt.nGPU > cutorch.getDeviceCount():
        raise ValueError(f"--nGPU is {opt.nGPU}; there are {cutorch.getDeviceCount()} devices")
    if opt.LR <= 0:
        raise ValueError(f"--LR is {opt.LR}; a positive number is accepted")
    return opt


def main(arg: Sequence[str] | None = None) -> int:
    opt = parse(arg)
    if not opt.testOnly:
        # That nothing can be written there is better known before the first epoch.
        Path(opt.save).mkdir(parents=True, exist_ok=True)
    torch7.manualSeed(opt.manualSeed)
    cutorch.manualSeedAll(opt.manualSeed)
    torch.backends.cudnn.benchmark = opt.cudnn == "fastest"
    torch.backends.cudnn.deterministic = opt.cudnn == "deterministic"

    latest, saved, optimState = checkpoints.latest(opt)
    loaders = data.create(opt)
    model, criterion = models.setup(opt, loaders.classes, loaders.size, saved)
    try:
        trainer = Trainer(model, criterion, opt, optimState)
        if opt.testOnly:
            trainer.test(latest.get("epoch", 0), loaders.val)
            return 0
        return run(opt, trainer, loaders, latest)
    finally:
        model.close()


def rng_state() -> str:
    """Where Torch7's generator is, from which the order of the images comes."""
    return bytes(random.getRNGState().tolist()).hex()


def run(opt: Options, trainer: Trainer, loaders: data.Loaders, latest: dict[str, Any]) -> int:
    """The epochs. Ctrl-C ends the step, saves and ends the program; --resume goes on there."""
    best = latest.get("bestTop1", math.inf)
    tally = Tally(**latest.get("tally", {}))
    if "rngState" in latest:
        random.setRNGState(torch.tensor(list(bytes.fromhex(latest["rngState"])), dtype=torch.uint8))
    first = latest["epoch"] + 1 if "epoch" in latest else opt.epochNumber
    with stop_requests() as stopped:
        for epoch in range(first, opt.nEpochs + 1):
            beginning = rng_state()
            order: Any = loaders.train.sampler
            order.begin = tally.images
            trainer.train(epoch, loaders.train, tally, stopped)
            interrupted = trainer.tally.images < order.count
            if not interrupted:
                top1, _ = trainer.test(epoch, loaders.val, stopped)
                interrupted = stopped()
            if interrupted:
                step, sums = trainer.tally.step, dataclasses.asdict(trainer.tally)
                more = {"bestTop1": best, "rngState": beginning, "step": step, "tally": sums}
                checkpoints.save(opt, epoch - 1, trainer.model, trainer.optimState, **more)
                print(f"Interrupted; to go on: --resume {opt.save}")
                return stopped.exit_code
            is_best, best, tally = top1 < best, min(top1, best), Tally()
            more = {"bestTop1": best, "rngState": rng_state()}
            checkpoints.save(opt, epoch, trainer.model, trainer.optimState, is_best, **more)
    print(f" * Finished top1: {best:6.3f}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (ArithmeticError, ImportError, OSError, TypeError, ValueError) as error:
        sys.exit(f"main.py: {error}")
