"""The list of logical devices, and the current one of each thread."""

from __future__ import annotations

import operator
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

from compat import accelerators
from compat.checks import check_some
from compat.tensor_types import parse_type

DeviceLike = int | str | torch.device
_NAMES = (str, torch.device)
T = TypeVar("T")

ENVIRONMENT_VARIABLE = "DPTABLE_DEVICES"

_lock = threading.RLock()
_configured: tuple[torch.device, ...] | None = None


class _ThreadState(threading.local):
    """The current GPU id of each thread."""

    devices: tuple[torch.device, ...] | None = None
    gpu: int = 1


_state = _ThreadState()


def configure(devices: Iterable[DeviceLike] | None) -> None:
    """Set the list of logical devices: entry *i*, counted from 1, is what GPU id *i* means.

    Every thread starts again at GPU 1.

    Args:
        devices: device names (``["cpu"] * 8``, ``["cuda:0", "cuda:0"]``); an int is a GPU id of the
            default list. ``None`` restores the default.

    Raises:
        ValueError: the list is empty, or this machine lacks a device. The old list stays.
    """
    global _configured
    with _lock:
        _configured = _default_devices() if devices is None else _resolve(devices, "devices")


def devices() -> tuple[torch.device, ...]:
    """Return the logical devices in the order of their GPU ids."""
    global _configured
    if _configured is None:
        with _lock:
            if _configured is None:
                _configured = _default_devices()
    return _configured


def accelerated() -> tuple[torch.device, ...]:
    """Return the accelerators among the logical devices, each once."""
    global _accelerated
    listed = devices()
    if _accelerated[0] is not listed:
        _accelerated = listed, tuple(filter(accelerators.is_accelerator, dict.fromkeys(listed)))
    return _accelerated[1]


_accelerated: tuple[tuple[torch.device, ...] | None, tuple[torch.device, ...]] = None, ()


_CURRENT: Any = object()  # None, as of a variable that nobody has set, is refused


def device(gpu: DeviceLike = _CURRENT) -> torch.device:
    """Return the ``torch.device`` of a GPU id or of PyTorch's name.

    Args:
        gpu: an int, counted from 1, or a str or ``torch.device``; default: the current device.

    Raises:
        ValueError: the id is 0 or beyond the list, or the machine lacks the device.
    """
    return _lookup(getDevice() if gpu is _CURRENT else gpu, devices())


_warned: tuple[torch.device, ...] | None = None


def cuda_device(word: str, target: torch.device | None = None) -> torch.device:
    """Return the device for a tensor that is to be on CUDA.

    Accelerators of any kind count. If the device is a CPU, there is one warning for each list of
    devices.

    Args:
        word: what the script said, such as ``torch.CudaTensor``, for the warning.
        target: the device; default: the current one.
    """
    global _warned
    found = device_or_current() if target is None else target
    if not accelerators.is_accelerator(found) and _warned is not devices():
        _warned = devices()
        names = ", ".join(map(str, dict.fromkeys(_warned)))
        warnings.warn(
            f"{word} means {found} here: the logical devices are {names} (cutorch.configure sets "
            "them)",
            stacklevel=2,
        )
    return found


def place(type: str, tensor: torch.Tensor | None = None) -> tuple[torch.dtype, torch.device]:
    """Return the dtype of Torch7's tensor type ``type``, and the device for a tensor of it.

    A CUDA type means the current device, but a ``tensor`` on an accelerator stays on its own.

    Args:
        type: a tensor type of Torch7, such as ``torch.FloatTensor`` or ``torch.CudaTensor``.
        tensor: the tensor that is to be converted, if there is one.

    Returns:
        The dtype and the device.

    Raises:
        ValueError: there is no such type.
    """
    dtype, cuda = parse_type(type)
    if not cuda:
        return dtype, torch.device("cpu")
    if tensor is not None and accelerators.holds(tensor):
        return dtype, tensor.device
    return dtype, cuda_device(type)


def getDeviceCount() -> int:
    """Return the number of logical devices."""
    return len(devices())


def _lookup(gpu: DeviceLike, listed: Sequence[torch.device]) -> torch.device:
    if isinstance(gpu, _NAMES):
        return _named(gpu, listed)
    try:
        number = operator.index(gpu)
    except TypeError:
        number = None
    if number is None or isinstance(gpu, bool):
        raise TypeError(f"device is {gpu!r}; a GPU id (int), a str or a torch.device is accepted")
    if not 1 <= number <= len(listed):
        more = "; cutorch.configure makes a longer list" if number > len(listed) else ""
        raise ValueError(
            f"GPU id is {number}; 1 to {len(listed)} are accepted "
            f"({', '.join(map(str, listed))}): GPU ids count from 1, as in Torch7; "
            f"a name such as 'cpu' or 'cuda:0' is PyTorch's{more}"
        )
    return listed[number - 1]


