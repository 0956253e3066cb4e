"""Fixtures for the tests of the container and the command."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator

import pytest
from tqdm import TMonitor


def started_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads started since `before`, apart from tqdm's monitor and torch's autograd threads."""
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and not isinstance(thread, (TMonitor, threading._DummyThread))
    ]


@pytest.fixture(autouse=True)
def no_leaked_threads() -> Iterator[None]:
    """Fail a test that leaves a worker thread behind."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 5
    while started_threads(before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    leaked = started_threads(before)
    assert not leaked, f"threads left behind: {[thread.name for thread in leaked]}"
