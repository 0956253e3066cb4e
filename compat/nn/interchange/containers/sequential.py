"""``Sequential``."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.containers import sequential as torch7
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, converts_from
from compat.nn.interchange.to_torch import ToTorch, converts


@converts(torch7.Sequential)
def _sequential(module: Any, convert: ToTorch) -> nn.Module:
    return nn.Sequential(*convert.children(module))


@converts_from(nn.Sequential)
def _from_sequential(module: Any, convert: FromTorch) -> Module:
    return torch7.Sequential(*convert.children(module))
