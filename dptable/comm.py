"""Collective operations between devices, with the signatures of ``torch.cuda.comm``.

They work on devices of any kind, also on CPUs and on one device listed several times. A device is
what ``compat.cutorch.device`` accepts: an int is a Torch7 GPU id, which counts from 1.

Copies are PyTorch's and are queued on the calling thread's current stream of each device. For a
copy between two GPUs, PyTorch makes both streams wait for each other, as Torch7's
``DataParallelTable`` does by hand. ``nccl=True`` asks for NCCL. Where NCCL cannot be used, the
operation falls back to copies after one warning that gives the reason.

Differs from torch.cuda.comm: it uses NCCL unasked, also where NCCL may hang
(``CUDA_LAUNCH_BLOCKING=1``), and returns complex numbers as pairs of real numbers.

Autograd records ``scatter`` and ``gather``, but no other function here (``dptable.replicate`` has a
differentiable broadcast).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import check_some, check_tensor
from compat.cutorch import DeviceLike
from compat.hints import answers
from compat.torch_internals import foreach_add_
from dptable.tensors import nccl as by_nccl
from dptable.tensors.checks import (
    check_replicas,
    check_same,
    common_device,
    device_of,
    dim_from_front,
    one_of,
)
from dptable.tensors.copies import (
    copy_,
    flattened,
    groups,
    joined,
    joined_size,
    moved,
    on,
    sent,
    spread,
    unflattened,
)
from dptable.tensors.inplace_sums import reduce_into_, reduce_slice_
from dptable.tensors.nccl import nccl_serves, why_not_nccl
from dptable.tensors.slices import slice_ranges, slice_sizes
from dptable.tensors.targets import current, listed_devices, root_first, targets_of
from dptable.torch_internals import foreach_add

__all__ = [
    "broadcast",
    "broadcast_coalesced",
    "broadcast_into_",
    "gather",
    "reduce_add",
    "reduce_add_coalesced",
    "reduce_into_",
    "reduce_slice_",
    "scatter",
    "slice_ranges",
    "slice_sizes",
    "why_not_nccl",
]

BUFFER_SIZE = 10485760

# Whole tensors


@torch.no_grad()
def broadcast(
    tensor: Tensor,
    devices: Iterable[DeviceLike] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
    nccl: bool = False,
) -> tuple[Tensor, ...]:
    """Copy a tensor to several devices.

    Args:
        tensor: any layout; on the first of ``devices`` or on the CPU.
        devices: the devices of the copies. The first entry of the result is ``tensor`` itself if it
            is there already.
        out: instead of ``devices``, tensors of the same shape that are filled and returned.
        nccl: use NCCL for the copies.

    Returns:
        One tensor per device, of the shape and dtype of ``tensor``, or ``out``.

    Raises:
        TypeError: ``tensor`` is not a tensor.
        ValueError: ``tensor`` is on a GPU other than the first, or a tensor of ``out`` has another
            shape.

    Examples:
        >>> [t.tolist() for t in broadcast(torch.ones(2), ["cpu", "cpu"])]
        [[1.0, 1.0], [1.0, 1.0]]
    """
    one_of(devices=devices, out=out)
    check_tensor(tensor, "tensor")
    if out is not None:
        for i, target in enumerate(out):
            check_same(target, tensor, f"out[{i}]", dtype=False)
        for target in out:
            copy_(target, tensor)
        return tuple(out)
    targets = targets_of(tensor.device, devices, "tensor")
    if tensor.layout != torch.strided:
        return _keeping_first(tensor, targets)
    root = tensor if tensor.device == targets[0] else moved(tensor, targets[0])
    copies = [root, *(torch.empty_like(root, device=target) for target in targets[1:])]
    broadcast_into_(copies, nccl=nccl)
    return tuple(copies)


@torch.no_grad()
def broadcast_coalesced(
    tensors: Sequence[Tensor],
    devices: Iterable[DeviceLike],
    buffer_size: int = BUFFER_SIZE,
    *,
    nccl: bool = False,
) -> list[list[Tensor]]:
    """Copy many tensors to several devices in few transfers.

    Args:
        tensors: any mix of shapes, dtypes and layouts, on the first of ``devices`` or on the CPU.
        devices: the devices of the copies. The first list of the result holds the tensors
            themselves if they are there already.
        buffer_size: tensors of one dtype travel together up to this many bytes.
        nccl: use NCCL for the copies.

    Returns:
        One list of tensors per device, each in the order of ``tensors``. The copies are contiguous.

    Raises:
        TypeError: an entry of ``tensors`` is not a tensor.
        ValueError: ``tensors`` are on several devices.

    Examples:
        >>> copies = broadcast_coalesced([torch.ones(3), torch.zeros(2)], ["cpu", "cpu"])
        >>> [[t.numel() for t in copy] for copy in copies]
        [[3, 2], [3, 2]]
    """
    tensors = list(tensors)
    source = common_device(tensors, "tensors")
    targets = targets_of(source, devices, "tensors")
    results = [list(tensors) for _ in targets]
    first = 1 if source == targets[0] else 0
    for group in groups(tensors, buffer_size):
        members = [tensors[i] for i in group]
        if members[0].layout != torch.strided:
            copies = [[moved(members[0], target)] for target in targets[first:]]
        else:
            copies = _broadcast_group(members, source, targets[first:], nccl and first == 1)
        for result, copied in zip(results[first:], copies, strict=True):
            for i, tensor in zip(group, copied, strict=True):
                result[i] = tensor
    return results


def _broadcast_group(
    members: list[Tensor], source: torch.device, targets: Sequence[torch.device], nccl: bool
) -> list[list[Tensor]]:
    if nccl or any(target != source for target in targets):
        flat = members[0].reshape(-1) if len(members) == 1 else flattened(members)
    if nccl:
        flats = [torch.empty_like(flat, device=target) for target in targets]
        broadcast_into_([flat, *flats], nccl=True)
    else:
        # On the source's own device joining the tensors is the copy.
        flats = [flattened(members) if t == source else moved(flat, t) for t in targets]
    return [unflattened(copy, members) for copy in flats]


@torch.no_grad()
def reduce_add(
    inputs: Sequence[Tensor], destination: DeviceLike | None = None, *, nccl: bool = False
) -> Tensor:
    """Sum tensors from several devices onto one device.

    Args:
        inputs: tensors of one shape, dtype and layout.
        destination: the device of one of the inputs; default: the current device.
        nccl: use NCCL for the sum.

    Returns:
        A new tensor on ``destination``, or the input itself when there is only one.

    Raises:
        TypeError: an entry of ``inputs`` is not a tensor.
        ValueError: the inputs differ in shape, dtype or layout, or none is on ``destination``.

    Examples:
        >>> reduce_add([torch.ones(2), torch.full((2,), 2.0)], "cpu").tolist()
        [3.0, 3.0]
    """
    inputs = list(inputs)
    root, others = root_first(inputs, [device_of(t, "inputs") for t in inputs], destination)
    for i, tensor in enumerate(inputs):
        check_same(tensor, inputs[0], f"inputs[{i}]")
    if not others:
        return inputs[root]
    if nccl and nccl_serves(inputs):
        result = torch.empty_like(inputs[root])
        by_nccl.reduce(inputs, result, root)
        return result
    target = inputs[root].device
    result = inputs[root] + on(inputs[others[0]], target)
    for i in others[1:]:
        result += on(inputs[i], target)
    return result


@torch.no_grad()
def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]],
    destination: DeviceLike | None = None,
    buffer_size: int = BUFFER_SIZE,
    *,
    nccl: bool = False,
) -> tuple[Tensor, ...]:
    """Sum lists of tensors entry by entry; each list comes from one device.

    Args:
        inputs: one sequence per device; the tensors at one position agree in shape and dtype.
        destination: the device of one of the lists; default: the current device.
        buffer_size: tensors of one dtype travel together up to this many bytes.
        nccl: use NCCL for the sums.

    Returns:
        The sums on ``destination``. For a single list, its own tensors. A sum of sparse and dense
        tensors is dense.

    Raises:
        ValueError: the lists differ in length, tensors at one position differ, or a list has
            tensors on several devices.

    Examples:
        >>> sums = reduce_add_coalesced([[torch.ones(2)], [torch.ones(2)]], "cpu")
        >>> sums[0].tolist()
        [2.0, 2.0]
    """
    lists = [list(tensors) for tensors in inputs]
    check_some(lists, "inputs", "sequence of tensors")
    for i, tensors in enumerate(lists):
        if len(tensors) != len(lists[0]):
            raise ValueError(
                f"inputs[{i}] has {len(tensors)} tensors, inputs[0] has {len(lists[0])}; as many "
                "are accepted"
            )
    if not lists[0]:
        return ()
    homes = [common_device(tensors, f"inputs[{i}]") for i, tensors in enumerate(lists)]
    root, others = root_first(lists, homes, destination)
    if not others:
        return tuple(lists[root])
    positions = [_uniform(tensors) for tensors in zip(*lists, strict=True)]
    lists = [list(tensors) for tensors in zip(*positions, strict=True)]
    for i, tensors in enumerate(lists):
        for j, tensor in enumerate(tensors):
            check_same(tensor, lists[0][j], f"inputs[{i}][{j}]")

    sums = list(lists[root])
    for group in groups(sums, buffer_size):
        members = [[tensors[i] for i in group] for tensors in lists]
        if members[0][0].layout != torch.strided:
            summed = [reduce_add([m[0] for m in members], homes[root])]
        elif nccl and nccl_serves([m[0].reshape(-1) for m in members]):
            flats = [flattened(m) for m in members]
            summed = unflattened(reduce_add(flats, homes[root], nccl=True), members[root])
        else:
            summed = _sum_groups(members, [root, *others], homes[root])
        for i, tensor in zip(group, summed, strict=True):
            sums[i] = tensor
    return tuple(sums)


def _sum_groups(
    members: list[list[Tensor]], order: Sequence[int], target: torch.device
) -> list[Tensor]:
    def on_target(tensors: list[Tensor]) -> list[Tensor]:
        if tensors[0].device == target:
            return tensors
        return unflattened(moved(flattened(tensors), target), tensors)

    first, second, *rest = order
    sums = foreach_add(members[first], on_target(members[second]))
    for i in rest:
        foreach_add_(sums, on_target(members[i]))
    return sums


def _uniform(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the tensors in one layout: all dense if one of them is."""
    if len({tensor.layout for tensor in tensors}) == 1:
        return tensors
    return [t if t.layout == torch.strided else t.to_dense() for t in tensors]


