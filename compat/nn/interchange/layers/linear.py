"""``Linear``."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import linear as torch7


@converts(torch7.Linear)
def _linear(module: Any, convert: ToTorch) -> nn.Module:
    outputs, inputs = module.weight.shape
    return convert.filled(nn.Linear(inputs, outputs, device="meta"), module)


@converts_from(nn.Linear)
def _from_linear(module: Any, convert: FromTorch) -> Module:
    return convert.filled(blank(torch7.Linear, 1, 1), module)
