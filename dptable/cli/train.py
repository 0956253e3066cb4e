"""`dptable train`: train a network on several devices; also the example of a ported Torch7 script.

The `Trainer` follows the training scripts of the time (`train.lua` of fb.resnet.torch): feval,
optim.sgd, getParameters. Around it stand the command's options, progress and report.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import math
import os
import sys
import time
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
from dptable.container.data_parallel_table import DataParallelTable
from dptable.models import MODELS
from dptable.prefetch import Prefetcher
from dptable.processes.job import Job, started_by_torchrun, started_with
from dptable.sharding import ShardedParameters, load_distributed

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


def _positive(kind: type, or_zero: bool = False) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        value = kind(text)
        if not (0 < value < math.inf or (or_zero and value == 0)):
            accepted = "positive or 0" if or_zero else "positive"
            raise argparse.ArgumentTypeError(f"{text} given, must be {accepted}")
        return value

    parse.__name__ = kind.__name__
    return parse


@dataclass
class Options:
    """What a run does. Saved with every checkpoint, so that resuming need not repeat it."""

    data: str = _option(
        "",
        "a .t7 file {data, labels}, or {train, test} of such (default: the digits that come along)",
    )
    labels_from_zero: bool = _option(False, "the file's labels are 0…K-1: add 1 to each")
    model: str = _option("lenet", "the network", choices=sorted(MODELS))
    depth: int = _option(20, "layers of the residual net, 6n+2")
    shortcut: str = _option("A", "shortcuts of the residual net", choices=["A", "B", "C"])
    ngpus: int = _option(2, "train on this many devices", type=_positive(int))
    threads: bool = _option(True, "one worker thread per device")
    capture: bool = _option(False, "replay the steps as CUDA graphs")
    epochs: int = _option(20, "passes over the training images, in all", type=_positive(int))
    batch_size: int = _option(64, "images per step, on all devices together", type=_positive(int))
    sharded: bool = _option(False, "spread the optimizer's state over the processes")
    checkpoint_format: str = _option(
        "t7",
        "files that Torch7 reads, or of a sharded run distributed: each process writes its slices",
        choices=["t7", "distributed"],
    )
    lr: float = _option(0.05, "learning rate", type=_positive(float))
    schedule: str = _option(
        "cosine", "learning rate over the epochs: constant, cosine, or divided by 10 after 30,40,…"
    )
    lr_decay: float = _option(
        0.0,
        "learning rate decay per step, Torch7's learningRateDecay",
        type=_positive(float, or_zero=True),
    )
    momentum: float = _option(0.9, "momentum", type=_positive(float, or_zero=True))
    nesterov: bool = _option(True, "Nesterov's momentum")
    weight_decay: float = _option(5e-4, "weight decay", type=_positive(float, or_zero=True))
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
    parser.add_argument(
        "--output",
        help="folder of checkpoints and curves (default: that of --resume, or a new one: "
        "runs/MODEL, runs/MODEL-2, …)",
    )
    parser.add_argument(
        "--resume", metavar="FOLDER", help="go on from the checkpoint in this folder"
    )
    parser.add_argument(
        "--distributed",
        action="store_true",
        help="be one of the processes that torchrun starts, and drive this one's share of the "
        "devices, or --ngpus of them",
    )
    parser.add_argument(
        "--timeout",
        type=_positive(float),
        help="seconds to wait for another process (default: %(default)s)",
    )
    parser.add_argument(
        "--backend", help="of torch.distributed (default: gloo, for GPUs together with nccl)"
    )
    parser.set_defaults(
        **{"run": run, "devices": None, "output": None, "resume": None},
        **{"distributed": False, "timeout": 300.0, "backend": None},
    )


@dataclass
class Tally:
    """Sums over the steps of an epoch."""

    step: int = 0
    images: int = 0
    loss: float = 0.0
    correct: int = 0

    def add(self, images: float, loss: float, correct: float) -> None:
        """Count a step: its images, the sum of their losses and how many were recognised."""
        self.step += 1
        self.images += int(images)
        self.loss += loss
        self.correct += int(correct)

    @property
    def mean_loss(self) -> float:
        return self.loss / self.images

    @property
    def accuracy(self) -> float:
        """Per cent."""
        return 100 * self.correct / self.images


class Trainer:
    """Trains and tests a model by minibatches, of which every process of the job has its share."""

    def __init__(
        self,
        model: DataParallelTable,
        criterion: nn.Criterion,
        opt: Options,
        optimState: dict[str, Any] | None = None,
        job: Job | None = None,
        slices: Path | None = None,
    ) -> None:
        self.model = model
        self.criterion = criterion
        self.opt = opt
        self.job = Job() if job is None else job
        optimState = optimState or {"dampening": 0}
        self.sharded = ShardedParameters(model) if self.job.size > 1 and opt.sharded else None
        if self.sharded is not None:
            load = self.sharded.load_distributed
            optimState = load(slices) if slices else self.sharded.scatter_state(optimState)
        elif slices is not None:
            optimState = load_distributed(slices, model)
        if self.job.size > 1 and self.sharded is None:
            model.distribute()
        self.params, self.gradParams = model.getParameters()
        self.optimState = checkpoints.moved(optimState, like=self.params)
        self.optimState |= {key: getattr(opt, name) for name, key in STATE.items()}
        self.optimState["nesterov"] &= opt.momentum > 0

    def train(
        self,
        epoch: int,
        split: data.Split,
        tally: Tally,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[Tally]:
        """The rest of an epoch, of which `tally` is done; yields the tally after each step.

        All processes end early in the same step, after one of them was `stopped`.
        """
        self.optimState["learningRate"] = self.opt.learningRate(epoch)
        # A seed per epoch: a resumed run draws the same order of images.
        random.manualSeed(self.opt.seed + epoch)
        order = random.randperm(len(split)).long() - 1
        self.model.training()
        if self.job.rank:
            # The order is that of all; noise is each process's own.
            random.manualSeed(self.opt.seed + epoch + (self.job.rank << 32))
        rest = order[tally.images :].split(self.opt.batch_size) if tally.images < len(split) else ()
        batches = ((split.data[i], split.labels[i]) for i in map(self.job.share, rest))
        for input, target in Prefetcher(batches, self.params.device):
            counts = self._counts(self.step(input, target), target)
            *sums, stop = self.job.total(*counts, stopped())
            tally.add(*sums)
            yield tally
            if stop:
                return

    def _counts(self, loss: float, target: Tensor) -> tuple[int, float, int]:
        """What a tally counts of the latest forward pass."""
        if not len(target):
            return 0, 0.0, 0
        correct = (self.model.output.argmax(1) + 1 == target).sum()
        return len(target), loss * len(target), int(correct)

    def step(self, input: Tensor, target: Tensor) -> float:
        """One step of gradient descent; returns the loss before it, that of this process."""
        loss = 0.0

        def feval(x: Tensor) -> tuple[float, Tensor]:
            nonlocal loss
            self.model.zeroGradParameters()
            if len(target):
                loss = self.criterion.forward(self.model.forward(input), target)
                self.model.backward(input, self.criterion.backward(self.model.output, target))
            else:
                self.model.skip()
            return loss, self.gradParams

        if self.sharded is None:
            optim.sgd(feval, self.params, self.optimState)
        else:
            self.sharded.step(optim.sgd, feval, self.optimState)
        return loss

    def test(
        self, split: data.Split, classes: int, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[float, optim.ConfusionMatrix]:
        """The mean loss over a split and its confusion matrix; over a part of it if `stopped`."""
        confusion = optim.ConfusionMatrix(classes)
        tally = Tally()
        self.model.syncStatistics().evaluate()
        mine = self.job.share(torch.arange(len(split))).split(self.opt.batch_size)
        batches = ((split.data[i], split.labels[i]) for i in mine if len(i))
        for input, target in Prefetcher(batches, self.params.device):
            loss = self.criterion.forward(self.model.forward(input), target)
            tally.add(*self._counts(loss, target))
            confusion.batchAdd(self.model.output, target)
            if stopped():
                break
        self.model.training()
        self.job.add(confusion.mat)
        confusion.updateValids()
        images, loss = self.job.total(tally.images, tally.loss)
        return loss / images, confusion

    def wholeState(self) -> dict[str, Any]:
        """The optimizer's state as one process has it; in rank 0 only, if it is sharded."""
        if self.sharded is None:
            return self.optimState
        return self.sharded.gather_state(self.optimState) or {}


