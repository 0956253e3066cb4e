"""``nn.StochasticGradient``: a ready-made trainer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat import random, t7
from compat.nn.core.module import Module
from compat.nn.criterions.base import Criterion, gradient_of, loss_of


def _examples(dataset: Any) -> tuple[int, Callable[[int], Any]]:
    """Return how many examples there are, and a function that takes one when its turn comes,
    counted from 0: a dataset may hand out the same tensors for all.
    """
    if isinstance(dataset, dict):
        size = dataset.get("size", sum(isinstance(key, int) for key in dataset))
        return int(size(dataset) if callable(size) else size), lambda i: dataset[i + 1]
    if not hasattr(dataset, "__len__") and callable(getattr(dataset, "size", None)):
        return int(dataset.size()), lambda i: dataset[i + 1]
    held = list(dataset) if isinstance(dataset, t7.List) else dataset
    return len(held), lambda i: held[i]


class StochasticGradient:
    """Trains a module on one example at a time (Torch7: ``nn.StochasticGradient``).

    Args:
        module: what is trained.
        criterion: the loss.

    Fields that may be set:
        learningRate: 0.01; in iteration i it is ``learningRate / (1 + i * learningRateDecay)``.
        learningRateDecay: 0.
        maxIteration: 25 passes over the data; 0 or less for no end.
        shuffleIndices: whether to draw an order, one for all iterations.
        verbose: whether to print the mean loss of each iteration.
        hookExample: called with the trainer and the example after each one.
        hookIteration: called with the trainer, the number of the iteration, from 1, and the loss.

    Examples:
        >>> from compat import nn
        >>> trainer = nn.StochasticGradient(nn.Linear(2, 1), nn.MSECriterion())
        >>> trainer.maxIteration, trainer.verbose = 2, False
    """

    hookExample: Callable[[StochasticGradient, Any], Any] | None = None
    hookIteration: Callable[[StochasticGradient, int, float], Any] | None = None

    def __init__(self, module: Module, criterion: Criterion) -> None:
        self.learningRate = 0.01
        self.learningRateDecay = 0.0
        self.maxIteration = 25
        self.shuffleIndices = True
        self.module = module
        self.criterion = criterion
        self.verbose = True

    def train(self, dataset: Any) -> float:
        """Train on ``dataset`` and return the mean loss of the last iteration.

        Args:
            dataset: the examples, each a pair of input and target: a sequence, a table of a file,
                or anything with ``len`` and indices from 0; or, as Lua counts, from 1 to n: a dict,
                perhaps with a function ``size`` of the dict that gives n, or an object without
                ``len`` whose method ``size`` gives it.
        """
        count, example = _examples(dataset)
        if not count:
            raise ValueError("dataset is empty; at least one sample is accepted")
        # Drawn in any case, as Torch7 does, so that seeded runs agree.
        drawn = [int(i) - 1 for i in random.randperm(count)]
        order = drawn if self.shuffleIndices else range(count)
        rate, iteration = self.learningRate, 1
        print("# StochasticGradient: training")
        while True:
            error = sum(self._step(example(i), rate) for i in order) / count
            if self.hookIteration is not None:
                self.hookIteration(self, iteration, error)
            if self.verbose:
                print(f"# current error = {error:.14g}")
            iteration += 1
            rate = self.learningRate / (1 + iteration * self.learningRateDecay)
            if 0 < self.maxIteration < iteration:
                print("# StochasticGradient: you have reached the maximum number of iterations")
                print(f"# training error = {error:.14g}")
                return error

    def _step(self, example: Any, rate: float) -> float:
        pair = list(example) if isinstance(example, t7.List) else example
        input, target = pair[0], pair[1]
        loss = loss_of(self.criterion, self.module.forward(input), target)
        gradient = gradient_of(self.criterion, self.module.output, target)
        self.module.updateGradInput(input, gradient)
        self.module.accUpdateGradParameters(input, gradient, rate)
        if self.hookExample is not None:
            self.hookExample(self, example)
        return loss


t7.register("nn.StochasticGradient", StochasticGradient)
