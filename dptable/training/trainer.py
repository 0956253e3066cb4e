"""Training and testing a net by minibatches; also an example of a ported Torch7 script.

It follows the training scripts of the time (``train.lua`` of fb.resnet.torch): feval, optim.sgd,
getParameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from compat import accelerators, cutorch, nn, optim, random
from compat.checks import number, whole, wrong_type
from dptable import checkpoints, data
from dptable.container.data_parallel_table import DataParallelTable
from dptable.prefetch import Prefetcher
from dptable.processes.job import Job
from dptable.sharding import ShardedParameters, load_distributed
from dptable.training import faults
from dptable.training.options import STATE, Options


@dataclass
class Tally:
    """Sums over the steps of an epoch."""

    step: int = 0
    images: int = 0
    loss: float = 0.0
    correct: int = 0

    @classmethod
    def of(cls, held: Any) -> Tally:
        """The sums that a file holds."""
        held = held or {}
        if not isinstance(held, dict):
            raise wrong_type(held, "tally", "a table")
        step, images, correct = (
            whole(held.get(name, 0), f"tally: {name}", 0) for name in ("step", "images", "correct")
        )
        return cls(step, images, number(held.get("loss", 0.0), "tally: loss"), correct)

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

    def check_loss(self, epoch: int, remedy: str) -> None:
        """Raise ArithmeticError where the loss is no finite number any more; say what to try."""
        if not math.isfinite(self.loss):
            raise ArithmeticError(
                f"the loss is {self.loss} in step {self.step} of epoch {epoch}; try {remedy}"
            )


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
        """The rest of an epoch, of which ``tally`` is done; yields the tally after each step.

        All processes end early in the same step, after one of them was ``stopped``.
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
            counts = self._counts(self._explained_step(input, target, epoch, tally), target)
            *sums, stop = self.job.total(*counts, stopped())
            tally.add(*sums)
            yield tally
            if stop:
                return

    def _explained_step(self, input: Tensor, target: Tensor, epoch: int, tally: Tally) -> float:
        """``step``; its errors tell which step it was, and what may help."""
        step = f"step {tally.step + 1} of epoch {epoch}"
        try:
            return self.step(input, target)
        except ArithmeticError as error:
            rate = f"try a learning rate below --lr {self.opt.lr:g}"
            raise ArithmeticError(f"{error} in {step}; {rate}") from error
        except (RuntimeError, MemoryError) as error:
            if not faults.is_out_of_memory(error):
                raise
            size, cause = self.opt.batch_size, str(error).strip().partition("\n")[0]
            cause = cause or type(error).__name__
            raise RuntimeError(
                f"too little memory for {step}, a batch of {len(input):,} images: try --batch-size "
                f"{max(1, size // 2)} (it is {size}), or more devices by --ngpus; {cause}"
            ) from error

    def _check_finite(self, what: str, value: Tensor, input: Tensor, target: Tensor) -> None:
        """Raise ArithmeticError with the place where it arose, before anything is updated."""
        if not faults.is_finite(value):
            place = faults.origin(self.model, self.criterion, input, target)
            raise ArithmeticError(f"{what} is not finite{f', from {place}' if place else ''},")

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
                self._check_finite("the loss", torch.as_tensor(loss), input, target)
                self.model.backward(input, self.criterion.backward(self.model.output, target))
                self._check_finite("the gradient", self.gradParams, input, target)
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
        """The mean loss over a split and its confusion matrix; over a part of it if ``stopped``."""
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


def replicated(model: nn.Module, gpus: list[int], threads: bool) -> DataParallelTable:
    """``model`` on several devices, with flat parameters and the threads that suit the machine.

    What is inside it is freed as it goes back (``keepResults``).

    Args:
        model: the net.
        gpus: GPU ids, counted from 1.
        threads: whether each replica runs in a worker thread. On CPUs the number of threads inside
            operators becomes that of one replica, in this thread too.
    """
    places = [cutorch.device(gpu) for gpu in gpus]
    on_gpus = all(map(accelerators.is_accelerator, places))
    distinct = len(set(places)) == len(places) > 1
    usenccl = distinct and all(place.type == "cuda" for place in places)
    dpt = DataParallelTable(1, True, usenccl).add(model.keepResults(False), gpus)
    if threads:
        # The replicas share the cores: operators that each start a thread per core would be slower.
        share = max(1, torch.get_num_threads() // len(gpus))
        dpt.threads(lambda: torch.set_num_threads(share))
        if not on_gpus:
            # So would this thread's own, which go on spinning for a while when they have done.
            torch.set_num_threads(share)
    dpt.gradInput = None
    return dpt.cuda() if on_gpus else dpt.float()
