"""``GPU``: the module in it."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.containers import gpu as torch7
from compat.nn.interchange.to_torch import ToTorch, converts


@converts(torch7.GPU)
def _gpu(module: Any, convert: ToTorch) -> nn.Module:
    return convert.child(module, 0)
