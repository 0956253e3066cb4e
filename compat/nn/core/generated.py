"""Functions that are made of text."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import Any


def function(text: str, objects: Mapping[str, Any]) -> Callable[..., Any]:
    """The function ``run`` that ``text`` defines, with ``objects`` as its globals."""
    namespace = dict(objects)
    exec(_compiled(text), namespace)
    # Not in its own namespace, where the two would hold each other, and the parameters.
    run: Callable[..., Any] = namespace.pop("run")
    return run


@lru_cache(maxsize=128)
def _compiled(text: str) -> CodeType:
    # Clones of a net have the same text.
    return builtins.compile(text, "<plan>", "exec")
