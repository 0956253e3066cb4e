"""The listener that is told, during backward, which part of a net has complete gradients.

Containers that call each of their modules once in a pass tell so after each. A reducer listens, to
sum gradients of replicas while backward still computes others.
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
    """Within it, ``listener`` hears what containers that go back in this thread tell."""
    outer, _state.listener = _state.listener, listener
    try:
        yield
    finally:
        _state.listener = outer
