"""Warns when a converted net is saved that only this package can load."""

from __future__ import annotations

import copy
import warnings
from typing import Any

from torch import nn

_told: set[type] = set()


def warn_when_saved(cls: type[nn.Module]) -> None:
    """Make modules of a class of this package warn when they are pickled, but not when copied."""
    if cls.__module__.startswith("torch.") or cls in _told:
        return
    _told.add(cls)
    if cls.__module__.startswith(__package__):
        cls.__reduce_ex__ = _reduced  # type: ignore[assignment]
        cls.__deepcopy__ = _copied  # type: ignore[attr-defined]


def _reduced(module: nn.Module, protocol: Any) -> Any:
    name = getattr(module, "name_of_torch7", type(module).__name__)
    warnings.warn(
        f"{name} is a class of compat, without which this file cannot be loaded; "
        "save state_dict(), or write the net as source: dptable convert model.t7 model.py",
        stacklevel=2,
    )
    return object.__reduce_ex__(module, protocol)


def _copied(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    reduced: Any = object.__reduce_ex__(module, 4)
    function, arguments, state = reduced[:3]
    new: nn.Module = memo.setdefault(id(module), function(*arguments))
    new.__setstate__(copy.deepcopy(state, memo))
    return new
