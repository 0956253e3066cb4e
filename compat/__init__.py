"""Torch7 as a Python library: nn, optim, the .t7 format, random numbers, cutorch."""

import importlib.util
import sys
from typing import Any

from compat.hints import MissingPackages, missing

_packages = MissingPackages(__name__)
# The last: what is there is found before it.
sys.meta_path.append(_packages)


def __getattr__(name: str) -> Any:
    # An import of the name would hide the message of an AttributeError.
    _packages.find_spec(f"{__name__}.{name}")
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}"):
        message = f"module {__name__!r} has no attribute {name!r} before its import"
        raise AttributeError(f"{message}: from {__name__} import {name}", name=name)
    raise missing(__name__, __name__, name, {})
