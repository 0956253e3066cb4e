"""Carry the caller's no_grad, inference_mode, autocast and streams into worker threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from compat import cutorch
from compat.cutorch import DeviceLike


class CallerModes:
    """The modes of the thread that creates this object, for jobs that run in other threads.

    These are ``no_grad``, ``inference_mode`` and ``autocast``. On GPUs a job's stream waits for the
    caller's current one on its device, and that for the job's.

    Args:
        devices: those of the jobs.
    """

    def __init__(self, devices: Iterable[torch.device]) -> None:
        self._contexts = _contexts()
        self._streams = {d: torch.cuda.current_stream(d) for d in devices if d.type == "cuda"}

    @contextmanager
    def entered(self, gpu: DeviceLike) -> Iterator[None]:
        """A block in another thread that runs as if in the caller's, on a device."""
        # Not restored afterwards: going back to the first GPU would start CUDA there.
        cutorch.setDevice(gpu)
        device = cutorch.device(gpu)
        stream = self._streams.get(device)
        with ExitStack() as stack:
            for context in self._contexts:
                stack.enter_context(context())
            if stream is not None:
                own = torch.cuda.current_stream(device)
                if own != stream:
                    own.wait_stream(stream)
                    stack.callback(stream.wait_stream, own)
            yield


def _contexts() -> list[Callable[[], Any]]:
    contexts: list[Callable[[], Any]] = []
    if torch.is_inference_mode_enabled():
        contexts.append(torch.inference_mode)
    elif not torch.is_grad_enabled():
        contexts.append(torch.no_grad)
    for kind in ("cpu", "cuda"):
        if torch.is_autocast_enabled(kind):
            contexts.append(_autocast(kind))
    return contexts


def _autocast(kind: str) -> Callable[[], Any]:
    dtype, cached = torch.get_autocast_dtype(kind), torch.is_autocast_cache_enabled()
    return lambda: torch.autocast(kind, dtype=dtype, cache_enabled=cached)
