"""The kinds of accelerators (CUDA, ROCm, XPU, MPS, NPU), and what each of them can do.

Code that means "not the CPU" asks here and names no kind. The answers are PyTorch's general ones
(``torch.accelerator``, ``torch.Stream``, ``torch.Event``, ``torch.get_device_module``), so a kind
that PyTorch knows, out of tree too, needs nothing; one that lacks something is an entry of
``KINDS``. What is CUDA's alone (NCCL, NVML, cuDNN) stays where it is used and says so.

CPUs, and ``meta`` tensors, which have no numbers, have no streams: there is nothing to wait for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Kind:
    """The abilities of a kind of device, apart from computing.

    Args:
        side_streams: have several streams, whose work runs side by side.
        pins_memory: copy from page-locked memory of the host while the host goes on.
        fused: have the fused kernels of torch.optim.
        variable: the environment variable that hides some of its devices, if there is one.
    """

    side_streams: bool = True
    pins_memory: bool = True
    fused: bool = False
    variable: str | None = None


KINDS = {
    "cuda": Kind(fused=True, variable="CUDA_VISIBLE_DEVICES"),
    "mps": Kind(side_streams=False, pins_memory=False, fused=True),
    "xpu": Kind(fused=True, variable="ZE_AFFINITY_MASK"),
}
_HOSTS = ("cpu", "meta")


def is_accelerator(device: torch.device) -> bool:
    """Return whether a device is neither the CPU nor ``meta``."""
    return device.type not in _HOSTS


def holds(tensor: Tensor) -> bool:
    """Return whether a tensor is on an accelerator."""
    return not (tensor.is_cpu or tensor.is_meta)


def kind_of(device: torch.device) -> Kind:
    """Return what devices like this one can do."""
    return KINDS.get(device.type, Kind())


def kind() -> str | None:
    """Return the type of this machine's accelerators, such as "cuda"; None if it has none.

    ROCm's devices are called "cuda" too.
    """
    if not torch.accelerator.is_available():
        return None
    found = torch.accelerator.current_accelerator()
    return None if found is None else found.type


def devices() -> tuple[torch.device, ...]:
    """Return all accelerators that PyTorch sees."""
    name = kind()
    return () if name is None else tuple(torch.device(name, i) for i in range(count(name)))


def count(type: str) -> int:
    """Return how many devices of a type PyTorch sees."""
    if type in _HOSTS:
        return 1
    return torch.accelerator.device_count() if type == kind() else 0


def started(type: str | None) -> bool:
    """Return whether this process has begun to use devices of a type: to ask for it would start
    them.
    """
    if type is None or type in _HOSTS:
        return False
    begun = getattr(torch.get_device_module(type), "is_initialized", None)
    return begun is None or bool(begun())


def current_index(type: str) -> int:
    """Return which device of a type is PyTorch's current one in this thread."""
    return torch.accelerator.current_device_index() if type == kind() else 0


def use(device: torch.device) -> None:
    """Make a device PyTorch's current one in this thread."""
    if device.type == kind():
        torch.accelerator.set_device_index(device.index)


def synchronize(device: torch.device) -> None:
    """Wait for all that has been queued on a device."""
    if is_accelerator(device):
        torch.accelerator.synchronize(device)


# Streams and events.


def has_streams(device: torch.device) -> bool:
    """Return whether work is queued on streams there, and several of them may run side by side."""
    return is_accelerator(device) and kind_of(device).side_streams


def current_stream(device: torch.device) -> torch.Stream:
    """Return the stream on which this thread queues work for a device."""
    return torch.accelerator.current_stream(device)


def new_stream(device: torch.device) -> torch.Stream:
    """Return a stream that runs beside the others of a device."""
    return torch.Stream(device=device)


def default_stream(device: torch.device) -> torch.Stream:
    """Return the stream on which every thread queues work until it says otherwise."""
    named = getattr(torch.get_device_module(device), "default_stream", None)
    if named is not None:
        return named(device)
    return torch.Stream(stream_id=0, device_index=device.index, device_type=_number(device))


