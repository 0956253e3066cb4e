"""Tells a listener, during backward, which parts of a net have complete gradients.

Containers that call each module once in a pass notify the listener after each module. A reducer
listens, to sum the replicas' gradients while backward still computes others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Called with the container and the place, from 0, of the module that has gone back.
Listener = Callable[[Any, int], None]


class _State(threading.local):
    listener: Listener | None = None


_state = _State()


def listener() -> Listener | None:
    """Return the listener of this thread, or None."""
    return _state.listener


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let ``listener`` receive the notes of this thread's containers within the block."""
    outer, _state.listener = _state.listener, listener
    try:
        yield
    finally:
        _state.listener = outer
