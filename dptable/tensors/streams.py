"""Order work that threads queue on an accelerator for each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor

from compat import accelerators


class Streams:
    """The streams of ``devices`` that are current in the creating thread, for use by others.

    A stream is current in one thread only: what another thread queues goes to another stream, and
    neither waits for the other unless told to. CPUs have no streams, and nothing is done for them.
    """

    def __init__(self, devices: Iterable[torch.device]) -> None:
        self._streams = {
            device: accelerators.current_stream(device)
            for device in dict.fromkeys(devices)
            if accelerators.has_streams(device)
        }

    def follow(self, device: torch.device) -> None:
        """Make the stream of ``device`` wait for what the calling thread has queued there."""
        stream = self._streams.get(device)
        if stream is not None:
            own = accelerators.current_stream(device)
            if own != stream:
                stream.wait_stream(own)

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Order the block, in another thread, after these streams' past work and before their next.

        On entry the calling thread's streams wait for these; on exit these wait for the thread's.
        Equal streams need no wait.
        """
        own = {device: accelerators.current_stream(device) for device in self._streams}
        others = [(own[d], stream) for d, stream in self._streams.items() if own[d] != stream]
        for mine, theirs in others:
            mine.wait_stream(theirs)
        try:
            yield
        finally:
            for mine, theirs in others:
                theirs.wait_stream(mine)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make these streams current in the calling thread for the length of the block."""
        with ExitStack() as stack:
            for device, stream in self._streams.items():
                if accelerators.current_stream(device) != stream:
                    stack.enter_context(accelerators.on_stream(stream))
            yield


class HandedOver:
    """A tensor that one thread computes and others read on their own streams.

    Args:
        tensor: computed, or queued, on the creating thread's current stream.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._ready: torch.Event | None = None
        if accelerators.has_streams(tensor.device):
            self._ready = accelerators.event(tensor.device)
            self._ready.record(accelerators.current_stream(tensor.device))

    def on(self, device: torch.device) -> Tensor:
        """Return the tensor on ``device``; this thread's streams wait for its values."""
        if self._ready is not None:
            accelerators.current_stream(self._tensor.device).wait_event(self._ready)
            accelerators.keep(self._tensor)
        return self._tensor.to(device)
