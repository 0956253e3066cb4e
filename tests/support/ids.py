"""Names of parametrised tests."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch


def stable(value: Any) -> str:
    """Its repr, without what differs from run to run: addresses and random elements."""
    if isinstance(value, torch.Tensor):
        return f"tensor {tuple(value.shape)}"
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return value.__name__
    if type(value).__repr__ is object.__repr__:
        return type(value).__name__
    return repr(value)
