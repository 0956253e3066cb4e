"""Streams under Torch7's numbers.

Number 0 is the default stream of every device, 1…n are the reserved ones. On a device without
streams, such as a CPU, the numbers are stored, and waiting does nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

import torch

from compat import accelerators
from compat.cutorch.devices import (
    DeviceLike,
    device,
    device_or_current,
    devices,
    getDevice,
)

_lock = threading.RLock()


class _ThreadState(threading.local):
    """The current stream number of each thread."""

    stream: int = 0


_state = _ThreadState()

_streams: dict[torch.device, list[torch.Stream]] = {}
_reserved = 0


def reserveStreams(n: int, nonblocking: bool = False) -> None:
    """Make at least ``n`` streams on every device.

    Differs from Torch7: all streams of PyTorch are non-blocking, whatever ``nonblocking`` says.

    Args:
        n: how many streams each device has afterwards, besides the default stream 0.
        nonblocking: for Torch7's signature.
    """
    global _reserved
    with _lock:
        _reserved = max(_reserved, n)


def getNumStreams() -> int:
    """Return the number of reserved streams per device."""
    return _reserved


def setStream(stream: int) -> None:
    """Make stream ``stream`` of every device the current one of this thread.

    Args:
        stream: 0 for the default stream, 1…n for a reserved one.

    Raises:
        ValueError: there is no stream of this number.
    """
    _check_stream(stream)
    for target in dict.fromkeys(devices()):
        if accelerators.has_streams(target):
            accelerators.set_stream(_stream(target, stream))
    _state.stream = stream


def getStream() -> int:
    """Return the number of this thread's current stream."""
    return _state.stream


def setDefaultStream() -> None:
    """Make the default stream current; the same as ``setStream(0)``."""
    setStream(0)


def streamWaitFor(waiting: int, streams: Iterable[int]) -> None:
    """Make a stream of the current device wait for the present work of others of its streams.

    The CPU does not wait.

    Args:
        waiting: the number of the stream that waits.
        streams: the numbers of the streams whose queued work it waits for.
    """
    streamWaitForMultiDevice(getDevice(), waiting, {getDevice(): streams})


def streamWaitForMultiDevice(
    gpu: DeviceLike, waiting: int, streams: Mapping[DeviceLike, Iterable[int]]
) -> None:
    """Make stream ``waiting`` of ``gpu`` wait for streams of any devices, given per device.

    The CPU does not wait.

    Args:
        gpu: the device of the stream that waits.
        waiting: its number.
        streams: for each device the numbers of its streams, ``{1: [1, 2], 2: [1]}``.
    """
    _check_stream(waiting)
    for other, numbers in streams.items():
        for number in numbers:
            _check_stream(number)
            waits, on = device(gpu), device(other)
            if accelerators.has_streams(waits) and accelerators.has_streams(on):
                _stream(waits, waiting).wait_stream(_stream(on, number))


def streamBarrier(streams: Iterable[int]) -> None:
    """Make streams of the current device wait for each other.

    The CPU does not wait. Work that is queued later on any of the streams runs after the present
    work of all.

    Args:
        streams: numbers of streams.
    """
    streamBarrierMultiDevice({getDevice(): streams})


def streamBarrierMultiDevice(streams: Mapping[DeviceLike, Iterable[int]]) -> None:
    """Make streams of any devices, given per device, wait for each other.

    The CPU does not wait.

    Args:
        streams: for each device the numbers of its streams, ``{1: [1, 2], 2: [1]}``.
    """
    every = {gpu: list(numbers) for gpu, numbers in streams.items()}
    for gpu, numbers in every.items():
        for number in numbers:
            streamWaitForMultiDevice(gpu, number, every)


def streamSynchronize(stream: int) -> None:
    """Make the CPU wait for a stream of the current device.

    Args:
        stream: its number, 0 for the default stream.
    """
    _check_stream(stream)
    if accelerators.has_streams(device_or_current()):
        _stream(device_or_current(), stream).synchronize()


def _check_stream(stream: int) -> None:
    if not 0 <= stream <= _reserved:
        raise ValueError(
            f"stream is {stream}; 0 (the default one) to {_reserved} are accepted: reserveStreams "
            "makes more"
        )


def _stream(target: torch.device, number: int) -> torch.Stream:
    if number == 0:
        return accelerators.default_stream(target)
    with _lock:
        made = _streams.setdefault(target, [])
        while len(made) < number:
            made.append(accelerators.new_stream(target))
        return made[number - 1]