def _named(name: str | torch.device, listed: Sequence[torch.device]) -> torch.device:
    """Return a device with its index, so that equal devices compare equal.

    A name without index, such as "cuda", means the current device if it is of that kind, else the
    first one among ``listed``.
    """
    try:
        found = torch.device(name)
    except RuntimeError as error:
        raise ValueError(
            f"device is {name!r}; a name such as 'cpu' or 'cuda:0' is accepted"
        ) from error
    if found.type == "cpu":
        return torch.device("cpu")
    if found.index is None:
        alike = [device for device in listed if device.type == found.type]
        return _of_current(alike) if alike else _named(torch.device(found.type, 0), listed)
    count = accelerators.count(found.type)
    if accelerators.is_accelerator(found) and found.index >= count:
        raise ValueError(
            f"device is {found}; one that PyTorch sees is accepted, and it sees {count} "
            f"{found.type.upper()} devices here"
        )
    return found


def _of_current(alike: list[torch.device]) -> torch.device:
    """Return this thread's current device if it is one of these, else the first of them."""
    current = _configured[_state.gpu - 1] if _configured and _state.devices is _configured else None
    return current if current in alike else alike[0]


def _hardware() -> tuple[torch.device, ...]:
    return accelerators.devices() or (torch.device("cpu"),) * cores()


def cores() -> int:
    """Return how many cores this process may use."""
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
        raise TypeError(
            f"{argument} is the single device {wanted!r}; a list of devices is accepted"
        )
    if not isinstance(wanted, Iterable):
        raise TypeError(f"{argument} is {wanted!r}; a list of devices is accepted")
    try:
        found = tuple(_lookup(gpu, _hardware()) for gpu in wanted)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from error
    check_some(found, argument, "device")
    return found


# The current device, one per thread


def getDevice() -> int:
    """Return the GPU id of this thread's current device, 1 at the start.

    After a direct call of ``torch.cuda.set_device`` (or of another kind's) it is the first id of
    that GPU.
    """
    listed = devices()
    gpu = _state.gpu if _state.devices is listed else 1
    current = listed[gpu - 1]
    if accelerated() and accelerators.started(current.type):
        actual = torch.device(current.type, accelerators.current_index(current.type))
        if actual != current and actual in listed:
            return listed.index(actual) + 1
    return gpu


def gpu_id(gpu: DeviceLike) -> int:
    """Return the GPU id, counted from 1, of a logical device.

    Args:
        gpu: a GPU id, which is returned as it is, or PyTorch's name of a device.

    Raises:
        ValueError: the device is not in the list.

    Examples:
        >>> from compat import cutorch
        >>> cutorch.configure(["cpu", "cpu"])
        >>> cutorch.gpu_id("cpu"), cutorch.gpu_id(2)
        (1, 2)
    """
    target, listed = device(gpu), devices()
    if not isinstance(gpu, _NAMES):
        return operator.index(gpu)
    if target not in listed:
        names = ", ".join(map(str, listed))
        raise ValueError(f"device is {target}; a logical device ({names}) is accepted")
    return listed.index(target) + 1


def setDevice(gpu: DeviceLike) -> None:
    """Make a logical device this thread's current one, and PyTorch's if it is an accelerator.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.

    Raises:
        ValueError: the device is not a logical one.
    """
    number, listed = gpu_id(gpu), devices()
    target = listed[number - 1]
    if target in accelerated():
        accelerators.use(target)
    _state.devices, _state.gpu = listed, number


@contextmanager
def device_guard(gpu: DeviceLike | None = None) -> Iterator[None]:
    """Run a block on a logical device; afterwards the former device is current again.

    Without an argument the block starts on the current device and may change it.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.

    Raises:
        ValueError: the device is not a logical one.

    Examples:
        >>> from compat import cutorch
        >>> cutorch.configure(["cpu", "cpu"])
        >>> with cutorch.device_guard(2):
        ...     cutorch.getDevice()
        2
        >>> cutorch.getDevice()
        1
    """
    saved = _state.devices, _state.gpu
    kind = accelerated()[0].type if accelerated() else None
    index = accelerators.current_index(kind) if kind and accelerators.started(kind) else 0
    try:
        if gpu is not None:
            setDevice(gpu)
        yield
    finally:
        _state.devices, _state.gpu = saved
        if kind and accelerators.started(kind) and accelerators.current_index(kind) != index:
            accelerators.use(torch.device(kind, index))


def withDevice(gpu: DeviceLike, closure: Callable[[], T]) -> T:
    """Call ``closure()`` with ``gpu`` as the current device and return its result.

    Afterwards the former device is current again, also after an exception.

    Args:
        gpu: a GPU id from 1, or PyTorch's name of a device.
        closure: a function without arguments. The former device is current again after it, also
            after an error.

    Examples:
        >>> from compat import cutorch
        >>> cutorch.configure(["cpu", "cpu"])
        >>> cutorch.withDevice(2, cutorch.getDevice)
        2
    """
    with device_guard(gpu):
        return closure()


def synchronize() -> None:
    """Wait for all work queued on the current device."""
    accelerators.synchronize(device_or_current())


def synchronizeAll() -> None:
    """Wait for all work queued on every logical device."""
    for listed in dict.fromkeys(devices()):
        accelerators.synchronize(listed)


def device_or_current(gpu: DeviceLike | None = None) -> torch.device:
    """Return ``device(gpu)``, or the current device."""
    return device() if gpu is None else device(gpu)
