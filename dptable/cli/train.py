"""`dptable train`: train a network on several devices; also the example of a ported Torch7 script.

The `Trainer` follows the training scripts of the time (`train.lua` of fb.resnet.torch): feval,
optim.sgd, getParameters. Around it stand the command's options, progress and report.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from compat import cutorch, nn, optim, random
from dptable import checkpoints, data
from dptable import devices as hardware
from dptable.cli.curves import plot
from dptable.cli.stopping import INTERRUPTED, stop_requests
from dptable.data_parallel_table import DataParallelTable
from dptable.models import MODELS
from dptable.prefetch import Prefetcher

# The options that optim.sgd keeps in its state, under Torch7's names.
STATE = {
    "lr": "learningRate",
    "lr_decay": "learningRateDecay",
    "momentum": "momentum",
    "nesterov": "nesterov",
    "weight_decay": "weightDecay",
}


def _option(default: Any, explanation: str, **argument: Any) -> Any:
    """A field of `Options`: its default, its help text and what argparse should know besides."""
    return dataclasses.field(default=default, metadata={"help": explanation, **argument})


def _positive(kind: type) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        if not 0 < (value := kind(text)) < math.inf:
            raise argparse.ArgumentTypeError(f"{text} given, must be positive")
        return value

    parse.__name__ = kind.__name__
    return parse


@dataclass
class Options:
    """What a run does. Saved with every checkpoint, so that resuming need not repeat it."""

    data: str = _option("", "a .t7 file {data, labels}; the digits that come along if not given")
    labels_from_zero: bool = _option(False, "the file's labels are 0…K-1: add 1 to each")
    model: str = _option("lenet", "the network", choices=sorted(MODELS))
    depth: int = _option(20, "layers of the residual net, 6n+2")
    shortcut: str = _option("A", "shortcuts of the residual net", choices=["A", "B", "C"])
    ngpus: int = _option(2, "train on this many devices", type=_positive(int))
    threads: bool = _option(True, "one worker thread per device")
    capture: bool = _option(False, "replay the steps as CUDA graphs")
    epochs: int = _option(20, "passes over the training images, in all", type=_positive(int))
    batch_size: int = _option(64, "images per step, on all devices together", type=_positive(int))
    lr: float = _option(0.05, "learning rate", type=_positive(float))
    schedule: str = _option(
        "cosine", "learning rate over the epochs: constant, cosine, or divided by 10 after 30,40,…"
    )
    lr_decay: float = _option(0.0, "learning rate decay per step, Torch7's learningRateDecay")
    momentum: float = _option(0.9, "momentum")
    nesterov: bool = _option(True, "Nesterov's momentum")
    weight_decay: float = _option(5e-4, "weight decay")
    seed: int = _option(1, "seed of the initial weights and of the order of the images")

    @classmethod
    def merged(cls, *tables: dict[str, Any]) -> Options:
        """Options from tables that may hold other things too; the later ones win."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{k: v for table in tables for k, v in table.items() if k in names})

    def __post_init__(self) -> None:
        # A misspelt schedule is an error now, not after an epoch.
        self.learningRate(1)

    def learningRate(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 1."""
        if self.schedule == "constant":
            return self.lr
        if self.schedule == "cosine":
            return self.lr * (1 + math.cos(math.pi * min(1.0, (epoch - 1) / self.epochs))) / 2
        try:
            drops = [int(text) for text in self.schedule.split(",")]
        except ValueError:
            raise ValueError(
                f"schedule: {self.schedule!r} given, must be constant, cosine or epochs like 30,40"
            ) from None
        return self.lr * 0.1 ** sum(epoch > drop for drop in drops)


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "train",
        help="train a network on several devices",
        description="Train a network on several devices, or go on with an interrupted training.",
        argument_default=argparse.SUPPRESS,
    )
    for field in dataclasses.fields(Options):
        argument: dict[str, Any] = {"type": type(field.default), **field.metadata}
        default = field.default
        if isinstance(default, bool):
            argument = {"action": argparse.BooleanOptionalAction, "help": argument["help"]}
            default = "yes" if default else "no"
        if default != "":
            argument["help"] += f" (default: {default})"
        parser.add_argument("--" + field.name.replace("_", "-"), **argument)
    parser.add_argument(
        "--devices",
        help="where to train: GPU ids like 1,2, names like cpu,cpu or cuda:0,cuda:0, or auto for "
        "the idle devices that are connected best, as many as --ngpus says or else all",
    )
    parser.add_argument("--output", help="folder of checkpoints and curves (default: runs/MODEL)")
    parser.add_argument(
        "--resume", metavar="FOLDER", help="go on from the checkpoint in this folder"
    )
    parser.set_defaults(run=run, devices=None, output=None, resume=None)


@dataclass
class Tally:
    """Sums over the steps of an epoch."""

    step: int = 0
    images: int = 0
    loss: float = 0.0
    correct: int = 0

    def add(self, loss: float, output: Tensor, target: Tensor) -> None:
        self.step += 1
        self.images += len(target)
        self.loss += loss * len(target)
        self.correct += int((output.argmax(1) + 1 == target).sum())

    @property
    def mean_loss(self) -> float:
        return self.loss / self.images

    @property
    def accuracy(self) -> float:
        """Per cent."""
        return 100 * self.correct / self.images


class Trainer:
    """Trains and tests a model by minibatches."""

    def __init__(
        self,
        model: nn.Module,
        criterion: nn.Criterion,
        opt: Options,
        optimState: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.criterion = criterion
        self.opt = opt
        self.params, self.gradParams = model.getParameters()
        self.optimState = checkpoints.moved(optimState or {"dampening": 0}, like=self.params)
        self.optimState |= {key: getattr(opt, name) for name, key in STATE.items()}
        self.optimState["nesterov"] &= opt.momentum > 0

    def train(self, epoch: int, split: data.Split, tally: Tally) -> Iterator[Tally]:
        """The rest of an epoch, of which `tally` is done; yields the tally after each step."""
        self.optimState["learningRate"] = self.opt.learningRate(epoch)
        # A seed per epoch: a resumed run draws the same order of images.
        random.manualSeed(self.opt.seed + epoch)
        order = random.randperm(len(split)).long() - 1
        self.model.training()
        rest = order[tally.images :].split(self.opt.batch_size)
        batches = ((split.data[chosen], split.labels[chosen]) for chosen in rest)
        for input, target in Prefetcher(batches, self.params.device):
            tally.add(self.step(input, target), self.model.output, target)
            yield tally

    def step(self, input: Tensor, target: Tensor) -> float:
        """One step of gradient descent; returns the loss before it."""

        def feval(x: Tensor) -> tuple[float, Tensor]:
            self.model.zeroGradParameters()
            loss = self.criterion.forward(self.model.forward(input), target)
            self.model.backward(input, self.criterion.backward(self.model.output, target))
            return loss, self.gradParams

        _, fs = optim.sgd(feval, self.params, self.optimState)
        return fs[0]

    def test(self, split: data.Split, classes: int) -> tuple[float, optim.ConfusionMatrix]:
        """The mean loss over a split and its confusion matrix."""
        confusion = optim.ConfusionMatrix(classes)
        tally = Tally()
        self.model.evaluate()
        batches = zip(
            split.data.split(self.opt.batch_size),
            split.labels.split(self.opt.batch_size),
            strict=True,
        )
        for input, target in Prefetcher(batches, self.params.device):
            output = self.model.forward(input)
            tally.add(self.criterion.forward(output, target), output, target)
            confusion.batchAdd(output, target)
        self.model.training()
        confusion.updateValids()
        return tally.mean_loss, confusion


def run(args: argparse.Namespace) -> int:
    """Train, test, save; returns 0, or 130 after Ctrl-C."""
    latest: dict[str, Any] = {}
    model, optimState = None, None
    if args.resume:
        latest, model, optimState = checkpoints.latest(args.resume)
    opt = Options.merged(latest.get("opt") or _options_in(optimState), vars(args))
    folder = _output_folder(args, opt)
    dataset = data.load(opt.data or None, zero_based=opt.labels_from_zero).normalized()
    gpus = _chosen_gpus(args.devices, opt.ngpus, vars(args).get("ngpus"))
    hardware.warn_about_imbalance(gpus)

    random.manualSeed(opt.seed)
    cutorch.manualSeedAll(opt.seed)
    if model is None:
        special = (
            {"depth": opt.depth, "shortcut_type": opt.shortcut} if opt.model == "resnet" else {}
        )
        model = MODELS[opt.model](dataset.classes, *dataset.size, **special)
    threads = torch.get_num_threads()
    replicated = _data_parallel(model, gpus, opt.threads).capture(opt.capture)
    try:
        criterion = nn.CrossEntropyCriterion().type(replicated.type())
        trainer = Trainer(replicated, criterion, opt, optimState)
        session = _Session(trainer, dataset, folder, latest, [str(cutorch.device(i)) for i in gpus])
        return session.run()
    finally:
        replicated.close()
        torch.set_num_threads(threads)


def _options_in(optimState: dict[str, Any] | None) -> dict[str, Any]:
    """What the state of a script's optimizer tells, for a checkpoint without options."""
    if not optimState:
        return {}
    told = {name: optimState[key] for name, key in STATE.items() if key in optimState}
    return {"schedule": "constant", **told}


def _data_parallel(model: nn.Module, gpus: list[int], threads: bool) -> DataParallelTable:
    places = [cutorch.device(gpu) for gpu in gpus]
    on_gpus = all(place.type == "cuda" for place in places)
    usenccl = on_gpus and len(set(places)) == len(places) > 1
    dpt = DataParallelTable(1, True, usenccl).add(model, gpus)
    if threads:
        # The replicas share the cores: operators that each start a thread per core would be slower.
        share = max(1, torch.get_num_threads() // len(gpus))
        dpt.threads(lambda: torch.set_num_threads(share))
    dpt.gradInput = None
    return dpt.cuda() if on_gpus else dpt.float()


def _chosen_gpus(devices: str | None, ngpus: int, asked: int | None = None) -> list[int]:
    """The GPU ids of a list like "1,2" or "cpu,cpu", or else the first `ngpus` logical devices.

    Names become the list of logical devices; so do devices used several times over, where there
    are fewer than `ngpus`. "auto" stands for the best devices, as many as were `asked` for.
    """
    if devices == "auto":
        best = hardware.choose(asked)
        cutorch.configure(best)
        return list(range(1, len(best) + 1))
    if devices is None:
        listed = cutorch.devices()
        if ngpus > len(listed):
            cutorch.configure([listed[i % len(listed)] for i in range(ngpus)])
        return list(range(1, ngpus + 1))
    names = [name.strip() for name in devices.split(",")]
    if all(name.isdigit() for name in names):
        gpus = [int(name) for name in names]
        for gpu in gpus:
            cutorch.device(gpu)
        return gpus
    cutorch.configure(names)
    return list(range(1, len(names) + 1))


def _output_folder(args: argparse.Namespace, opt: Options) -> Path:
    """The folder to write to: never one with the checkpoint of another run."""
    if args.output is None and args.resume is not None:
        return Path(args.resume)
    if args.output is not None:
        if checkpoints.exists(args.output) and not _same_folder(args.output, args.resume):
            raise FileExistsError(
                f"{args.output} holds a checkpoint: go on with it by --resume {args.output}, "
                "or name another folder as --output"
            )
        return Path(args.output)
    folder, number = Path("runs") / opt.model, 1
    while checkpoints.exists(folder):
        number += 1
        folder = Path("runs") / f"{opt.model}-{number}"
    return folder


def _same_folder(one: str, other: str | None) -> bool:
    return other is not None and Path(one).resolve() == Path(other).resolve()


class _Session:
    """A training run: the epochs with their progress, checkpoints and the report at the end."""

    def __init__(
        self,
        trainer: Trainer,
        dataset: data.Dataset,
        folder: Path,
        latest: dict[str, Any],
        places: list[str],
    ) -> None:
        self.trainer = trainer
        self.opt = trainer.opt
        self.dataset = dataset
        self.folder = folder
        self.places = places
        self.epoch = latest.get("epoch", 0)
        self.tally = Tally(**latest.get("tally", {}))
        self.history: list[dict[str, float]] = list(latest.get("history") or [])

    def run(self) -> int:
        self._introduce()
        confusion = None
        with stop_requests() as stopped:
            while self.epoch < self.opt.epochs:
                confusion = self._run_epoch(stopped)
                self._save()
                if stopped():
                    print("Interrupted; the checkpoint holds every completed step.")
                    self._print_resume_command()
                    return INTERRUPTED
        if confusion is None:
            _, confusion = self.trainer.test(self.dataset.test, self.dataset.classes)
        self._report(confusion)
        return 0

    def _introduce(self) -> None:
        parameters = self.trainer.params.numel()
        channels, height, width = self.dataset.size
        print(
            f"{parameters:,} parameters on {', '.join(self.places)}; "
            f"{len(self.dataset.train):,} images of {channels}x{height}x{width} to train on, "
            f"{len(self.dataset.test):,} to test on, {self.dataset.classes} classes"
        )
        if self.epoch or self.tally.step:
            print(f"Resuming after epoch {self.epoch}, step {self.tally.step}")

    def _run_epoch(self, stopped: Callable[[], bool]) -> optim.ConfusionMatrix | None:
        """Train for the rest of an epoch and test; None where it was interrupted."""
        number, split = self.epoch + 1, self.dataset.train
        with tqdm(
            desc=f"Epoch {number}/{self.opt.epochs}",
            total=len(split),
            initial=self.tally.images,
            unit=" images",
            leave=False,
        ) as bar:
            for tally in self.trainer.train(number, split, self.tally):
                bar.set_postfix_str(
                    f"loss {tally.mean_loss:.4f}, accuracy {tally.accuracy:.1f} %", refresh=False
                )
                bar.update(tally.images - bar.n)
                if not math.isfinite(tally.loss):
                    raise ArithmeticError(
                        f"the loss is {tally.loss} in step {tally.step} of epoch {number}; "
                        f"try a learning rate below --lr {self.opt.lr:g}"
                    )
                if stopped() and tally.images < len(split):
                    return None
            rate = (bar.n - bar.initial) / bar.format_dict["elapsed"]

        loss, confusion = self.trainer.test(self.dataset.test, self.dataset.classes)
        self.history.append(
            {
                "trainLoss": tally.mean_loss,
                "trainAccuracy": tally.accuracy,
                "testLoss": loss,
                "testAccuracy": 100 * confusion.totalValid,
            }
        )
        print(
            f"epoch {number:3}  loss {tally.mean_loss:.4f}  train {tally.accuracy:5.1f} %  "
            f"test {100 * confusion.totalValid:5.1f} %  {rate:,.0f} images/s"
        )
        self.epoch, self.tally = number, Tally()
        return confusion

    def _save(self) -> None:
        checkpoints.save(
            self.folder,
            self.epoch,
            self.trainer.model,
            self.trainer.optimState,
            self.tally.step,
            tally=dataclasses.asdict(self.tally),
            history=self.history,
            opt=dataclasses.asdict(self.opt),
        )

    def _report(self, confusion: optim.ConfusionMatrix) -> None:
        print(confusion)
        print(f"Test accuracy: {100 * confusion.totalValid:.2f} %")
        picture = self.folder / "curves.png"
        try:
            plot(self.history, picture)
            print(f"Curves:        {picture}")
        except ImportError:
            print("Curves:        not drawn, for want of matplotlib (pip install matplotlib)")
        self._print_resume_command()

    def _print_resume_command(self) -> None:
        longer = f" --epochs {2 * self.opt.epochs}" if self.epoch >= self.opt.epochs else ""
        print(f"To go on:      dptable train --resume {self.folder}{longer}")
        print("               with --ngpus N for another number of devices")
