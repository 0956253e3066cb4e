"""Who hears, while a net goes back, that the gradients of a part of it are complete.

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
    """Who listens in this thread, if anybody."""
    return _state.listener


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, ``listener`` hears what containers that go back in this thread tell."""
    outer, _state.listener = _state.listener, listener
    try:
        yield
    finally:
        _state.listener = outer
