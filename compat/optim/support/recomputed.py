"""Vectors of a state table that are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from compat.optim.support.options import Table
from compat.optim.support.vectors import piece_length


class Recomputed(torch.Tensor):
    """A tensor without memory: every use of it computes it anew.

    Torch7's optimizers keep working vectors such as ``state.denom`` in the state table and in
    files, though a step only ever writes them. They follow from other vectors of the state, so the
    port stores a formula instead. That saves the memory of a vector, and a write at every step.
    Copies, pickles and files get the values. Writing into such a tensor has no effect.
    """

    compute: Callable[[], torch.Tensor]
    room: torch.Tensor | None
    torch7_type: str

    @classmethod
    def of(
        cls,
        source: torch.Tensor,
        formula: Callable[[torch.Tensor], torch.Tensor],
        room: torch.Tensor | None = None,
    ) -> Recomputed:
        """Return the tensor ``formula(source)``, which files give the class of ``source``.

        It keeps ``room``, a work buffer, for the next step.
        """
        new = torch.empty(0).as_subclass(cls)
        new.compute = partial(formula, source)
        new.room = room
        if hasattr(source, "torch7_type"):
            new.torch7_type = source.torch7_type
        return new

    @classmethod
    def __torch_function__(
        cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        del types
        return func(*_real(args), **_real(kwargs or {}))


def working_room(state: Table, key: str, x: torch.Tensor) -> torch.Tensor:
    """Return a work buffer for a piece of ``x``: the one of ``state[key]``, or a new one."""
    found = state.get(key)
    room = found.room if isinstance(found, Recomputed) else None
    length = piece_length(x)
    if room is None or room.numel() < length or room.dtype != x.dtype or room.device != x.device:
        room = torch.empty(length, dtype=x.dtype, device=x.device)
    return room


def _real(value: Any) -> Any:
    if isinstance(value, Recomputed):
        with torch.no_grad():
            return value.compute()
    if isinstance(value, (tuple, list)):
        return type(value)(map(_real, value))
    if isinstance(value, dict):
        return {key: _real(v) for key, v in value.items()}
    return value