@torch.no_grad()
def broadcast_into_(tensors: Sequence[Tensor], *, nccl: bool = False) -> None:
    """Copy the first tensor into the others in place.

    A tensor that shares its memory with a tensor that was filled already is skipped.

    Args:
        tensors: tensors of one shape and dtype, on any devices.
        nccl: use NCCL for the copies.

    Raises:
        TypeError: an entry is not a tensor.
        ValueError: the tensors differ in shape or dtype. Nothing has been copied then.
    """
    check_replicas(tensors)
    spread(tensors, nccl=nccl)


# Parts of tensors


def scatter(
    tensor: Tensor,
    devices: Iterable[DeviceLike] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[torch.Stream | None] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Split a tensor along a dimension and put the chunks on several devices.

    Args:
        tensor: a tensor of at least one dimension.
        devices: the devices of the chunks. A chunk that is there already is a view of ``tensor``.
        chunk_sizes: one size per device; default: ``slice_sizes``. By default a device that would
            get an empty chunk is left out, unless ``tensor`` itself is empty.
        dim: the dimension, counted from 0.
        streams: the streams that copy, one (or None) per device; the caller's stream waits for
            them. Copies from pinned memory may still run when the call returns, as in
            torch.cuda.comm.
        out: instead of ``devices`` and ``chunk_sizes``, tensors that are filled and returned.

    Returns:
        One chunk per device, of the dtype and layout of ``tensor``.

    Raises:
        ValueError: ``tensor`` has no dimension ``dim``, or the sizes do not add up to its size
            there.

    Differs from torch.cuda.comm: the default sizes are Torch7's, so that all devices are used.

    Examples:
        >>> [t.tolist() for t in scatter(torch.arange(5), ["cpu", "cpu"])]
        [[0, 1, 2], [3, 4]]
    """
    one_of(devices=devices, out=out)
    check_tensor(tensor, "tensor")
    dim = dim_from_front(tensor, dim)
    if out is not None:
        if chunk_sizes is not None:
            raise ValueError(
                f"chunk_sizes is {list(chunk_sizes)}; with out, whose own sizes count, None is "
                "accepted"
            )
        chunk_sizes = [target.size(dim) for target in out]
        targets = [target.device for target in out]
    else:
        targets = listed_devices(devices)
    n = tensor.size(dim)
    if chunk_sizes is None:
        chunk_sizes = [size for size in slice_sizes(n, len(targets)) if size or not n]
        targets = targets[: len(chunk_sizes)]
    for what, sequence in (("chunk_sizes", chunk_sizes), ("streams", streams)):
        if sequence is not None and len(sequence) < len(targets):
            raise ValueError(
                f"{what} has {len(sequence)} entries; one for each of the {len(targets)} devices "
                "is accepted"
            )
    if sum(chunk_sizes) != n or len(chunk_sizes) != len(targets):
        raise ValueError(
            f"the sizes of chunks are {list(chunk_sizes)}; {len(targets)} that add up to {n}, the "
            f"size of dimension {dim}, are accepted"
        )
    chunks = _split(tensor, chunk_sizes, dim)
    for i, target in enumerate(out or ()):
        check_same(target, chunks[i], f"out[{i}]", dtype=False)
    results = []
    for i, chunk in enumerate(chunks):
        with _within(streams[i] if streams else None):
            if out is not None:
                results.append(out[i].copy_(chunk, non_blocking=targets[i].type != "cpu"))
            else:
                results.append(sent(chunk, targets[i]))
    return tuple(results)


def gather(
    tensors: Sequence[Tensor],
    dim: int = 0,
    destination: DeviceLike | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Join tensors from several devices along a dimension.

    Args:
        tensors: tensors of one dtype whose sizes agree in all dimensions but ``dim``;
            0-dimensional ones count as vectors of one element.
        dim: the dimension, counted from 0.
        destination: the device of the result; default: the current device.
        out: instead of ``destination``, the tensor that takes the result.

    Returns:
        The joined tensor, or ``out``.

    Raises:
        ValueError: the tensors differ in dtype, or in a size other than that of ``dim``.

    Examples:
        >>> gather([torch.zeros(2), torch.ones(1)], destination="cpu").tolist()
        [0.0, 0.0, 1.0]
    """
    tensors = list(tensors)
    check_some(tensors, "tensors", "tensor")
    for i, tensor in enumerate(tensors):
        check_tensor(tensor, f"tensors[{i}]")
    if all(tensor.dim() == 0 for tensor in tensors):
        tensors = [tensor.reshape(1) for tensor in tensors]
    dim = dim_from_front(tensors[0], dim)
    size = joined_size(tensors, dim)
    if out is not None:
        if destination is not None:
            raise ValueError(
                f"destination is {destination!r}; with out, whose own device counts, None is "
                "accepted"
            )
        if tuple(out.shape) != size:
            raise ValueError(f"out has size {tuple(out.shape)}; {size} is accepted")
    else:
        target = current() if destination is None else cutorch.device(destination)
        return joined(tensors, dim, target)
    for part, tensor in zip(out.split([t.size(dim) for t in tensors], dim), tensors, strict=True):
        copy_(part, tensor)
    return out


# Details


def _keeping_first(tensor: Tensor, targets: Sequence[torch.device]) -> tuple[Tensor, ...]:
    rest = tuple(moved(tensor, target) for target in targets[1:])
    return (on(tensor, targets[0]), *rest)


def _within(stream: torch.Stream | None) -> AbstractContextManager[object]:
    return nullcontext() if stream is None else accelerators.on_stream(stream)


def _split(tensor: Tensor, sizes: Sequence[int], dim: int) -> Sequence[Tensor]:
    if tensor.layout == torch.strided:
        return tensor.split(list(sizes), dim)
    starts = accumulate(sizes, initial=0)
    return [torch.narrow_copy(tensor, dim, a, n) for a, n in zip(starts, sizes, strict=False)]


_HINTS = {
    **dict.fromkeys(("all_reduce", "reduce"), "use comm.reduce_add, or distribute() for processes"),
    "all_gather": "use comm.gather",
}

__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "comm", _HINTS, __all__)
