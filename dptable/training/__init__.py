"""Training runs: options, trainer and session. ``dptable train`` uses them; scripts may, too."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dptable.training.options import Options

if TYPE_CHECKING:
    from dptable.training.session import Session, new_folder
    from dptable.training.stopping import INTERRUPTED, Requests, stop_requests
    from dptable.training.trainer import Tally, Trainer, replicated

__all__ = [
    "INTERRUPTED",
    "Options",
    "Requests",
    "Session",
    "Tally",
    "Trainer",
    "new_folder",
    "replicated",
    "stop_requests",
]

_HOMES = {
    "Session": "session",
    "new_folder": "session",
    "INTERRUPTED": "stopping",
    "Requests": "stopping",
    "stop_requests": "stopping",
    "Tally": "trainer",
    "Trainer": "trainer",
    "replicated": "trainer",
}


def __getattr__(name: str) -> Any:
    """Import a name that needs PyTorch at its first use; ``Options`` needs none."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
