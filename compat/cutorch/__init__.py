"""Devices, random states, streams and pinned memory under the names of Torch7's ``cutorch``.

GPU id *i* is entry *i*, counted from 1, of a list of logical devices.  By default these are all
CUDA devices or, without CUDA, as many CPU devices as there are cores, so that a script written for
``{1, 2}`` runs on a laptop.  :func:`configure` or the environment variable ``DPTABLE_DEVICES`` set
another list; one device may be listed several times.

Differs from Torch7: wherever a GPU id is taken, a string or a ``torch.device`` is accepted too and
means PyTorch's device of that name.
"""

from __future__ import annotations

import operator
import os
import platform
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

from compat.torch_internals import driver_version

DeviceLike = int | str | torch.device
_NAMES = (str, torch.device)
T = TypeVar("T")

ENVIRONMENT_VARIABLE = "DPTABLE_DEVICES"
hasHalf = True

_lock = threading.RLock()
_configured: tuple[torch.device, ...] | None = None


class _ThreadState(threading.local):
    """What cutorch keeps per thread: the current GPU id and the current stream number."""

    devices: tuple[torch.device, ...] | None = None
    gpu: int = 1
    stream: int = 0


_state = _ThreadState()


# The list of logical devices


def configure(devices: Iterable[DeviceLike] | None) -> None:
    """Set the list of logical devices: entry *i*, counted from 1, is what GPU id *i* means.

    Args:
        devices: device names (``["cpu"] * 8``, ``["cuda:0", "cuda:0"]``); an int is a GPU id of the
            default list.  ``None`` restores the default.

    Every thread starts again at GPU 1.  Raises ValueError for an empty list and for a device that
    this machine does not have; the old list then stays.
    """
    global _configured
    with _lock:
        _configured = _default_devices() if devices is None else _resolve(devices, "devices")


def devices() -> tuple[torch.device, ...]:
    """The logical devices in the order of their GPU ids."""
    global _configured
    if _configured is None:
        with _lock:
            if _configured is None:
                _configured = _default_devices()
    return _configured


def device(gpu: DeviceLike) -> torch.device:
    """The ``torch.device`` of a GPU id (int, from 1) or of a PyTorch name (str, ``torch.device``).

    Raises ValueError for 0, for an id beyond the list and for a device that the machine lacks.
    """
    return _lookup(gpu, devices())


def getDeviceCount() -> int:
    """The number of logical devices."""
    return len(devices())


def _lookup(gpu: DeviceLike, listed: Sequence[torch.device]) -> torch.device:
    if isinstance(gpu, _NAMES):
        return _named(gpu)
    try:
        number = operator.index(gpu)
    except TypeError:
        number = None
    if number is None or isinstance(gpu, bool):
        raise TypeError(f"a device is a GPU id (int), a str or a torch.device, not {gpu!r}")
    if not 1 <= number <= len(listed):
        raise ValueError(
            f"GPU id {number} given, 1 to {len(listed)} are accepted "
            f"({', '.join(map(str, listed))}): GPU ids count from 1, as in Torch7; "
            "a name such as 'cpu' or 'cuda:0' is PyTorch's"
        )
    return listed[number - 1]


def _named(name: str | torch.device) -> torch.device:
    """A device with its index spelled out, so that equal devices compare equal."""
    try:
        found = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"{name!r} does not name a device; try 'cpu' or 'cuda:0'") from error
    if found.type == "cpu":
        return torch.device("cpu")
    found = torch.device(found.type, found.index or 0)
    if found.type == "cuda" and found.index >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise ValueError(f"device {found}: PyTorch sees {count} CUDA devices here")
    return found


def _hardware() -> tuple[torch.device, ...]:
    if torch.cuda.is_available():
        return tuple(torch.device("cuda", i) for i in range(torch.cuda.device_count()))
    return (torch.device("cpu"),) * _cores()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _default_devices() -> tuple[torch.device, ...]:
    wanted = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if not wanted:
        return _hardware()
    names = [name.strip() for name in wanted.split(",")]
    return _resolve((int(n) if n.isdigit() else n for n in names), ENVIRONMENT_VARIABLE)


def _resolve(wanted: Iterable[DeviceLike], argument: str) -> tuple[torch.device, ...]:
    if isinstance(wanted, _NAMES):
        raise TypeError(f"{argument} must be a list of devices, not the single device {wanted!r}")
    try:
        found = tuple(_lookup(gpu, _hardware()) for gpu in wanted)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from error
    if not found:
        raise ValueError(f"{argument} must name at least one device")
    return found


