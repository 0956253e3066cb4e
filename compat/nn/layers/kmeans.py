"""``nn.Kmeans``: clustering as a layer."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, number
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import check_type
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import kmeans as f


class Kmeans(Layer):
    """The number of the nearest cluster center; training moves centers to their samples' mean.

    Torch7: ``nn.Kmeans``.

    Args:
        k: the number of centers, the rows of ``weight``.
        dim: the number of features.
        scale: how far a center moves, from 0 to 1; by default the ``scale`` of backward.

    Shapes: input ``N x dim``; output ``N``, the numbers of the nearest centers, from 1. gradInput
    is 0. The field ``loss`` is the sum of the squared distances.
    """

    scratch_fields = (
        *("_expandedSamples", "_clusterDistances", "_temp", "_tempExpanded", "_tempWeight"),
        *("_tempWeightExp", "_expandedWeight", "_minScore", "_minIndx", "_cscAdder"),
        *("_gradWeight", "_gradWeight2", "_ccounts"),
    )
    scale: Scalar | None = None
    p: Scalar | None = None

    def __init__(self, k: int, dim: int, scale: Scalar | None = None) -> None:
        super().__init__()
        if scale is not None and number(scale, "scale") <= 0:
            raise ValueError(f"scale is {scale}; a positive number is accepted")
        self.weight = empty(k=k, dim=dim)
        self.k, self.dim = self.weight.shape
        self.scale = scale
        self.loss: Scalar = 0
        self.clusterSampleCount = torch.zeros(self.k)
        self.reset()

    def reset(self, stdev: Scalar | None = None) -> Kmeans:
        """Draw the centers evenly from -``stdev`` to ``stdev``, 1 by default."""
        bound = 1 if stdev is None else stdev
        random.uniform_(self.weight, -bound, bound)
        return self

    def initRandom(self, input: Tensor) -> Kmeans:
        """Put the centers on samples of ``input``, ``N x dim``, drawn with replacement."""
        self._check(input, self.k)
        for center in self.weight:
            center.copy_(input[random.random(1, len(input)) - 1])
        return self

    def initKmeansPlus(self, input: Tensor, p: Scalar | None = None) -> Kmeans:
        """Put each center on one of the samples farthest from those before (k-means++).

        Args:
            input: ``N x dim``.
            p: the center is drawn from the ``1 - p`` farthest of the samples; 0.95 by default.
        """
        self._check(input, 1)
        p = number(p if p is not None else 0.95 if self.p is None else self.p, "p")
        if not 0 <= p <= 1:
            raise ValueError(f"p is {p}; 0 to 1 is accepted")
        self.p = p
        farthest = max(math.ceil((1 - p) * len(input)), 1)
        self.weight[0] = input[random.random(len(input)) - 1]
        distances = input.new_full((len(input),), math.inf)
        for i in range(1, self.k):
            squares = (input - self.weight[i - 1]).square().sum(1)
            distances = torch.minimum(distances, squares)
            order = distances.sort(descending=True).indices
            self.weight[i] = input[order[random.random(farthest) - 1]]
        return self

    def _check(self, input: Tensor, least: int = 0) -> None:
        check_type(check_tensor(input), self.weight)
        if input.dim() != 2 or input.size(1) != self.dim:
            raise ValueError(f"input has size {tuple(input.shape)}; N x {self.dim} is accepted")
        if len(input) < least:
            raise ValueError(f"input has {len(input)} samples; at least {least} are accepted")

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        squares, numbers = f.nearest(input, self.weight)
        self.loss = squares.sum().item()
        return self.set_output((numbers + 1).to(input.dtype))

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Tensor | None:
        return self.set_gradInput(torch.zeros_like(input))

    def accGradParameters(self, input: Tensor, gradOutput: Any, scale: Scalar = 1) -> None:
        """Add to ``gradWeight`` how far each center is from the mean of its samples."""
        scale = number(scale if self.scale is None else self.scale, "scale")
        numbers = (self.output - 1).long()
        self.clusterSampleCount = torch.bincount(numbers, minlength=self.k).to(self.weight)
        if self.gradWeight is not None:
            offsets = f.offsets_from_means(input, self.weight, numbers, self.clusterSampleCount)
            self.gradWeight.add_(offsets, alpha=scale)
