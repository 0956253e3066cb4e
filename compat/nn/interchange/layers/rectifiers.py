"""Rectifiers: transfer functions with one or two kinks."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.core.module import Module
from compat.nn.interchange.computed import computes
from compat.nn.interchange.containers.branches import ConcatTable
from compat.nn.interchange.from_torch import FromTorch, converts_from, converts_from_simply
from compat.nn.interchange.layers.pointwise import MulConstant
from compat.nn.interchange.layers.table_layers import JoinTable
from compat.nn.interchange.pairs import INPLACE, Setting, pair
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers import rectifiers as torch7


class PReLU(nn.PReLU):
    """``torch.nn.PReLU`` for single samples too: ``D``, and ``D x H x W``.

    PyTorch: ``torch.nn.PReLU``.
    """

    def forward(self, input: Tensor) -> Tensor:
        planes = self.num_parameters
        is_image = input.dim() == 3 and input.size(0) == planes != input.size(1)
        if planes > 1 and (input.dim() == 1 or is_image):
            return F.prelu(input.unsqueeze(0), self.weight).squeeze(0)
        return F.prelu(input, self.weight)


pair(torch7.ReLU, nn.ReLU, INPLACE)
pair(torch7.ReLU6, nn.ReLU6, INPLACE)
pair(torch7.LeakyReLU, nn.LeakyReLU, Setting("negval", "negative_slope"), INPLACE)
pair(
    torch7.Threshold,
    nn.Threshold,
    Setting("threshold", "threshold"),
    Setting("val", "value"),
    INPLACE,
)
pair(
    torch7.HardTanh,
    nn.Hardtanh,
    Setting("min_val", "min_val"),
    Setting("max_val", "max_val"),
    INPLACE,
)
pair(torch7.RReLU, nn.RReLU, Setting("lower", "lower"), Setting("upper", "upper"), INPLACE)
converts_simply(torch7.ELU, lambda m: nn.ELU(m.alpha, m.inplace and m.alpha >= 0))
converts_from_simply(nn.ELU, lambda m: torch7.ELU(m.alpha, m.inplace))


computes(torch7.Clip)


@converts(torch7.CReLU)
def _crelu(module: Any, convert: ToTorch) -> nn.Module:
    both = ConcatTable([nn.Identity(), MulConstant(-1)])
    return nn.Sequential(both, JoinTable(-module.nInputDims), nn.ReLU(module.inplace))


@converts(torch7.PReLU)
def _prelu(module: Any, convert: ToTorch) -> nn.Module:
    layer = PReLU(module.weight.numel(), device="meta")
    layer.weight = convert.parameter(module.weight)
    return layer


@converts_from(nn.PReLU, PReLU)
def _from_prelu(module: Any, convert: FromTorch) -> Module:
    target = torch7.PReLU(0 if module.num_parameters == 1 else module.num_parameters)
    target.weight = convert.tensor(module.weight)
    return target
