"""Record graphs on any accelerator for which PyTorch can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from compat import accelerators


class AcceleratorRecorder:
    """Record graphs with ``torch.accelerator.Graph``, on one stream, in one memory pool.

    PyTorch has it from 2.13 on, for the device types that registered an implementation. During a
    recording its thread must not wait for a device, read numbers on the CPU or allocate memory on
    streams that are not recorded; other threads may.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream: Any = accelerators.new_stream(device)
        self._pool: Any = None

    @staticmethod
    def refusal(device: torch.device) -> str | None:
        if not accelerators.is_accelerator(device):
            return f"{device} is not a GPU"
        try:
            torch.accelerator.Graph()
        except (AttributeError, RuntimeError):
            return f"this PyTorch records no graphs on {device}"
        return None

    @contextmanager
    def side_stream(self) -> Iterator[None]:
        current = accelerators.current_stream(self._device)
        self._stream.wait_stream(current)
        try:
            with accelerators.on_stream(self._stream):
                yield
        finally:
            current.wait_stream(self._stream)

    def record(self, function: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        graph = torch.accelerator.Graph(pool=self._pool, capture_error_mode="thread_local")
        # A block of the graph itself would empty the caches of all devices, too.
        accelerators.synchronize(self._device)
        graph.capture_begin()
        try:
            result = function()
        finally:
            graph.capture_end()
        self._pool = graph.pool()
        return result, graph.replay
