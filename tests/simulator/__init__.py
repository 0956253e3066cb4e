"""A simulated accelerator, to find what is wrong with programs for several devices without one.

See README.md here. Nothing happens on import; :func:`load` adds the device type ``sim`` to PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import torch

from simulator.build import CannotBuild, library, why_not
from simulator.device_module import make

__all__ = [
    "CannotBuild",
    "Graph",
    "Race",
    "capture",
    "check",
    "configure",
    "counters",
    "enable",
    "load",
    "loaded",
    "races",
    "reset",
    "set_memory_limit",
    "waits",
    "why_not",
]

NAME = "sim"
_library: ModuleType | None = None
_most = 0


class Race(AssertionError):
    """Accesses to the same memory of which neither waits for the other."""


def load(devices: int = 4, *, seed: int = 0, order: str = "random") -> None:
    """Compile the backend if need be and register its devices with PyTorch, once in a process.

    Call it before the first ``backward``, which counts the devices of the process.

    Raises :class:`CannotBuild` where there is no compiler.
    """
    global _library, _most
    if _library is None:
        _library, _most = library(), devices
        torch.utils.rename_privateuse1_backend(NAME)
        torch._register_device_module(NAME, make(_library, NAME))
        torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
        configure(devices, seed=seed, order=order)
        # PyTorch's engine starts a thread for each device that is there now.
        torch.ones((), device=NAME, requires_grad=True).clone().backward()
        reset()
    configure(devices, seed=seed, order=order)


def configure(
    devices: int | None = None,
    *,
    seed: int = 0,
    order: str = "random",
    check_frees: bool | None = None,
) -> None:
    """Set what the simulator does from now on.

    Args:
        devices: how many there are, not more than :func:`load` was told; by default as many.
        seed: of the order in which queued work is computed.
        order: ``"random"``, sometimes at once and sometimes late; ``"late"``, not before somebody
            waits for it; ``"eager"``, at once.
        check_frees: report memory that is freed while a stream uses it for which nobody called
            ``record_stream``, even if nothing else is put there. A program may be right all the
            same, if the freeing stream waits before it allocates again. None leaves it as it is,
            which is not at first.
    """
    _loaded().configure(_most if devices is None else devices, order, seed)
    if check_frees is not None:
        _loaded().check_frees(check_frees)


def enable(on: bool) -> None:
    """Show the devices to PyTorch, or none. No tensor may be on them then."""
    _loaded().enable(on)


def loaded() -> bool:
    """Whether :func:`load` was called in this process."""
    return _library is not None


def reset() -> None:
    """Compute what is queued, then forget accesses, races, failures and counts."""
    _loaded().reset()


def races() -> list[str]:
    """The races found since :func:`reset`, each with both accesses and the stack of each."""
    return _loaded().races()


def check() -> None:
    """Compute what is queued on all devices; raise what failed there, and :class:`Race`."""
    for device in range(_loaded().device_count()):
        _loaded().synchronize(device)
    if found := races():
        raise Race(f"{len(found)} races, the first of them:\n{found[0]}")


def counters(device: int | str | torch.device = 0) -> dict[str, int]:
    """Counts of a device since :func:`reset`.

    ``operations`` queued; ``host_waits``, how often the CPU waited for the device;
    ``implicit_waits``, how often it did only because PyTorch has no meta kernel for an operator;
    ``allocations`` and ``frees`` of memory.
    """
    index = device if isinstance(device, int) else torch.device(device).index or 0
    return _loaded().counters(index)


def waits() -> list[str]:
    """What the CPU waited for since :func:`reset`, with the stacks."""
    return _loaded().waits()


def set_memory_limit(device: int, size: int) -> None:
    """Let a device have ``size`` bytes, until :func:`reset`."""
    _loaded().set_limit(device, size)


class Graph:
    """Work that is recorded once and queued again and again, as ``torch.cuda.CUDAGraph``.

    While it records, nobody may wait for a device, ask a stream or event whether it is done, read
    numbers on the CPU or allocate memory on a stream that is not captured.
    """

    def __init__(self) -> None:
        self._graph = _loaded().Graph()

    def capture_begin(self) -> None:
        """Record what this thread's current stream is given; it must not be the default stream."""
        self._graph.begin(*_current())

    def capture_end(self) -> None:
        self._graph.end()

    def replay(self) -> None:
        """Queue the work again, on the current stream."""
        self._graph.replay(*_current())

    def reset(self) -> None:
        """Give back its memory."""
        self._graph.reset()


@contextmanager
def capture(graph: Graph, stream: torch.Stream | None = None) -> Iterator[None]:
    """A block that is recorded, on a stream of its own by default, as ``torch.cuda.graph``."""
    module = torch.get_device_module(NAME)
    with module.stream(stream or torch.Stream(device=torch.device(NAME))):
        graph.capture_begin()
        try:
            yield
        finally:
            graph.capture_end()


def _current() -> tuple[int, int]:
    stream = torch.accelerator.current_stream()
    return stream.device_index, stream.stream_id


def _loaded() -> ModuleType:
    if _library is None:
        raise RuntimeError("call simulator.load() first")
    return _library
