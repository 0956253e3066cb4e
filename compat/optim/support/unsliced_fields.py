"""The state fields that do not have one number per parameter, whatever their size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_NAMES: set[str] = set()


def declare_unsliced(*names: str) -> None:
    """Declare fields of an optimizer's state that are never slices."""
    _NAMES.update(names)


def unsliced_values(state: Mapping[Any, Any]) -> Iterator[Any]:
    """Return the values of these fields."""
    return (value for name, value in state.items() if name in _NAMES)
