"""Train and test a net by minibatches; also an example of a ported Torch7 script.

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
    """Running sums over the steps of an epoch.

    Attributes:
        step: the number of completed steps.
        images: the number of images in them.
        loss: the sum of the images' losses.
        correct: the number of images whose class was recognised.
    """

    step: int = 0
    images: int = 0
    loss: float = 0.0
    correct: int = 0

    @classmethod
    def from_table(cls, held: Any) -> Tally:
        """Make a tally from the table in a checkpoint file; None gives an empty tally."""
        held = held or {}
        if not isinstance(held, dict):
            raise wrong_type(held, "tally", "a table")
        step, images, correct = (
            whole(held.get(name, 0), f"tally: {name}", 0) for name in ("step", "images", "correct")
        )
        return cls(step, images, number(held.get("loss", 0.0), "tally: loss"), correct)

    def add(self, images: float, loss: float, correct: float) -> None:
        """Add a step: its images, the sum of their losses and how many were recognised."""
        self.step += 1
        self.images += int(images)
        self.loss += loss
        self.correct += int(correct)

    @property
    def mean_loss(self) -> float:
        return self.loss / self.images

    @property
    def accuracy(self) -> float:
        """The share of recognised images, in per cent."""
        return 100 * self.correct / self.images

    def check_loss(self, epoch: int, remedy: str) -> None:
        """Raise ArithmeticError if the loss is NaN or infinite; the message suggests ``remedy``."""
        if not math.isfinite(self.loss):
            raise ArithmeticError(
                f"the loss is {self.loss} in step {self.step} of epoch {epoch}; try {remedy}"
            )


class Trainer:
    """Train and test a model by minibatches.

    In a job of several processes each of them computes its share of every batch.

    Args:
        model: the net on its devices.
        criterion: the loss, a mean over the batch.
        opt: the options of the run.
        optimState: the optimizer's state of a checkpoint; default: a new one.
        job: the processes that train together; default: this process alone.
        slices: the folder of a distributed checkpoint to load instead of ``optimState``.
    """

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
        """Train for the rest of an epoch.

        Args:
            epoch: the epoch, counted from 1.
            split: the images to train on.
            tally: the sums of the steps that were done before, of which training goes on.
            stopped: asked after each step whether to stop. If any process says yes, all stop after
                the same step.

        Yields:
            ``tally`` after each step.
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
        """Call ``step``; add to its errors which step failed and what may help."""
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
        """Raise ArithmeticError if ``value`` has a NaN or infinity; the message names its origin.

        This runs before the optimizer, so the parameters are still those of the step before.
        """
        if not faults.is_finite(value):
            place = faults.origin(self.model, self.criterion, input, target)
            raise ArithmeticError(f"{what} is not finite{f', from {place}' if place else ''},")

    def _counts(self, loss: float, target: Tensor) -> tuple[int, float, int]:
        """Return images, summed loss and recognised images of the latest forward pass."""
        if not len(target):
            return 0, 0.0, 0
        correct = (self.model.output.argmax(1) + 1 == target).sum()
        return len(target), loss * len(target), int(correct)

    def step(self, input: Tensor, target: Tensor) -> float:
        """Take one step of gradient descent.

        Args:
            input: this process's images, N×C×H×W, on the first device.
            target: their classes, N, counted from 1.

        Returns:
            The mean loss of these images before the step.

        Raises:
            ArithmeticError: the loss or the gradient is not finite. The parameters are unchanged.
        """
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
        """Test the net on a split.

        Args:
            split: the images to test on.
            classes: the number of classes.
            stopped: asked after each batch whether to stop; the results are then those of a part.

        Returns:
            The mean loss and the confusion matrix, over all processes.
        """
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
        """Return the optimizer's state as one process would have it.

        A sharded state is gathered on rank 0; the other ranks get an empty table.
        """
        if self.sharded is None:
            return self.optimState
        return self.sharded.gather_state(self.optimState) or {}


def replicated(model: nn.Module, gpus: list[int], threads: bool) -> DataParallelTable:
    """Put ``model`` on several devices, with flat parameters.

    Inner results are freed during backward (``keepResults(False)``).

    Args:
        model: the net.
        gpus: GPU ids, counted from 1.
        threads: run each replica in a worker thread. On CPUs this also sets the number of threads
            inside operators, of the caller too, to one replica's share.
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
