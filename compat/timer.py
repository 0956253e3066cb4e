"""Measuring time."""

from __future__ import annotations

import os
import time
from typing import NamedTuple


class Times(NamedTuple):
    """Seconds: on the clock, of the processor for the program, and for the system."""

    real: float
    user: float
    sys: float

    @classmethod
    def now(cls) -> Times:
        spent = os.times()
        return cls(time.perf_counter(), spent.user, spent.system)


class Timer:
    """Torch7's ``torch.Timer``: runs from its creation."""

    def __init__(self) -> None:
        self._running = True
        self.reset()

    def reset(self) -> Timer:
        """Start from 0; a stopped timer stays stopped."""
        self._spent = Times(0, 0, 0)
        self._start = Times.now()
        return self

    def stop(self) -> Timer:
        """Stop counting."""
        if self._running:
            self._spent = self.time()
            self._running = False
        return self

    def resume(self) -> Timer:
        """Go on counting."""
        if not self._running:
            self._running = True
            self._start = Times.now()
        return self

    def time(self) -> Times:
        """Return the seconds counted so far: ``timer.time().real``."""
        if not self._running:
            return self._spent
        now = Times.now()
        return Times(*(s + n - b for s, n, b in zip(self._spent, now, self._start, strict=True)))

    def __str__(self) -> str:
        state = "running" if self._running else "stopped"
        return f"torch.Timer | status: {state} | elapsed: {self.time().real:f} s"
