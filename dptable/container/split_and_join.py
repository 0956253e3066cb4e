"""Split nested tables of tensors over replicas, and join them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from compat import accelerators
from compat.checks import wrong_type
from compat.nn.checks.indexing import lacks_dimension
from compat.tensor_tables import pairs, tensors
from dptable.tensors.copies import joined, moved, sent
from dptable.tensors.structures import Place, at, named, unzipped, zipped

# How many of n elements each replica gets; None: parts that differ by at most one element, as
# torch.tensor_split makes and Torch7 does, the larger ones first.
Sizes = Callable[[int], list[int]] | None


def has_data(value: Any) -> bool:
    """Return whether any tensor of a nested table has elements."""
    if isinstance(value, Tensor):
        return value.numel() > 0
    return any(t.numel() for t in tensors(value))


def rows(value: Any, dim: int) -> int:
    """Return the size along ``dim`` of the first non-empty tensor of a nested table, or 0."""
    return next((t.size(dim) for t in tensors(value) if t.numel()), 0)


def distribute(value: Any, devices: Sequence[torch.device], dim: int, sizes: Sizes) -> list[Any]:
    """Return one part of the input ``value`` for each device that gets data, at least one.

    Every tensor is split along ``dim`` (counted from 0) as ``sizes`` says; empty tensors stay
    empty. The parts are copies, so that a layer may work in place on its part.
    """

    def parts(tensor: Tensor, place: Place) -> list[Tensor]:
        return _slices(tensor, devices, dim, sizes, lambda: named("input", place))

    if isinstance(value, Tensor):
        split = parts(value, ())
    else:
        split = unzipped(value, parts, len(devices), _refused("input"))
    used = 0
    while used < len(split) and has_data(split[used]):
        used += 1
    return split[: max(used, 1)]


def distribute_like(value: Any, dim: int, outputs: Sequence[Any]) -> list[Any]:
    """Split the gradient ``value`` as the ``outputs`` are split, and put it on their devices.

    An output is not always on its replica's device: a container in a container, or a module with a
    device of its own, puts it elsewhere.
    """
    for _ in pairs(outputs[0], value, ("output", "gradOutput")):
        pass  # refuses a table of another form
    refuse = _refused("gradOutput")

    def parts(tensor: Tensor, place: Place) -> list[Tensor]:
        likes = [at(output, place) for output in outputs]
        sizes = [like.size(dim) if like.numel() else 0 for like in likes]

        def checked(n: int) -> list[int]:
            if sum(sizes) != n:
                raise ValueError(
                    f"gradOutput has size {n} in dimension {_counted(dim)}; that of output, "
                    f"{sum(sizes)}, is accepted"
                )
            return sizes

        used = [like.device for like in likes]
        return _slices(tensor, used, dim, checked, lambda: named("gradOutput", place))

    def rest(item: Any, place: Place) -> None:
        if item is not None:  # a gradient that is not there
            refuse(item, place)

    return unzipped(value, parts, len(outputs), rest)


def _refused(name: str) -> Callable[[Any, Place], NoReturn]:
    def refuse(item: Any, place: Place) -> NoReturn:
        raise wrong_type(item, named(name, place), "a tensor or a table of tensors")

    return refuse


def _counted(dim: int) -> int:
    """Return Torch7's number of a dimension counted from 0."""
    return dim + 1 if dim >= 0 else dim


def _slices(
    tensor: Tensor,
    devices: Sequence[torch.device],
    dim: int,
    sizes: Sizes,
    name: Callable[[], str],
) -> list[Tensor]:
    if tensor.numel() == 0:
        return [tensor.to(device) for device in devices]
    if not -tensor.dim() <= dim < tensor.dim():
        raise lacks_dimension(tensor, _counted(dim), name())
    if sizes is None:
        parts = tensor.tensor_split(len(devices), dim)
    else:
        parts = tensor.split(sizes(tensor.size(dim)), dim)
    return [sent(part, device, copy=True) for part, device in zip(parts, devices, strict=True)]


def concat(parts: Sequence[Any], dim: int, device: torch.device, name: str) -> Any:
    """Join the replicas' results along ``dim`` on ``device``; the result is a copy.

    Empty parts are left out. The parts' memory may belong to a worker's stream; it is kept until
    the calling thread's stream has read it.
    """

    def join(results: list[Tensor]) -> Tensor:
        full = [part for part in results if part.numel()]
        if not full:
            return results[0].to(device)
        for part in full:
            if not part.is_cpu:
                accelerators.keep(part)
        if len(full) == 1:
            return moved(full[0], device)
        first = full[0]
        if not full[0].dim():
            full = [part.reshape(1) for part in full]
        if not -full[0].dim() <= dim < full[0].dim():
            raise lacks_dimension(first, _counted(dim), name)
        return joined(full, dim % full[0].dim(), device)

    if all(isinstance(part, Tensor) for part in parts):
        return join(list(parts))

    def rest(values: list[Any]) -> None:
        if values[0] is not None:
            raise wrong_type(values[0], f"{name} of a replica", "a tensor or a table of tensors")

    return zipped(parts, join, rest)