def run(args: argparse.Namespace) -> int:
    """Train, test, save; returns 0, or 130 after Ctrl-C."""
    if not args.distributed:
        if (size := started_with()) > 1:
            raise RuntimeError(
                f"torchrun started {size} processes, each of which would train alone; "
                "give --distributed"
            )
        return _run(args, Job())
    with started_by_torchrun() as job, contextlib.ExitStack() as stack:
        gpus = _chosen_gpus(args.devices, 1, vars(args).get("ngpus"), job)
        job.join(args.backend or _backend(gpus, job), args.timeout)
        if job.rank:
            silence = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(contextlib.redirect_stdout(silence))
        return _run(args, job, gpus)


def _run(args: argparse.Namespace, job: Job, gpus: list[int] | None = None) -> int:
    latest, model, optimState, slices, opt, folder = job.decided(lambda: _beginning(args, job))
    dataset = data.load(opt.data or None, zero_based=opt.labels_from_zero).normalized()
    if gpus is None:
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
        trainer = Trainer(replicated, criterion, opt, optimState, job, slices)
        driven = job.everybody([str(cutorch.device(gpu)) for gpu in gpus])
        places = [place for mine in driven for place in mine]
        folder = folder or job.decided(lambda: _new_folder(opt.model))
        return _Session(trainer, dataset, folder, latest, places).run()
    finally:
        replicated.close_group()
        replicated.close()
        torch.set_num_threads(threads)


