"""Work that one thread queues on a GPU for another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import torch


class Streams:
    """The streams of ``devices`` that are current in this thread, for use by others.

    A stream is current in one thread only: what another thread queues goes elsewhere, and neither
    waits for the other. CPUs have no streams, and nothing is done for them.
    """

    def __init__(self, devices: Iterable[torch.device]) -> None:
        self._streams = {
            device: torch.cuda.current_stream(device)
            for device in dict.fromkeys(devices)
            if device.type == "cuda"
        }

    def follow(self, device: torch.device) -> None:
        """Let the stream of ``device`` wait for what this thread has queued there."""
        stream = self._streams.get(device)
        if stream is not None:
            own = torch.cuda.current_stream(device)
            if own != stream:
                stream.wait_stream(own)

    @contextmanager
    def current(self) -> Iterator[None]:
        """A block in which they are this thread's."""
        with ExitStack() as stack:
            for device, stream in self._streams.items():
                if torch.cuda.current_stream(device) != stream:
                    stack.enter_context(torch.cuda.stream(stream))
            yield
