"""``Linear``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import linear as torch7


class Transposed(nn.Module):
    """A linear layer whose weight is the transposed of another's, as a decoder's may be."""

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter | None) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight.t(), self.bias)


@converts(torch7.Linear)
def _linear(module: Any, convert: ToTorch) -> nn.Module:
    weight = convert.transposed(module.weight)
    if weight is not None:
        return Transposed(weight, convert.parameter(module.bias))
    outputs, inputs = module.weight.shape
    return convert.filled(nn.Linear(inputs, outputs, device="meta"), module)


@converts_from(nn.Linear)
def _from_linear(module: Any, convert: FromTorch) -> Module:
    return convert.filled(blank(torch7.Linear, 1, 1), module)


@converts_from(Transposed)
def _from_transposed(module: Any, convert: FromTorch) -> Module:
    layer = convert.filled(blank(torch7.Linear, 1, 1), module)
    layer.weight = layer.weight.t()
    return layer
