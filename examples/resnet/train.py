"""The training loop, the test and the learning rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from compat import nn, optim
from compat import torch as torch7
from compat.cmdline import Options
from dptable import checkpoints, training

Batches = Iterable[tuple[Tensor, Tensor]]


@dataclass
class Tally(training.Tally):
    """Sums over the steps of an epoch."""

    correct5: int = 0

    @property
    def accuracy5(self) -> float:
        """How often the right class is among the first five, in per cent."""
        return 100 * self.correct5 / self.images


class Trainer:
    """Trains and tests a model. ``optimState`` is that of a checkpoint, or None at the start."""

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
        if optimState is None:
            optimState = {
                "learningRate": opt.LR,
                "learningRateDecay": 0,
                "momentum": opt.momentum,
                "nesterov": True,
                "dampening": 0,
                "weightDecay": opt.weightDecay,
            }
        self.optimState = checkpoints.moved(optimState, like=self.params)

    def train(
        self,
        epoch: int,
        batches: Batches,
        tally: Tally | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> tuple[float, float, float]:
        """An epoch, or the rest of one of which ``tally`` is done; it ends early when ``stopped``.

        Returns the top-1 and top-5 errors in per cent, and the loss. Field ``tally`` has the sums.

        Raises ArithmeticError when the loss is no number any more.
        """
        self.optimState["learningRate"] = self.learningRate(epoch)
        self.tally = tally = tally or Tally()
        # A resumed run changes the images in the same way.
        torch.manual_seed(self.opt.manualSeed + epoch)
        timer, dataTimer = torch7.Timer(), torch7.Timer()

        def feval(x: Tensor) -> tuple[float, Tensor]:
            return self.criterion.output, self.gradParams

        print(f"=> Training epoch # {epoch}")
        self.model.training()
        for input, target in batches:
            dataTime = dataTimer.time().real
            input = input.to(self.params.dtype)
            target = target.to(self.params.device)

            output = self.model.forward(input)
            loss = self.criterion.forward(output, target)
            self.model.zeroGradParameters()
            self.model.backward(input, self.criterion.backward(output, target))
            optim.sgd(feval, self.params, self.optimState)

            top1, top5 = self.computeScore(output, target)
            right1, right5 = (round((1 - top / 100) * len(target)) for top in (top1, top5))
            tally.add(len(target), loss * len(target), right1)
            tally.correct5 += right5
            print(
                f" | Epoch: [{epoch}][{tally.step}]    Time {timer.time().real:.3f}  "
                f"Data {dataTime:.3f}  Err {loss:1.4f}  top1 {top1:7.3f}  top5 {top5:7.3f}"
            )
            rate = self.optimState["learningRate"]
            tally.check_loss(epoch, f"a learning rate below {rate:g} (--LR)")
            if stopped():
                break
            timer.reset()
            dataTimer.reset()
        return 100 - tally.accuracy, 100 - tally.accuracy5, tally.mean_loss

    def test(
        self, epoch: int, batches: Batches, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[float, float]:
        """The top-1 and top-5 errors in per cent; of a part of the batches if ``stopped``."""
        top1Sum = top5Sum = 0.0
        N = 0
        self.model.evaluate()
        for input, target in batches:
            nCrops = 1
            if input.dim() == 5:
                nCrops = input.size(1)
                input = input.flatten(0, 1)
            output = self.model.forward(input.to(self.params.dtype))
            top1, top5 = self.computeScore(output, target.to(output.device), nCrops)
            top1Sum += top1 * len(target)
            top5Sum += top5 * len(target)
            N += len(target)
            if stopped():
                break
        self.model.training()
        print(f" * Finished epoch # {epoch}     top1: {top1Sum / N:7.3f}  top5: {top5Sum / N:7.3f}")
        return top1Sum / N, top5Sum / N

    def computeScore(self, output: Tensor, target: Tensor, nCrops: int = 1) -> tuple[float, float]:
        output = output.float().view(-1, nCrops, output.size(1)).sum(1)
        _, indices = output.topk(min(5, output.size(1)), 1, True, True)
        # topk counts from 0, labels count from 1.
        correct = (indices + 1).eq(target.view(-1, 1))
        top1 = 1 - correct.narrow(1, 0, 1).sum().item() / len(target)
        top5 = 1 - correct.sum().item() / len(target)
        return 100 * top1, 100 * top5

    def learningRate(self, epoch: int) -> float:
        if self.opt.get("dataset") == "imagenet":
            decay = (epoch - 1) // 30
        else:
            decay = 2 if epoch >= 122 else 1 if epoch >= 81 else 0
        return self.opt.LR * 0.1**decay
