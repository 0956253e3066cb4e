"""The training loop, the test and the learning rates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from compat import nn, optim
from compat import torch as torch7
from compat.cmdline import Options
from dptable import checkpoints

Batches = Iterable[tuple[Tensor, Tensor]]


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

    def train(self, epoch: int, batches: Batches) -> tuple[float, float, float]:
        """An epoch. Returns the top-1 and top-5 errors in per cent, and the loss."""
        self.optimState["learningRate"] = self.learningRate(epoch)
        # A resumed run draws the images in the same order.
        torch.manual_seed(self.opt.manualSeed + epoch)
        timer, dataTimer = torch7.Timer(), torch7.Timer()
        top1Sum = top5Sum = lossSum = 0.0
        N = 0

        def feval(x: Tensor) -> tuple[float, Tensor]:
            return self.criterion.output, self.gradParams

        print(f"=> Training epoch # {epoch}")
        self.model.training()
        for n, (input, target) in enumerate(batches, 1):
            dataTime = dataTimer.time().real
            target = target.to(self.params.device)

            output = self.model.forward(input)
            loss = self.criterion.forward(output, target)
            self.model.zeroGradParameters()
            self.model.backward(input, self.criterion.backward(output, target))
            optim.sgd(feval, self.params, self.optimState)

            top1, top5 = self.computeScore(output, target)
            top1Sum += top1 * len(target)
            top5Sum += top5 * len(target)
            lossSum += loss * len(target)
            N += len(target)
            print(
                f" | Epoch: [{epoch}][{n}]    Time {timer.time().real:.3f}  Data {dataTime:.3f}  "
                f"Err {loss:1.4f}  top1 {top1:7.3f}  top5 {top5:7.3f}"
            )
            timer.reset()
            dataTimer.reset()
        return top1Sum / N, top5Sum / N, lossSum / N

    def test(self, epoch: int, batches: Batches) -> tuple[float, float]:
        """The top-1 and top-5 errors in per cent."""
        top1Sum = top5Sum = 0.0
        N = 0
        self.model.evaluate()
        for input, target in batches:
            output = self.model.forward(input)
            top1, top5 = self.computeScore(output, target.to(output.device))
            top1Sum += top1 * len(target)
            top5Sum += top5 * len(target)
            N += len(target)
        self.model.training()
        print(f" * Finished epoch # {epoch}     top1: {top1Sum / N:7.3f}  top5: {top5Sum / N:7.3f}")
        return top1Sum / N, top5Sum / N

    def computeScore(self, output: Tensor, target: Tensor) -> tuple[float, float]:
        _, indices = output.float().topk(min(5, output.size(1)), 1, True, True)
        # topk counts from 0, labels count from 1.
        correct = (indices + 1).eq(target.view(-1, 1))
        top1 = 1 - correct.narrow(1, 0, 1).sum().item() / len(target)
        top5 = 1 - correct.sum().item() / len(target)
        return 100 * top1, 100 * top5

    def learningRate(self, epoch: int) -> float:
        decay = 2 if epoch >= 122 else 1 if epoch >= 81 else 0
        return self.opt.LR * 0.1**decay
