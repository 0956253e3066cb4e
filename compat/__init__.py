"""Torch7 as a Python library: nn, optim, the .t7 format, random numbers, cutorch."""

# Under private names: Torch7 has a package sys, which this is not.
import importlib.util as _util
import sys as _sys
from typing import Any as _Any

from compat import hints as _hints

_packages = _hints.MissingPackages(__name__)
# The last: what is there is found before it.
_sys.meta_path.append(_packages)


def __getattr__(name: str) -> _Any:
    # An import of the name would hide the message of an AttributeError.
    _packages.find_spec(f"{__name__}.{name}")
    if not name.startswith("_") and _util.find_spec(f"{__name__}.{name}"):
        message = f"module {__name__!r} has no attribute {name!r} before its import"
        raise AttributeError(f"{message}: from {__name__} import {name}", name=name)
    raise _hints.missing(__name__, __name__, name, {})