Beginning = tuple[
    dict[str, Any], nn.Module | None, dict[str, Any] | None, Path | None, Options, Path | None
]


def _beginning(args: argparse.Namespace, job: Job) -> Beginning:
    """What a run starts from: the checkpoint, if there is one, the options, the folder if named."""
    args = argparse.Namespace(**vars(args))
    if interrupted := _folder_of_the_last_attempt(args, job):
        args.resume = args.output = str(interrupted)
    latest: dict[str, Any] = {}
    model, optimState, slices = None, None, None
    if args.resume:
        slices = checkpoints.slices(args.resume)
        if slices is None:
            latest, model, optimState = checkpoints.latest(args.resume)
        else:
            latest = checkpoints.table(args.resume)
    saved = latest.get("opt") or _options_in(optimState)
    _refuse_another_net(saved, args)
    opt = Options.merged(saved, vars(args))
    if vars(args).get("checkpoint_format") == "distributed":
        _refuse_slices(opt, job, described=model is None or "model" in saved)
    return latest, model, optimState, slices, opt, _output_folder(args)


def _refuse_slices(opt: Options, job: Job, described: bool) -> None:
    if not opt.sharded or job.size == 1:
        raise ValueError("checkpoint-format: distributed given, which needs --sharded processes")
    if not described:
        raise ValueError(
            "checkpoint-format: distributed given, but only files hold a net that no option names"
        )


def _refuse_another_net(saved: dict[str, Any], args: argparse.Namespace) -> None:
    given = vars(args)
    for name in ("model", "depth", "shortcut"):
        if name in given and name in saved and given[name] != saved[name]:
            raise ValueError(
                f"{name}: {given[name]} given, but the net in {args.resume} is of {saved[name]}"
            )


def _folder_of_the_last_attempt(args: argparse.Namespace, job: Job) -> Path | None:
    """Where an earlier attempt of this job left a checkpoint, if torchrun starts it again."""
    if not job.restarts:
        return None
    folders = (
        [Path(args.output or args.resume)] if args.output or args.resume else Path("runs").glob("*")
    )
    for folder in folders:
        if checkpoints.exists(folder) and job.left(checkpoints.table(folder)):
            return folder
    return None


def _backend(gpus: list[int], job: Job) -> str:
    """What carries tensors between processes: NCCL between GPUs that processes do not share."""
    places = [cutorch.device(gpu) for gpu in gpus]
    if any(place.type != "cuda" for place in places):
        return "gloo"
    alone = len(places) * job.local_size <= torch.cuda.device_count()
    return "cpu:gloo,cuda:nccl" if alone else "gloo"


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
        if not on_gpus:
            # So would this thread's own, which go on spinning for a while when they have done.
            torch.set_num_threads(share)
    dpt.gradInput = None
    return dpt.cuda() if on_gpus else dpt.float()


def _chosen_gpus(
    devices: str | None, ngpus: int, asked: int | None = None, job: Job | None = None
) -> list[int]:
    """The GPU ids of a list like "1,2" or "cpu,cpu", or else the first `ngpus` logical devices.

    Names become the list of logical devices; so do devices used several times over, where there
    are fewer than `ngpus`. "auto" stands for the best devices, as many as were `asked` for. With
    a job it is this process's share of such a list, or if none is given `asked` of all devices.
    """
    if devices == "auto":
        best = hardware.choose(asked and asked * (job.local_size if job else 1))
        cutorch.configure(job.devices(best) if job else best)
        return list(range(1, len(cutorch.devices()) + 1))
    if devices is None:
        listed = cutorch.devices()
        if job is not None:
            cutorch.configure(job.devices(listed, asked))
            return list(range(1, len(cutorch.devices()) + 1))
        if ngpus > len(listed):
            cutorch.configure([listed[i % len(listed)] for i in range(ngpus)])
        return list(range(1, ngpus + 1))
    names = [name.strip() for name in devices.split(",")]
    if job is not None:
        names = job.devices(names)
    if asked is not None and asked != len(names):
        raise ValueError(f"ngpus: {asked} given, but devices lists {len(names)}: give one of them")
    if all(name.isdigit() for name in names):
        gpus = [int(name) for name in names]
        for gpu in gpus:
            cutorch.device(gpu)
        return gpus
    cutorch.configure(names)
    return list(range(1, len(names) + 1))