# The current device, one per thread


def getDevice() -> int:
    """The GPU id of this thread's current device, 1 at the start.

    After a direct ``torch.cuda.set_device`` it is the first id of the GPU that was set.
    """
    listed = devices()
    gpu = _state.gpu if _state.devices is listed else 1
    current = listed[gpu - 1]
    if current.type == "cuda" and torch.cuda.is_initialized():
        actual = torch.device("cuda", torch.cuda.current_device())
        if actual != current and actual in listed:
            return listed.index(actual) + 1
    return gpu


def setDevice(gpu: DeviceLike) -> None:
    """Make a logical device this thread's current one, and CUDA's too when it is a CUDA device."""
    target = device(gpu)
    listed = devices()
    if isinstance(gpu, _NAMES):
        if target not in listed:
            names = ", ".join(map(str, listed))
            raise ValueError(f"device {target} is not one of the logical devices ({names})")
        number = listed.index(target) + 1
    else:
        number = operator.index(gpu)
    if target.type == "cuda":
        torch.cuda.set_device(target.index)
    _state.devices, _state.gpu = listed, number


@contextmanager
def device_guard(gpu: DeviceLike | None = None) -> Iterator[None]:
    """Run a ``with`` block on a logical device; the old one comes back on every way out.

    Without an argument the block starts on the current device and may change it at will.
    """
    saved = _state.devices, _state.gpu
    cuda = torch.cuda.current_device() if torch.cuda.is_initialized() else None
    try:
        if gpu is not None:
            setDevice(gpu)
        yield
    finally:
        _state.devices, _state.gpu = saved
        if torch.cuda.is_initialized() and torch.cuda.current_device() != (cuda or 0):
            torch.cuda.set_device(cuda or 0)


def withDevice(gpu: DeviceLike, closure: Callable[[], T]) -> T:
    """Call ``closure()`` with ``gpu`` as the current device and return what it returns.

    The old device comes back on every way out; an exception reaches the caller unchanged.
    """
    with device_guard(gpu):
        return closure()


def synchronize() -> None:
    """Wait for all work queued on the current device."""
    _synchronize(_of())


def synchronizeAll() -> None:
    """Wait for all work queued on every logical device."""
    for listed in dict.fromkeys(devices()):
        _synchronize(listed)


def _of(gpu: DeviceLike | None = None) -> torch.device:
    return device(getDevice() if gpu is None else gpu)


def _synchronize(target: torch.device) -> None:
    if target.type == "cuda":
        torch.cuda.synchronize(target)
    elif target.type != "cpu":
        torch.accelerator.synchronize(target)


# Facts about devices


def getMemoryUsage(gpu: DeviceLike | None = None) -> tuple[int, int]:
    """Free and total memory in bytes of a device (default: the current one).

    For a CPU device it is the machine's memory.
    """
    target = _of(gpu)
    if target.type == "cuda":
        return torch.cuda.mem_get_info(target)
    return _machine_memory()


def _machine_memory() -> tuple[int, int]:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        free, total = (int(facts[k].split()[0]) * 1024 for k in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError):
        page = os.sysconf("SC_PAGE_SIZE")
        total = os.sysconf("SC_PHYS_PAGES") * page
        # macOS does not tell how much is free.
        known = "SC_AVPHYS_PAGES" in os.sysconf_names
        free = os.sysconf("SC_AVPHYS_PAGES") * page if known else total
    return free, total


# Torch7's key, and the attribute of PyTorch's properties (some came after torch 2.6).
_PROPERTIES = {
    "name": "name",
    "major": "major",
    "minor": "minor",
    "totalGlobalMem": "total_memory",
    "multiProcessorCount": "multi_processor_count",
    "warpSize": "warp_size",
    "maxThreadsPerMultiProcessor": "max_threads_per_multi_processor",
    "regsPerMultiprocessor": "regs_per_multiprocessor",
    "sharedMemPerBlock": "shared_memory_per_block",
    "sharedMemPerMultiprocessor": "shared_memory_per_multiprocessor",
    "l2CacheSize": "L2_cache_size",
    "clockRate": "clock_rate",
    "memoryClockRate": "memory_clock_rate",
    "memoryBusWidth": "memory_bus_width",
    "pciDomainID": "pci_domain_id",
    "pciBusID": "pci_bus_id",
    "pciDeviceID": "pci_device_id",
    "integrated": "is_integrated",
}


