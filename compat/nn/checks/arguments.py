"""Arguments of constructors: what a None means, and tensors of sizes that are given."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

import torch
from torch import Tensor

from compat.checks import whole

P = ParamSpec("P")


def nil_is_default(init: Callable[P, None]) -> Callable[P, None]:
    """Let a None stand for the default of its argument, as nil does in Torch7's constructors.

    ``nn.Dropout(None, True)`` is ``nn.Dropout(0.5, True)``.
    """
    parameters = inspect.signature(init).parameters.values()
    names = [parameter.name for parameter in parameters]
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}

    @functools.wraps(init)
    def filled(*args: Any, **kwargs: Any) -> None:
        if None in kwargs.values() or any(value is None for value in args):
            given = list(args)
            for i, (name, value) in enumerate(zip(names, args, strict=False)):
                given[i] = defaults.get(name) if value is None else value
            args = tuple(given)
            kwargs = {n: defaults.get(n) if v is None else v for n, v in kwargs.items()}
        init(*args, **kwargs)

    return filled


def empty(**sizes: int) -> Tensor:
    """Return a tensor to be filled, of sizes that are checked under their names."""
    return torch.empty([whole(size, name, 1) for name, size in sizes.items()])
