"""Arguments of constructors: checks, and what a None means."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any, ParamSpec

import torch
from torch import Tensor

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


def whole(value: Any, name: str, least: int | None = None) -> int:
    """Check an argument that is a whole number, ``least`` or more."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; a whole number is accepted")
    if least is not None and value < least:
        raise ValueError(f"{name} is {value}; a whole number from {least} is accepted")
    return value


def whole_or_none(value: Any, name: str, least: int | None = None) -> int | None:
    """``whole`` of an argument that may be missing."""
    return None if value is None else whole(value, name, least)


def empty(**sizes: int) -> Tensor:
    """A tensor to be filled, of sizes that are checked under their names."""
    return torch.empty([whole(size, name, 1) for name, size in sizes.items()])


def number(value: float, name: str) -> float:
    """Check an argument that is a plain number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; a number is accepted")
    return value


def check_number(value: object, argument: str) -> None:
    """Refuse what is no number, of Python, numpy or in a tensor without dimensions."""
    # Plain ones first: to find out about Real takes longer.
    plain = isinstance(value, (int, float, Real))
    if not plain and not (isinstance(value, Tensor) and value.dim() == 0):
        raise TypeError(f"{argument} is {value!r}; a number is accepted")


def number_or_none(value: float | None, name: str) -> float | None:
    """``number`` of an argument that may be missing."""
    return None if value is None else number(value, name)


def flag(value: bool | None, name: str = "ip") -> bool:
    """Check an argument that is True or False; None is False, as in Lua."""
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; True or False is accepted")
    return bool(value)
