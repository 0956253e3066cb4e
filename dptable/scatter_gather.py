"""Split nested inputs over devices, and join nested outputs.

The structures are those of torch.nn.parallel: tuples, named tuples, lists and dicts of tensors, at
any depth. Every other object goes to all devices as it is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import check_some, listed
from compat.cutorch import DeviceLike
from dptable import comm
from dptable.tensors.checks import dim_from_front
from dptable.tensors.slices import slice_sizes
from dptable.tensors.structures import Place, unzipped, zipped

__all__ = ["copy_stream", "gather", "map_tensors", "scatter", "scatter_kwargs", "slice_sizes"]


def scatter(inputs: Any, devices: Iterable[DeviceLike], dim: int = 0) -> list[Any]:
    """Split every tensor of a structure along a dimension; return one structure per device.

    Tensors from the CPU reach a GPU on a background stream that the current stream waits for.

    Args:
        inputs: a tensor or a structure of tensors.
        devices: the devices of the parts.
        dim: the dimension, counted from 0.

    Returns:
        One structure per device that gets data, with tensors of the same dtype: a batch of 2 over 4
        devices gives two. A tensor that is empty along ``dim`` is empty on every device; a
        structure without tensors goes to all.

    Raises:
        ValueError: a tensor has no dimensions, or some tensors would reach fewer devices than
            others.

    Differs from torch.nn.parallel: the split is Torch7's (``slice_sizes``); tensors that would
    reach different numbers of devices are an error, where torch.nn.parallel silently drops data;
    the result is always a list.

    Examples:
        >>> parts = scatter({"x": torch.arange(4), "k": 3}, ["cpu", "cpu"])
        >>> [(part["x"].tolist(), part["k"]) for part in parts]
        [([0, 1], 3), ([2, 3], 3)]
    """
    targets = [cutorch.device(device) for device in devices]
    check_some(targets, "devices", "device")
    sizes = dict.fromkeys(_sizes(inputs, dim))
    used = {min(size, len(targets)) for size in sizes if size} or {len(targets)}
    if len(used) > 1:
        raise ValueError(
            f"inputs has tensors of sizes {listed(sizes, 'and')} along dimension {dim}; sizes that "
            f"reach the same ones of {len(targets)} devices are accepted"
        )
    targets = targets[: used.pop()]

    def parts(tensor: Tensor, place: Place) -> Sequence[Tensor]:
        return _scatter_tensor(tensor, targets, dim)

    return unzipped(inputs, parts, len(targets))


def scatter_kwargs(
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    devices: Iterable[DeviceLike],
    dim: int = 0,
) -> tuple[tuple[tuple[Any, ...], ...], tuple[dict[str, Any], ...]]:
    """Split positional and keyword arguments as ``scatter`` does.

    Returns:
        A tuple of argument tuples and a tuple of dicts, one entry per device that gets data.
    """
    split = scatter((tuple(inputs), dict(kwargs or {})), devices, dim)
    return tuple(args for args, _ in split), tuple(kwargs for _, kwargs in split)


def gather(outputs: Sequence[Any], destination: DeviceLike | None = None, dim: int = 0) -> Any:
    """Join structures of one form, as ``scatter`` or a network returned them for each device.

    Args:
        outputs: one structure per device, all of one form. 0-dimensional tensors join to a vector.
        destination: the device of the result; default: the current device.
        dim: the dimension, counted from 0.

    Returns:
        The structure with joined tensors. None stays None; a number, string or other object that is
        equal everywhere stays itself.

    Raises:
        ValueError: the structures differ.
    """
    outputs = list(outputs)
    check_some(outputs, "outputs", "structure")
    return zipped(outputs, lambda tensors: comm.gather(tensors, dim, destination), _agreed)


def _agreed(values: list[Any]) -> Any:
    first = values[0]
    if any(other != first for other in values):
        raise ValueError(
            f"outputs has {type(first).__name__} objects that differ; equal ones are accepted"
        )
    return first


def map_tensors(function: Callable[[Tensor], Tensor], structure: Any) -> Any:
    """Return a structure of the same form with ``function(tensor)`` in place of every tensor.

    Args:
        function: a function of one tensor.
        structure: a tensor, or lists, tuples and dicts of tensors, at any depth.
    """
    return unzipped(structure, lambda tensor, place: [function(tensor)], 1)[0]


def copy_stream(device: torch.device) -> torch.Stream | None:
    """Return the background stream that copies to a GPU; None for a device that has no streams."""
    if not accelerators.has_streams(device):
        return None
    with _lock:
        if device not in _copy_streams:
            _copy_streams[device] = accelerators.new_stream(device)
        return _copy_streams[device]


_copy_streams: dict[torch.device, torch.Stream] = {}
_lock = threading.Lock()


def _scatter_tensor(tensor: Tensor, targets: Sequence[torch.device], dim: int) -> Sequence[Tensor]:
    if tensor.device.type != "cpu":
        return comm.scatter(tensor, targets, dim=dim)
    streams = [copy_stream(target) for target in targets]
    chunks = comm.scatter(tensor, targets, dim=dim, streams=streams)
    for chunk, stream in zip(chunks, streams, strict=True):
        if stream is not None:
            current = accelerators.current_stream(chunk.device)
            current.wait_stream(stream)
            # The chunk's memory belongs to the copying stream and must outlive its use on this one.
            chunk.record_stream(current)
    return chunks


def _sizes(structure: Any, dim: int) -> Iterator[int]:
    if isinstance(structure, Tensor):
        yield structure.size(dim_from_front(structure, dim))
    elif isinstance(structure, dict):
        for value in structure.values():
            yield from _sizes(value, dim)
    elif isinstance(structure, list | tuple):
        for value in structure:
            yield from _sizes(value, dim)
