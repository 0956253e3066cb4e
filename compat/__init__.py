"""Torch7 as a Python library: nn, optim, the .t7 format, random numbers, cutorch."""

from typing import Any


def __getattr__(name: str) -> Any:
    from compat.instead import PACKAGES, missing

    if name in PACKAGES:
        # An import of the name would hide the message of an AttributeError.
        raise ImportError(f"package {name} does not exist here: {PACKAGES[name]}", name=name)
    raise missing(__name__, __name__, name, {})
