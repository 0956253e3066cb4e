"""``PartialLinear``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import partial_linear as torch7


class PartialLinear(nn.Module):
    """A linear layer that computes only the outputs ``rows``."""

    rows: Tensor

    def __init__(self, linear: nn.Linear, rows: Tensor) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.register_buffer("rows", rows)

    def forward(self, input: Tensor) -> Tensor:
        bias = None if self.bias is None else self.bias[self.rows]
        return F.linear(input, self.weight[self.rows], bias)


@converts(torch7.PartialLinear)
def _partial_linear(module: Any, convert: ToTorch) -> nn.Module:
    [rows, *_] = module.network.parameters()[0]
    layer = nn.Linear(module.inputsize, module.outputsize, device="meta")
    layer.weight = convert.parameter(rows)
    layer.bias = convert.parameter(module.bias, lambda bias: bias.view(-1))
    if torch.equal(module.partition, module.allcolumns):
        return layer
    return PartialLinear(layer, module.partition.long() - 1)
