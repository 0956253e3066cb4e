"""Process-wide settings of a script, in force only while its runtime runs."""

from __future__ import annotations

from typing import Any

import torch

# The value of an attribute that is not there.
ABSENT: Any = object()


class Settings:
    """PyTorch's default type, and what Lua has put into Python's classes and registries.

    ``begin`` puts it in force, ``end`` puts back what was there.
    """

    def __init__(self) -> None:
        self._is_in_force = False
        self._dtype: torch.dtype | None = None
        self._before_dtype = torch.get_default_dtype()
        # By the identity of the owner and the name: the owner and the value; what was there.
        self._values: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._before: dict[tuple[int, str], Any] = {}

    def set_default_dtype(self, dtype: torch.dtype) -> None:
        """Set another default dtype."""
        self._dtype = dtype
        if self._is_in_force:
            torch.set_default_dtype(dtype)

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class, or an entry of a dict; or take it away."""
        key = id(owner), name
        self._values[key] = owner, value
        if self._is_in_force:
            self._put(key)

    def begin(self) -> None:
        """Put the settings into force."""
        self._is_in_force = True
        self._before_dtype = torch.get_default_dtype()
        if self._dtype is not None:
            torch.set_default_dtype(self._dtype)
        for key in self._values:
            self._put(key)

    def end(self) -> None:
        """Restore the settings from before."""
        self._is_in_force = False
        torch.set_default_dtype(self._before_dtype)
        for key, value in self._before.items():
            _assign(self._values[key][0], key[1], value)
        self._before.clear()

    def _put(self, key: tuple[int, str]) -> None:
        owner, value = self._values[key]
        held = owner if isinstance(owner, dict) else vars(owner)
        self._before.setdefault(key, held.get(key[1], ABSENT))
        _assign(owner, key[1], value)


def _assign(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, dict):
        if value is ABSENT:
            owner.pop(name, None)
        else:
            owner[name] = value
    elif value is not ABSENT:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)