def getDeviceProperties(gpu: DeviceLike | None = None) -> dict[str, Any]:
    """Facts of a device (default: the current one) under Torch7's keys, where PyTorch has them.

    A CPU device has ``name``, ``major``, ``minor``, ``multiProcessorCount`` (cores) and the memory.
    """
    target = _of(gpu)
    free, total = getMemoryUsage(target)
    if target.type != "cuda":
        facts: dict[str, Any] = {
            "name": platform.processor() or platform.machine(),
            "major": 0,
            "minor": 0,
            "multiProcessorCount": _cores(),
            "totalGlobalMem": total,
        }
    else:
        properties = torch.cuda.get_device_properties(target)
        facts = {
            key: getattr(properties, attribute)
            for key, attribute in _PROPERTIES.items()
            if hasattr(properties, attribute)
        }
    return {**facts, "freeGlobalMem": free}


def getPeerToPeerAccess(gpu: DeviceLike, peer: DeviceLike) -> bool:
    """Whether ``gpu`` can address the memory of ``peer``; PyTorch then does so on its own."""
    one, other = device(gpu), device(peer)
    if one == other:
        return True
    if one.type != "cuda" or other.type != "cuda":
        return False
    return torch.cuda.can_device_access_peer(one, other)


def getDriverVersion() -> int:
    """The newest CUDA version that the driver supports, as 12040 for 12.4; 0 without a driver."""
    return driver_version()


def getRuntimeVersion() -> int:
    """The CUDA version that PyTorch was built with, as 12040 for 12.4; 0 for one without CUDA."""
    if torch.version.cuda is None:
        return 0
    major, minor = torch.version.cuda.split(".")[:2]
    return int(major) * 1000 + int(minor) * 10


def isCachingAllocatorEnabled() -> bool:
    """Whether GPU memory is cached between uses."""
    return os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING") != "1"


# Random numbers


def _generator(target: torch.device) -> torch.Generator:
    if target.type == "cpu":
        return torch.default_generator
    module = torch.get_device_module(target)
    module.init()
    return module.default_generators[target.index]


def manualSeed(seed: int, gpu: DeviceLike | None = None) -> None:
    """Seed the generator of a device (default: the current one).

    Logical devices on one physical device share its generator.  A CPU device has PyTorch's
    generator, never Torch7's own of ``compat.random``, as ``cutorch`` never touched that one.
    """
    _generator(_of(gpu)).manual_seed(seed)


def manualSeedAll(seed: int) -> None:
    """Seed every device with the same number."""
    for listed in dict.fromkeys(devices()):
        manualSeed(seed, listed)


def seed(gpu: DeviceLike | None = None) -> int:
    """Seed a device with a number from the system's randomness and return that number."""
    return _generator(_of(gpu)).seed()


def seedAll() -> None:
    """Seed every device with one number from the system's randomness."""
    manualSeedAll(int.from_bytes(os.urandom(8), "little") >> 1)


def initialSeed(gpu: DeviceLike | None = None) -> int:
    """The number that a device was last seeded with."""
    return _generator(_of(gpu)).initial_seed()


def getRNGState(gpu: DeviceLike | None = None) -> torch.Tensor:
    """The state of a device's generator: a uint8 tensor on the CPU."""
    return _generator(_of(gpu)).get_state()


def setRNGState(state: torch.Tensor, gpu: DeviceLike | None = None) -> None:
    """Set the state of a device's generator to one that :func:`getRNGState` returned."""
    _generator(_of(gpu)).set_state(state)


# Host memory