def _number(device: torch.device) -> int:
    """Return PyTorch's number of a device type, as streams take it."""
    return current_stream(device).device_type


def set_stream(stream: torch.Stream) -> None:
    """Have this thread queue work for the stream's device there; the current device stays."""
    index = torch.accelerator.current_device_index()
    torch.accelerator.set_stream(stream)
    torch.accelerator.set_device_index(index)


@contextmanager
def on_stream(stream: torch.Stream) -> Iterator[None]:
    """Run a block whose work is queued on a stream, with its device as the current one."""
    index = torch.accelerator.current_device_index()
    before = current_stream(stream.device)
    torch.accelerator.set_stream(stream)
    try:
        yield
    finally:
        torch.accelerator.set_stream(before)
        torch.accelerator.set_device_index(index)


def keep(tensor: Tensor) -> None:
    """Have a tensor's memory stay until what this thread has queued there so far has run.

    Freed, memory is used again by the stream on which it was made, and waits for no other.
    """
    if not (tensor.is_cpu or tensor.is_meta) and has_streams(tensor.device):
        tensor.record_stream(current_stream(tensor.device))


def event(device: torch.device, timed: bool = False) -> torch.Event:
    """Return a mark in a stream; ``timed`` ones tell how long it was from one to another."""
    return torch.Event(device=device, enable_timing=timed)


# Memory.


def pins_memory() -> bool:
    """Return whether copies to this machine's accelerators gain by page-locked memory."""
    name = kind()
    return name is not None and KINDS.get(name, Kind()).pins_memory


def memory(device: torch.device) -> tuple[int, int] | None:
    """Return free and total memory in bytes of an accelerator; None if PyTorch does not tell."""
    for module, name in ((torch.accelerator, "get_memory_info"), (_module(device), "mem_get_info")):
        ask = getattr(module, name, None)
        if ask is not None:
            try:
                free, total = ask(device)
            except (RuntimeError, NotImplementedError):
                continue
            return int(free), int(total)
    return None


def caches_memory(device: torch.device) -> bool:
    """Return whether freed memory of a device is kept for the next tensor."""
    if device.type == "cuda":
        return os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") != "1"
    return is_accelerator(device)


def properties(device: torch.device) -> Any:
    """Return PyTorch's facts of an accelerator, an object with attributes; None if there are
    none.
    """
    ask = getattr(_module(device), "get_device_properties", None)
    return None if ask is None else ask(device)


def can_access_peer(one: torch.device, other: torch.device) -> bool:
    """Return whether a device can address another's memory."""
    if one == other:
        return True
    if one.type != other.type or not is_accelerator(one):
        return False
    ask = getattr(_module(one), "can_device_access_peer", None)
    return False if ask is None else bool(ask(one, other))


def _module(device: torch.device) -> Any:
    return torch.get_device_module(device)


# Random states.


class _ModuleGenerator:
    """The generator of a device whose module has functions for it and no generators."""

    def __init__(self, module: Any) -> None:
        self.manual_seed = module.manual_seed
        self.seed = module.seed
        self.get_state = module.get_rng_state
        self.set_state = module.set_rng_state
        self.initial_seed = getattr(module, "initial_seed", None) or _unknown_seed


def _unknown_seed() -> int:
    raise NotImplementedError("PyTorch does not tell what this kind of device was seeded with")


def generator(device: torch.device) -> Any:
    """Return what draws a device's random numbers: has ``manual_seed``, ``seed``,
    ``get_state`` …
    """
    if not is_accelerator(device):
        return torch.default_generator
    module = _module(device)
    start = getattr(module, "init", None)
    if start is not None:
        start()
    generators = getattr(module, "default_generators", None)
    return _ModuleGenerator(module) if generators is None else generators[device.index]
