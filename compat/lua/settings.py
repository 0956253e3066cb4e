"""What a script sets for the whole process: in force while its runtime runs, and no longer."""

from __future__ import annotations

from typing import Any

import torch

# The value of an attribute that is not there.
ABSENT: Any = object()


class Settings:
    """PyTorch's default type, and attributes that Lua has given to Python's classes.

    ``begin`` puts them in force, ``end`` puts back what was there.
    """

    def __init__(self) -> None:
        self._is_in_force = False
        self._dtype: torch.dtype | None = None
        self._before_dtype = torch.get_default_dtype()
        self._attributes: dict[tuple[Any, str], Any] = {}
        self._before: dict[tuple[Any, str], Any] = {}

    def set_default_dtype(self, dtype: torch.dtype) -> None:
        """Have another default type."""
        self._dtype = dtype
        if self._is_in_force:
            torch.set_default_dtype(dtype)

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class, or of any other object that many use; or take it away."""
        self._attributes[owner, name] = value
        if self._is_in_force:
            self._put(owner, name)

    def begin(self) -> None:
        """From now on they count."""
        self._is_in_force = True
        self._before_dtype = torch.get_default_dtype()
        if self._dtype is not None:
            torch.set_default_dtype(self._dtype)
        for owner, name in self._attributes:
            self._put(owner, name)

    def end(self) -> None:
        """From now on they do not."""
        self._is_in_force = False
        torch.set_default_dtype(self._before_dtype)
        for (owner, name), value in self._before.items():
            _assign(owner, name, value)
        self._before.clear()

    def _put(self, owner: Any, name: str) -> None:
        self._before.setdefault((owner, name), vars(owner).get(name, ABSENT))
        _assign(owner, name, self._attributes[owner, name])


def _assign(owner: Any, name: str, value: Any) -> None:
    if value is not ABSENT:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)