def _output_folder(args: argparse.Namespace) -> Path | None:
    """The folder to write to, if it has a name: never one with the checkpoint of another run."""
    if args.output is None and args.resume is not None:
        return Path(args.resume)
    if args.output is not None:
        if checkpoints.exists(args.output) and not _same_folder(args.output, args.resume):
            raise FileExistsError(
                f"{args.output} holds a checkpoint: go on with it by --resume {args.output}, "
                "or name another folder as --output"
            )
        return Path(args.output)
    return None


def _new_folder(model: str) -> Path:
    """Make a folder for this run, which another one that starts at the same time does not get."""
    for number in itertools.count(1):
        folder = Path("runs") / (model if number == 1 else f"{model}-{number}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            break
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
        self.job = trainer.job
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
        if self.job.rank == 0:
            self.folder.mkdir(parents=True, exist_ok=True)  # a failure now costs no epoch
        with stop_requests() as stopped:
            while self.epoch < self.opt.epochs:
                confusion = self._run_epoch(stopped)
                self._save()
                if any(self.job.total(stopped())):
                    print("Interrupted; the checkpoint holds every completed step.")
                    self._print_resume_command()
                    return INTERRUPTED
        if confusion is None:
            _, confusion = self.trainer.test(self.dataset.test, self.dataset.classes)
        if self.job.rank == 0:
            self._report(confusion)
        return 0

    def _introduce(self) -> None:
        parameters = self.trainer.params.numel()
        channels, height, width = self.dataset.size
        print(
            f"{parameters:,} parameters on {', '.join(self.places)}{self._processes()}; "
            f"{len(self.dataset.train):,} images of {channels}x{height}x{width} to train on, "
            f"{len(self.dataset.test):,} to test on, {self.dataset.classes} classes"
        )
        if self.epoch or self.tally.step:
            print(f"Resuming after epoch {self.epoch}, step {self.tally.step}")
        if self.epoch >= self.opt.epochs:
            print(f"Nothing is left to train of --epochs {self.opt.epochs}")

    def _processes(self) -> str:
        return f" in {self.job.size} processes" if self.job.size > 1 else ""

    def _run_epoch(self, stopped: Callable[[], bool]) -> optim.ConfusionMatrix | None:
        """Train for the rest of an epoch and test; None where it was interrupted."""
        number, split = self.epoch + 1, self.dataset.train
        on_terminal = sys.stderr.isatty()
        interval = 0.1 if on_terminal else 5
        with tqdm(
            desc=f"Epoch {number}/{self.opt.epochs}",
            total=len(split),
            initial=self.tally.images,
            unit=" images",
            leave=False,
            # A file is not rewritten as a terminal's line is.
            mininterval=interval,
            delay=0 if on_terminal else interval,
            disable=self.job.rank > 0,
        ) as bar:
            start, begin = time.perf_counter(), self.tally.images
            for tally in self.trainer.train(number, split, self.tally, stopped):
                bar.set_postfix_str(
                    f"loss {tally.mean_loss:.4f}, accuracy {tally.accuracy:.1f} %", refresh=False
                )
                bar.update(tally.images - bar.n)
                if not math.isfinite(tally.loss):
                    raise ArithmeticError(
                        f"the loss is {tally.loss} in step {tally.step} of epoch {number}; "
                        f"try a learning rate below --lr {self.opt.lr:g}"
                    )
            rate = (self.tally.images - begin) / (time.perf_counter() - start)
        if self.tally.images < len(split):
            return None

        loss, confusion = self.trainer.test(self.dataset.test, self.dataset.classes, stopped)
        if any(self.job.total(stopped())):
            return None
        tally = self.tally
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
        trainer, sharded = self.trainer, self.trainer.sharded
        more = {
            "tally": dataclasses.asdict(self.tally),
            "history": self.history,
            "opt": dataclasses.asdict(self.opt),
            **self.job.marks(),
        }
        if sharded is not None and self.opt.checkpoint_format == "distributed":
            number, state = self.epoch, trainer.optimState
            checkpoints.save_distributed(
                self.folder, number, sharded, state, self.tally.step, **more
            )
            return
        state = trainer.wholeState()
        if self.job.rank == 0:
            checkpoints.save(self.folder, self.epoch, trainer.model, state, self.tally.step, **more)

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
        longer = f" --epochs {2 * self.epoch}" if self.epoch >= self.opt.epochs else ""
        print(f"To go on:      dptable train --resume {self.folder}{longer}")
        print("               with --ngpus N for another number of devices")
