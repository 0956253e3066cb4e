"""Calls as Lua scripts write them: options in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def with_options(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a function with named arguments."""
    return function(**options)
