"""Parts of a tensor along one dimension, and constants between them."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.checks.indexing import zero_based
from compat.nn.core.module import Module
from compat.nn.interchange.computed import Computed, computes
from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.layers.one_hot import one_hot
from compat.nn.interchange.modules import WithSettings, along
from compat.nn.interchange.pairs import from_one, known_dims, sample_dims
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers import slices as torch7


class Padding(WithSettings):
    """The input with constant entries before and after those of a dimension.

    PyTorch: ``torch.nn.functional.pad``.
    """

    shown = ("dim", "sample_dims", "before", "after", "value")

    def __init__(
        self, dim: int, sample_dims: int, before: int, after: int, value: float = 0.0
    ) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims
        self.before = before
        self.after = after
        self.value = float(value)

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        others = 2 * (input.dim() - 1 - dim) if dim >= 0 else -2 * (dim + 1)
        return F.pad(input, [0] * others + [self.before, self.after], "constant", self.value)


@converts(torch7.Padding)
def _padding(module: Any, convert: ToTorch) -> nn.Module:
    if module.index != 1:
        return Computed(module, convert)
    before, after = max(-module.pad, 0), max(module.pad, 0)
    dims = sample_dims(module.nInputDim)
    return Padding(zero_based(module.dim), dims, before, after, module.value)


def _from_padding(module: Any) -> Module:
    dims, count = known_dims(module.sample_dims), module.after - module.before
    return torch7.Padding(from_one(module.dim), count, dims, module.value)


computes(torch7.Select, torch7.Narrow, torch7.Index, torch7.MaskedSelect)
converts_from_simply(Padding, _from_padding)
converts_simply(torch7.OneHot, one_hot)
