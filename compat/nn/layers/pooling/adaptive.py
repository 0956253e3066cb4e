"""Pooling to a given size, whatever the size of the input."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import whole
from compat.nn.checks.tensors import check_sample
from compat.nn.core.module import deterministic
from compat.nn.layers.window import Emptied

Spans = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)
def spans(extent: int, parts: int) -> Spans:
    """Where Torch7's windows for a maximum start and end along a dimension."""
    number = torch.arange(parts + 1, dtype=torch.float32)
    # Dividing by a number, PyTorch multiplies by its rounded inverse.
    edges = number / torch.full_like(number, parts) * extent
    starts, ends = edges[:-1].floor().int(), edges[1:].ceil().int()
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))


@lru_cache(maxsize=256)
def agrees(extent: int, parts: int) -> bool:
    """Whether PyTorch's windows are the same."""
    exact = ((i * extent // parts, -(-(i + 1) * extent // parts)) for i in range(parts))
    return spans(extent, parts) == tuple(exact)


class AdaptivePooling(Emptied, abstract=True):
    """The base: an output of ``H x W``, each element from its share of the input."""

    def __init__(self, W: int, H: int) -> None:
        super().__init__()
        self.W = whole(W, "W", 1)
        self.H = whole(H, "H", 1)

    def _check(self, input: Tensor) -> None:
        check_sample(input, "planes x height x width")


class SpatialAdaptiveAveragePooling(AdaptivePooling):
    """The average of each of ``H x W`` windows (Torch7: ``nn.SpatialAdaptiveAveragePooling``).

    Args:
        W, H: width and height of the output.

    Shapes: input ``[N x] planes x height x width``.

    PyTorch: ``torch.nn.AdaptiveAvgPool2d``.
    """

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check(input)
        return F.adaptive_avg_pool2d(input, (self.H, self.W))


class SpatialAdaptiveMaxPooling(AdaptivePooling):
    """The maximum of each of ``H x W`` windows (Torch7: ``nn.SpatialAdaptiveMaxPooling``).

    Torch7 computes where windows begin and end in single precision, so that some are one element
    larger than PyTorch's. PyTorch's function is used where the two agree.

    Args:
        W, H: width and height of the output.

    Shapes: input ``[N x] planes x height x width``.

    Differs from Torch7: NaN in a window gives NaN.

    PyTorch: ``torch.nn.AdaptiveMaxPool2d``.
    """

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check(input)
        height, width = input.shape[-2:]
        if agrees(height, self.H) and agrees(width, self.W):
            return F.adaptive_max_pool2d(input, (self.H, self.W))
        rows = window_elements(spans(height, self.H), input.device)
        columns = window_elements(spans(width, self.W), input.device)
        windows = input[..., rows[:, None, :, None], columns[None, :, None, :]]
        return windows.flatten(-2).max(dim=-1).values


def window_elements(windows: Spans, device: torch.device) -> Tensor:
    """The elements of each window, in a row each; the shorter ones repeat their first."""
    longest = max(end - start for start, end in windows)
    rows = [[*range(start, end), *([start] * (longest - end + start))] for start, end in windows]
    return torch.tensor(rows, device=device)
