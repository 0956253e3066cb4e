"""How long a device takes for what it is given, without waiting for it."""

from __future__ import annotations

import time
from typing import Any

import torch

from compat import accelerators


class Stopwatch:
    """Times a ``with`` block that runs on ``device``, once.

    A GPU works on what a block has left it after the block has ended. So the block is timed where
    the GPU passes its beginning and its end, and the time is known when it has.
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
        """Return the time that the block took, or None while the device is not through."""
        if not accelerators.has_streams(self._device):
            return self._stop - self._start
        return self._start.elapsed_time(self._stop) / 1000 if self._stop.query() else None
