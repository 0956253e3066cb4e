"""``Inception``: the net in it."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.composed import inception as torch7


@converts(torch7.Inception)
def _inception(module: Any, convert: ToTorch) -> nn.Module:
    return convert.child(module, 0)
