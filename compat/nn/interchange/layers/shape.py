"""Layers that give the elements of their input in another shape or order, or repeat them."""

# TorchScript has no starred expressions.
# ruff: noqa: RUF005

from __future__ import annotations

import math
from typing import Any

from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.interchange.computed import computes
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.modules import OverSamples, WithSettings
from compat.nn.interchange.pairs import (
    Setting,
    counted,
    known_dims,
    of_samples,
    pair,
    sample_dims,
)
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import shape as torch7


class View(WithSettings):
    """The input in the shape of samples; more elements than one sample are a batch.

    With ``sample_dims`` the dimensions before those of a sample are the batch. Without, a batch of
    one stays a batch, which Torch7 takes for a sample.

    PyTorch: ``torch.Tensor.view``.
    """

    shown = ("size", "sample_dims")

    def __init__(self, size: list[int], sample_dims: int = -1) -> None:
        super().__init__()
        self.size = size
        self.sample_dims = sample_dims
        self.inferred = -1 in size
        self.elements = math.prod(n for n in size if n >= 0)

    def forward(self, input: Tensor) -> Tensor:
        leading = input.dim() - self.sample_dims if self.sample_dims >= 0 else 0
        if leading > 0 and self.inferred:
            batch = input.flatten(0, leading - 1)
            return batch.reshape([batch.size(0)] + self.size)
        one = self.sample_dims < 0 and input.dim() > 1 and input.size(0) == 1
        if leading <= 0 and (self.inferred or (input.numel() == self.elements and not one)):
            return input.reshape(self.size)
        return input.reshape([-1] + self.size)


class Reshape(WithSettings):
    """The input in the shape of samples; the first dimension is the batch.

    ``batch`` False: the input is one sample. None: an input with the elements of
    one sample is one sample, unless its first dimension is 1.

    PyTorch: ``torch.reshape``.
    """

    shown = ("size", "batch")

    def __init__(self, size: list[int], batch: bool | None = None) -> None:
        super().__init__()
        self.size = size
        self.batch = batch
        self.elements = math.prod(size)

    def forward(self, input: Tensor) -> Tensor:
        whole = self.batch is False
        if self.batch is None:
            whole = input.numel() == self.elements and input.size(0) != 1
        return input.reshape(self.size if whole else [input.size(0)] + self.size)


class Unsqueeze(OverSamples):
    """A new dimension of size 1; ``dim`` counts from the first of a sample.

    PyTorch: ``torch.unsqueeze``.
    """

    def forward(self, input: Tensor) -> Tensor:
        first = input.dim() - self.sample_dims if self.sample_dims >= 0 else 0
        return input.unsqueeze(self.dim + first)


class Replicate(WithSettings):
    """The input ``count`` times, along a new dimension.

    PyTorch: ``torch.Tensor.expand``.
    """

    shown = ("count", "dim", "sample_dims")

    def __init__(self, count: int, dim: int = 0, sample_dims: int = -1) -> None:
        super().__init__()
        self.count = count
        self.dim = dim
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        is_batch = self.sample_dims >= 0 and input.dim() > self.sample_dims
        dim = self.dim + 1 if is_batch else self.dim
        size = [-1] * (input.dim() + 1)
        size[dim] = self.count
        return input.unsqueeze(dim).expand(size)


def _view(module: Any) -> nn.Module:
    if len(module.size) == 1 and module.numInputDims is not None:
        return nn.Flatten(-module.numInputDims)
    return View(module.size, sample_dims(module.numInputDims))


def _from_flatten(module: Any) -> Module:
    require(module.end_dim == -1, f"end_dim {module.end_dim}")
    if module.start_dim < 0:
        return torch7.View(-1).setNumInputDims(-module.start_dim)
    require(module.start_dim == 1, f"start_dim {module.start_dim}")
    return torch7.Collapse(1)


pair(torch7.Unsqueeze, Unsqueeze, counted("pos", "dim"), of_samples("numInputDims"))
pair(
    torch7.Replicate,
    Replicate,
    Setting("nfeatures", "count"),
    counted("dim", "dim"),
    of_samples("ndim"),
)
converts_simply(torch7.View, _view)
converts_simply(torch7.Reshape, lambda m: Reshape(m.size, m.batchMode))
converts_simply(torch7.Collapse, lambda m: nn.Flatten(-m.nInputDim))
computes(torch7.Contiguous, torch7.Transpose, torch7.Squeeze)
converts_from_simply(View, lambda m: torch7.View(m.size).setNumInputDims(known_dims(m.sample_dims)))
converts_from_simply(Reshape, lambda m: torch7.Reshape(m.size, batchMode=m.batch))
converts_from_simply(nn.Flatten, _from_flatten)
