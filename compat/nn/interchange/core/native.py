"""Converts a ``torch.nn`` module inside a Torch7 net: the result is a copy."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from compat.nn.core.native import Native
from compat.nn.interchange.to_torch import ToTorch, converts


@converts(Native)
def _native(module: Any, convert: ToTorch) -> nn.Module:
    return copy.deepcopy(module.module)