def _host_tensor_maker(dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    def create(*size: int | Sequence[int]) -> torch.Tensor:
        sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size or (0,)
        return torch.empty(tuple(sizes), dtype=dtype, pin_memory=torch.cuda.is_available())  # type: ignore[arg-type]

    name = str(dtype).removeprefix("torch.")
    create.__doc__ = (
        f"An uninitialised {name} tensor on the CPU, page-locked when there is CUDA.\n\n"
        "Takes the sizes one by one or as one sequence; without any, the tensor is empty."
    )
    return create


createCudaHostTensor = createCudaHostFloatTensor = _host_tensor_maker(torch.float32)
createCudaHostDoubleTensor = _host_tensor_maker(torch.float64)
createCudaHostHalfTensor = _host_tensor_maker(torch.float16)
createCudaHostIntTensor = _host_tensor_maker(torch.int32)
createCudaHostLongTensor = _host_tensor_maker(torch.int64)
createCudaHostByteTensor = _host_tensor_maker(torch.uint8)


# Streams: number 0 is the default stream of every device, 1…n are the reserved ones.  On a CPU
# device the numbers are kept and waiting is free: CPU work is done when the call returns.

_streams: dict[torch.device, list[torch.cuda.Stream]] = {}
_reserved = 0


def reserveStreams(n: int, nonblocking: bool = False) -> None:
    """Have at least ``n`` streams on every device.

    Differs from Torch7: all streams of PyTorch are non-blocking, whatever ``nonblocking`` says.
    """
    global _reserved
    with _lock:
        _reserved = max(_reserved, n)


def getNumStreams() -> int:
    """The number of reserved streams per device."""
    return _reserved


def setStream(stream: int) -> None:
    """Make stream ``stream`` of every device the current one of this thread."""
    _check_stream(stream)
    with device_guard():
        for target in dict.fromkeys(devices()):
            if target.type == "cuda":
                torch.cuda.set_stream(_stream(target, stream))
    _state.stream = stream


def getStream() -> int:
    """The number of this thread's current stream."""
    return _state.stream


def setDefaultStream() -> None:
    """The same as ``setStream(0)``."""
    setStream(0)


def streamWaitFor(waiting: int, streams: Iterable[int]) -> None:
    """Let a stream of the current device wait for what others of it hold now; the host goes on."""
    streamWaitForMultiDevice(getDevice(), waiting, {getDevice(): streams})


def streamWaitForMultiDevice(
    gpu: DeviceLike, waiting: int, streams: Mapping[DeviceLike, Iterable[int]]
) -> None:
    """Let stream ``waiting`` of ``gpu`` wait for streams of any devices, given per device."""
    _check_stream(waiting)
    for other, numbers in streams.items():
        for number in numbers:
            _check_stream(number)
            waits, on = device(gpu), device(other)
            if waits.type == "cuda" and on.type == "cuda":
                _stream(waits, waiting).wait_stream(_stream(on, number))


def streamBarrier(streams: Iterable[int]) -> None:
    """Let streams of the current device wait for each other."""
    streamBarrierMultiDevice({getDevice(): streams})


def streamBarrierMultiDevice(streams: Mapping[DeviceLike, Iterable[int]]) -> None:
    """Let streams of any devices, given per device, wait for each other."""
    every = {gpu: list(numbers) for gpu, numbers in streams.items()}
    for gpu, numbers in every.items():
        for number in numbers:
            streamWaitForMultiDevice(gpu, number, every)


def streamSynchronize(stream: int) -> None:
    """Let the host wait for a stream of the current device."""
    _check_stream(stream)
    if _of().type == "cuda":
        _stream(_of(), stream).synchronize()


def _check_stream(stream: int) -> None:
    if not 0 <= stream <= _reserved:
        raise ValueError(
            f"stream {stream} does not exist: 0 is the default one and {_reserved} are reserved; "
            "call reserveStreams first"
        )


def _stream(target: torch.device, number: int) -> torch.cuda.Stream:
    if number == 0:
        return torch.cuda.default_stream(target)
    with _lock:
        made = _streams.setdefault(target, [])
        while len(made) < number:
            made.append(torch.cuda.Stream(target))
        return made[number - 1]


_PEERS = "PyTorch uses peer access wherever getPeerToPeerAccess says it can"
_HANDLES = "PyTorch keeps a BLAS handle per thread and stream on its own"
_INSTEAD = {
    "createCudaUVATensor": "use createCudaHostTensor and copy",
    "createFloatUVATensor": "use createCudaHostTensor",
    "toCudaUVATensor": "use tensor.to('cuda')",
    "toFloatUVATensor": "use tensor.to('cpu')",
    "setPeerToPeerAccess": _PEERS,
    "setKernelPeerToPeerAccess": _PEERS,
    "deviceReset": "use torch.cuda.empty_cache() to give memory back",
    "reserveBlasHandles": _HANDLES,
    "setBlasHandle": _HANDLES,
    "setHeapTracking": "Python frees tensors at once, there is no heap to track",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"cutorch.{name} does not exist in PyTorch: {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
