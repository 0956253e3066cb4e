"""Torch7 as a Python library: nn, optim, the .t7 format, random numbers, cutorch."""

# Under private names: Torch7 has a package sys, which this is not.
import sys as _sys
from importlib.machinery import PathFinder as _PathFinder
from typing import TYPE_CHECKING

from compat import hints as _hints

__all__ = [
    "cudnn",
    "cutorch",
    "graph",
    "hdf5",
    "image",
    "lua",
    "nn",
    "nngraph",
    "optim",
    "random",
    "rnn",
    "t7",
    "threads",
    "torch",
    "torch_rnn",
    "viewer",
    "xlua",
]

# The last: what is there is found before it.
_sys.meta_path.append(_hints.HintsOfImports("compat", "dptable"))

if not TYPE_CHECKING:

    def __getattr__(name):
        """Raise AttributeError for a package that was not imported, or does not exist."""
        if not name.startswith("_") and _PathFinder.find_spec(f"{__name__}.{name}", __path__):
            message = f"module {__name__!r} has no attribute {name!r} before its import"
            raise AttributeError(f"{message}: from {__name__} import {name}", name=name)
        raise _hints.missing(__name__, __name__, name, _hints.PACKAGES, __all__)
