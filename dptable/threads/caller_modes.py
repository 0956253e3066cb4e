"""Carry the caller's modes and streams into worker threads.

PyTorch's modes and current streams are thread-local: without this, a worker would compute with
gradients under the caller's ``no_grad``, and on a stream that the caller does not wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from compat import cutorch
from compat.cutorch import DeviceLike
from dptable.tensors.streams import Streams
from dptable.torch_internals import default_device, saved_tensors_hooks


class CallerModes:
    """The modes of the creating thread, for jobs that run in other threads.

    These are ``no_grad``, ``inference_mode``, ``autocast``, the default device and hooks for saved
    tensors. A job's stream waits for the caller's current stream, and afterwards the caller's
    stream waits for the job's. This holds on every logical device, since a job may use others than
    its own.
    """

    def __init__(self) -> None:
        self._contexts = _contexts()
        self._streams = Streams(cutorch.accelerated()) if cutorch.accelerated() else None

    @contextmanager
    def entered(self, gpu: DeviceLike) -> Iterator[None]:
        """Run the block in another thread as if it ran in the caller's, on device ``gpu``."""
        # Not restored afterwards: going back to the first GPU would start CUDA there.
        cutorch.setDevice(gpu)
        with ExitStack() as stack:
            for context in self._contexts:
                stack.enter_context(context())
            if self._streams is not None:
                stack.enter_context(self._streams.joined())
            yield


def _contexts() -> list[Callable[[], Any]]:
    contexts: list[Callable[[], Any]] = []
    if torch.is_inference_mode_enabled():
        contexts.append(torch.inference_mode)
    elif not torch.is_grad_enabled():
        contexts.append(torch.no_grad)
    for kind in dict.fromkeys(["cpu", *(device.type for device in cutorch.accelerated())]):
        if torch.is_autocast_enabled(kind):
            contexts.append(_autocast(kind))
    device, hooks = default_device(), saved_tensors_hooks()
    if device is not None:
        contexts.append(lambda: device)
    if hooks is not None:
        contexts.append(lambda: torch.autograd.graph.saved_tensors_hooks(*hooks))
    return contexts


def _autocast(kind: str) -> Callable[[], Any]:
    dtype, cached = torch.get_autocast_dtype(kind), torch.is_autocast_cache_enabled()
    return lambda: torch.autocast(kind, dtype=dtype, cache_enabled=cached)
