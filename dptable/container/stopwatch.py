"""Measure how long a device works on a block, without waiting for the device."""

from __future__ import annotations

import time
from typing import Any

import torch

from compat import accelerators


class Stopwatch:
    """Time a ``with`` block that runs on ``device``, once.

    A GPU works on after the block has ended. So events record when the GPU passes the block's
    beginning and end, and the time is known only after the end.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._start: Any = None
        self._stop: Any = None

    def __enter__(self) -> None:
        self._start = self._mark()

    def __exit__(self, *_: object) -> None:
        self._stop = self._mark()

    def _mark(self) -> Any:
        if not accelerators.has_streams(self._device):
            return time.perf_counter()
        event = accelerators.event(self._device, timed=True)
        event.record(accelerators.current_stream(self._device))
        return event

    def seconds(self) -> float | None:
        """Return the time that the block took, or None while the device is still at work."""
        if not accelerators.has_streams(self._device):
            return self._stop - self._start
        return self._start.elapsed_time(self._stop) / 1000 if self._stop.query() else None
