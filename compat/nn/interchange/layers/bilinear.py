"""``Bilinear``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.functional import bilinear as f
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import bilinear as torch7


class Bilinear(nn.Bilinear):
    """``torch.nn.Bilinear`` for a list of its two inputs.

    PyTorch: ``torch.nn.Bilinear``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:  # type: ignore[override]
        return f.bilinear(input[0], input[1], self.weight, self.bias)


@converts(torch7.Bilinear)
def _bilinear(module: Any, convert: ToTorch) -> nn.Module:
    outputs, first, second = module.weight.shape
    return convert.filled(Bilinear(first, second, outputs, device="meta"), module)


@converts_from(Bilinear)
def _from_bilinear(module: Any, convert: FromTorch) -> Module:
    return convert.filled(blank(torch7.Bilinear, 1, 1, 1), module)
