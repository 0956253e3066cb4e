"""The verbs that carry tensors between devices, with the signatures of torch.cuda.comm.

They work on devices of any kind, CPU and one device listed several times included.  A device is
what :func:`compat.cutorch.device` takes: an int is a Torch7 GPU id, which counts from 1.

Copies are queued on the calling thread's current stream of each device; PyTorch lets both streams
of a copy between two GPUs wait for each other, as Torch7's ``DataParallelTable`` does by hand.
``nccl=True`` asks for NCCL instead; where it cannot serve, copies do, after one warning that says
why.

``scatter`` and ``gather`` are recorded by autograd, the other verbs are not
(:mod:`dptable.replicate` has the differentiable broadcast).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.cuda import nccl as _nccl

from compat import cutorch
from compat.cutorch import DeviceLike

BUFFER_SIZE = 10485760

# While one block of the sum stays in the cache, every replica's share of it is added: each byte
# then crosses the memory bus once, however many replicas there are.
_BLOCK_BYTES = 1 << 20


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
        devices: where the copies go.  The first gets ``tensor`` itself if it is there already.
        out: instead of ``devices``, tensors of the same shape that are filled and returned.
        nccl: whether NCCL should carry the copies.

    Raises ValueError for a tensor on a GPU other than the first and for ``out`` of another shape.
    """
    _one_of(devices=devices, out=out)
    _check_tensor(tensor, "tensor")
    if out is not None:
        for i, target in enumerate(out):
            _check_same(target, tensor, f"out[{i}]", dtype=False)
            _copy_(target, tensor)
        return tuple(out)
    targets = _targets(tensor.device, devices, "tensor")
    if tensor.layout != torch.strided:
        return _keeping_first(tensor, targets)
    root = tensor if tensor.device == targets[0] else _moved(tensor, targets[0])
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
        devices: where the copies go.  The first gets the tensors themselves if they are there.
        buffer_size: tensors of one dtype travel together up to this many bytes.
        nccl: whether NCCL should carry the copies.

    Returns one list of tensors per device, each in the order of ``tensors``.  The copies are
    contiguous.  Raises ValueError for tensors on several devices.
    """
    tensors = list(tensors)
    source = _common_device(tensors, "tensors")
    targets = _targets(source, devices, "tensors")
    results = [list(tensors) for _ in targets]
    first = 1 if source == targets[0] else 0
    for group in _groups(tensors, buffer_size):
        members = [tensors[i] for i in group]
        if members[0].layout != torch.strided:
            copies = [[_moved(members[0], target)] for target in targets[first:]]
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
        flat = members[0].reshape(-1) if len(members) == 1 else _flattened(members)
    if nccl:
        flats = [torch.empty_like(flat, device=target) for target in targets]
        broadcast_into_([flat, *flats], nccl=True)
    else:
        # On the source's own device joining the tensors is the copy.
        flats = [_flattened(members) if t == source else _moved(flat, t) for t in targets]
    return [_unflattened(copy, members) for copy in flats]


@torch.no_grad()
def reduce_add(
    inputs: Sequence[Tensor], destination: DeviceLike | None = None, *, nccl: bool = False
) -> Tensor:
    """Sum tensors that sit on several devices.

    Args:
        inputs: tensors of one shape, dtype and layout.
        destination: a device that one of them sits on; default: the current device.
        nccl: whether NCCL should do it.

    Returns a new tensor on ``destination``, or the input itself when there is only one.  Raises
    ValueError for inputs that differ and when none of them is on ``destination``.
    """
    inputs = list(inputs)
    root, others = _root_first(inputs, [_device_of(t, "inputs") for t in inputs], destination)
    for i, tensor in enumerate(inputs):
        _check_same(tensor, inputs[0], f"inputs[{i}]")
    if not others:
        return inputs[root]
    if nccl and _nccl_serves(inputs):
        result = torch.empty_like(inputs[root])
        _nccl.reduce(_as_real(inputs), output=_as_real([result])[0], root=root)
        return result
    target = inputs[root].device
    result = inputs[root] + _on(inputs[others[0]], target)
    for i in others[1:]:
        result += _on(inputs[i], target)
    return result


@torch.no_grad()
def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]],
    destination: DeviceLike | None = None,
    buffer_size: int = BUFFER_SIZE,
    *,
    nccl: bool = False,
) -> tuple[Tensor, ...]:
    """Sum, position by position, lists of tensors of which each list sits on one device.

    Args:
        inputs: one sequence per device; the tensors at one position agree in shape and dtype.
        destination: the device of one of the lists; default: the current device.
        buffer_size: tensors of one dtype travel together up to this many bytes.
        nccl: whether NCCL should do it.

    Returns the sums on ``destination``; with a single list its own tensors.  Where some tensors of
    a position are sparse and others not, the sum is dense.
    """
    lists = [list(tensors) for tensors in inputs]
    if not lists:
        raise ValueError("inputs must hold at least one sequence of tensors")
    for i, tensors in enumerate(lists):
        if len(tensors) != len(lists[0]):
            raise ValueError(
                f"inputs[{i}] has {len(tensors)} tensors, but inputs[0] has {len(lists[0])}"
            )
    if not lists[0]:
        return ()
    homes = [_common_device(tensors, f"inputs[{i}]") for i, tensors in enumerate(lists)]
    root, others = _root_first(lists, homes, destination)
    if not others:
        return tuple(lists[root])
    positions = [_uniform(tensors) for tensors in zip(*lists, strict=True)]
    lists = [list(tensors) for tensors in zip(*positions, strict=True)]
    for i, tensors in enumerate(lists):
        for j, tensor in enumerate(tensors):
            _check_same(tensor, lists[0][j], f"inputs[{i}][{j}]")

    sums = list(lists[root])
    for group in _groups(sums, buffer_size):
        members = [[tensors[i] for i in group] for tensors in lists]
        if members[0][0].layout != torch.strided:
            summed = [reduce_add([m[0] for m in members], homes[root])]
        elif nccl and _nccl_serves(flats := [_flattened(m) for m in members]):
            summed = _unflattened(reduce_add(flats, homes[root], nccl=True), members[root])
        else:
            summed = _sum_groups(members, [root, *others], homes[root])
        for i, tensor in zip(group, summed, strict=True):
            sums[i] = tensor
    return tuple(sums)


def _sum_groups(
    members: list[list[Tensor]], order: Sequence[int], target: torch.device
) -> list[Tensor]:
    def brought(tensors: list[Tensor]) -> list[Tensor]:
        if tensors[0].device == target:
            return tensors
        return _unflattened(_moved(_flattened(tensors), target), tensors)

    first, second, *rest = order
    sums = torch._foreach_add(members[first], brought(members[second]))
    for i in rest:
        torch._foreach_add_(sums, brought(members[i]))
    return list(sums)


def _uniform(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """The tensors, all of one layout."""
    if len({tensor.layout for tensor in tensors}) == 1:
        return tensors
    return [t if t.layout == torch.strided else t.to_dense() for t in tensors]


# Parts of tensors


def slice_sizes(n: int, k: int) -> list[int]:
    """How Torch7 splits ``n`` elements over ``k`` devices: 9 over 4 is ``[3, 2, 2, 2]``.

    Sizes differ by at most one and the larger ones come first (``torch.chunk`` gives 3, 3, 3).
    """
    if k < 1 or n < 0:
        raise ValueError(f"cannot split {n} elements into {k} slices")
    size, extra = divmod(n, k)
    return [size + 1] * extra + [size] * (k - extra)


def slice_ranges(n: int, k: int) -> list[tuple[int, int]]:
    """The slices of :func:`slice_sizes` as ``(start, stop)``."""
    return list(pairwise(accumulate(slice_sizes(n, k), initial=0)))


def scatter(
    tensor: Tensor,
    devices: Iterable[DeviceLike] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[torch.cuda.Stream | None] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Split a tensor along a dimension and put the chunks on several devices.

    Args:
        tensor: a tensor of at least one dimension.
        devices: where the chunks go; a chunk that is there already is a view of ``tensor``.
        chunk_sizes: one size per device; default: :func:`slice_sizes`, leaving out the devices for
            which nothing is left.  Nothing is left out when ``tensor`` itself is empty.
        dim: the dimension, counted from 0.
        streams: the CUDA streams that copy, one (or None) per device; the caller waits for them.
        out: instead of ``devices`` and ``chunk_sizes``, tensors that are filled and returned.

    Differs from torch.cuda.comm: the default sizes are Torch7's, so that all devices are used.
    """
    _one_of(devices=devices, out=out)
    _check_tensor(tensor, "tensor")
    dim = checked_dim(tensor, dim)
    if out is not None:
        if chunk_sizes is not None:
            raise ValueError("chunk_sizes must not be given with out, whose own sizes count")
        chunk_sizes = [target.size(dim) for target in out]
        targets = [target.device for target in out]
    else:
        targets = _devices(devices)
    n = tensor.size(dim)
    if chunk_sizes is None:
        chunk_sizes = [size for size in slice_sizes(n, len(targets)) if size or not n]
        targets = targets[: len(chunk_sizes)]
    for what, sequence in (("chunk_sizes", chunk_sizes), ("streams", streams)):
        if sequence is not None and len(sequence) < len(targets):
            raise ValueError(f"{what} has {len(sequence)} entries for {len(targets)} devices")
    if sum(chunk_sizes) != n or len(chunk_sizes) != len(targets):
        raise ValueError(
            f"chunk sizes {list(chunk_sizes)} do not split dimension {dim} of size {n} "
            f"over {len(targets)} devices"
        )
    results = []
    for i, chunk in enumerate(_split(tensor, chunk_sizes, dim)):
        with torch.cuda.stream(streams[i] if streams else None):
            if out is not None:
                _check_same(out[i], chunk, f"out[{i}]", dtype=False)
                results.append(out[i].copy_(chunk, non_blocking=out[i].device.type != "cpu"))
            else:
                results.append(_on(chunk, targets[i]))
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
        destination: where the result goes; default: the current device.
        out: instead of ``destination``, the tensor that takes the result.
    """
    tensors = list(tensors)
    if not tensors:
        raise ValueError("tensors must hold at least one tensor")
    for i, tensor in enumerate(tensors):
        _check_tensor(tensor, f"tensors[{i}]")
    if all(tensor.dim() == 0 for tensor in tensors):
        tensors = [tensor.reshape(1) for tensor in tensors]
    dim = checked_dim(tensors[0], dim)
    size = _joined_size(tensors, dim)
    if out is not None:
        if destination is not None:
            raise ValueError("destination must not be given with out, whose own device counts")
        if tuple(out.shape) != size:
            raise ValueError(f"out has shape {tuple(out.shape)}, the result has {size}")
    else:
        target = _current() if destination is None else cutorch.device(destination)
        recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
        dense = all(t.layout == torch.strided for t in tensors)
        if recorded or not dense or all(t.device == target for t in tensors):
            return torch.cat([_on(tensor, target) for tensor in tensors], dim)
        out = torch.empty(size, dtype=tensors[0].dtype, device=target)
    for part, tensor in zip(out.split([t.size(dim) for t in tensors], dim), tensors, strict=True):
        _copy_(part, tensor)
    return out


def _joined_size(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        fits = tensor.dim() == first.dim() and all(
            a == b
            for d, (a, b) in enumerate(zip(tensor.shape, first.shape, strict=True))
            if d != dim
        )
        if not fits or tensor.dtype != first.dtype:
            raise ValueError(
                f"tensors[{i}] of shape {tuple(tensor.shape)} and {tensor.dtype} does not join "
                f"{tuple(first.shape)} of {first.dtype} along dimension {dim}"
            )
    return (*first.shape[:dim], sum(t.size(dim) for t in tensors), *first.shape[dim + 1 :])


# In place, as a container of replicas needs them


@torch.no_grad()
def broadcast_into_(tensors: Sequence[Tensor], *, nccl: bool = False) -> None:
    """Copy the first tensor into the others, which have its shape.

    Tensors that share their memory with one that is up to date already cost nothing.
    """
    first = tensors[0]
    _check_replicas(tensors)
    written = {_place(first): first}
    for tensor in tensors[1:]:
        written.setdefault(_place(tensor), tensor)
    distinct = list(written.values())
    if len(distinct) == 1 or first.numel() == 0:
        return
    if nccl and _nccl_serves(distinct):
        _nccl.broadcast(_as_real(distinct))
        return
    for tensor in distinct[1:]:
        _copy_(tensor, first)


@torch.no_grad()
def reduce_into_(tensors: Sequence[Tensor], *, zero: bool = False, nccl: bool = False) -> None:
    """Add all tensors into the first one, in order; with ``zero`` the others end as zeros.

    The tensors have one shape and separate memory.  Contiguous ones on the CPU are summed block
    by block while a block is in the cache.
    """
    first, *others = tensors
    _check_replicas(tensors)
    if not others:
        return
    if nccl and _nccl_serves(tensors):
        _nccl.reduce(_as_real(tensors))
        if zero:
            torch._foreach_zero_(others)
        return
    if all(t.device.type == "cpu" and t.is_contiguous() for t in tensors):
        reduce_slice_([t.view(-1) for t in tensors], 0, first.numel(), zero=zero)
        return
    for tensor in others:
        first += _on(tensor, first.device)
    if zero:
        torch._foreach_zero_(others)


@torch.no_grad()
def reduce_slice_(tensors: Sequence[Tensor], start: int, stop: int, *, zero: bool = False) -> None:
    """Do :func:`reduce_into_` for the elements ``start`` to ``stop`` (excluded) of flat tensors.

    Worker threads that take the :func:`slice_ranges` of the buffers among them share the work.
    """
    first, *others = tensors
    if any(tensor.dim() != 1 for tensor in tensors):
        raise ValueError("reduce_slice_ takes flat tensors, of one dimension")
    if not 0 <= start <= stop <= first.numel():
        raise ValueError(f"elements {start} to {stop} are not within the {first.numel()} there are")
    # Without a second pass over the same bytes there is nothing that a cache could save.
    one_pass = first.device.type != "cpu" or (len(others) == 1 and not zero)
    block = stop - start if one_pass else _BLOCK_BYTES // first.element_size()
    for low in range(start, stop, max(1, block)):
        high = min(low + block, stop)
        total = first[low:high]
        for tensor in others:
            part = tensor[low:high]
            total += _on(part, first.device)
            if zero:
                part.zero_()


def _place(tensor: Tensor) -> tuple[object, ...]:
    return tensor.device, tensor.data_ptr(), tensor.stride()


# NCCL

_NCCL_TYPES = frozenset(
    {
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
        torch.int8,
        torch.uint8,
        torch.int32,
        torch.int64,
    }
)
_told: set[str] = set()


def why_not_nccl(tensors: Sequence[Tensor]) -> str | None:
    """Why NCCL cannot serve these tensors, one per device, or None if it can."""
    if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        return "CUDA_LAUNCH_BLOCKING is 1, with which NCCL hangs"
    if not all(tensor.is_cuda for tensor in tensors):
        return "not all devices are GPUs"
    if len({tensor.device for tensor in tensors}) < len(tensors):
        return "a GPU is listed twice"
    if not hasattr(torch._C, "_nccl_all_reduce"):
        return "this PyTorch was built without NCCL"
    if not all(t.layout == torch.strided and t.is_contiguous() for t in tensors):
        return "a tensor is not contiguous"
    if not all(tensor.dtype in _NCCL_TYPES for tensor in tensors):
        return f"it does not know {tensors[0].dtype}"
    return None


def _nccl_serves(tensors: Sequence[Tensor]) -> bool:
    reason = why_not_nccl(tensors)
    if reason is None:
        return True
    if reason not in _told:
        _told.add(reason)
        warnings.warn(f"NCCL is not used, copies are: {reason}", stacklevel=4)
    return False


def _as_real(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Views that NCCL understands: complex numbers as pairs."""
    return [torch.view_as_real(t) if t.is_complex() else t for t in tensors]


# Moving, joining and checking


def _on(tensor: Tensor, target: torch.device) -> Tensor:
    """The tensor on ``target``: itself if it is there.  A copy to the CPU is awaited."""
    return tensor.to(target, non_blocking=target.type != "cpu")


def _moved(tensor: Tensor, target: torch.device) -> Tensor:
    """A copy of the tensor on ``target``, also if it is there already."""
    return tensor.to(target, non_blocking=target.type != "cpu", copy=True)


def _keeping_first(tensor: Tensor, targets: Sequence[torch.device]) -> tuple[Tensor, ...]:
    rest = tuple(_moved(tensor, target) for target in targets[1:])
    return (_on(tensor, targets[0]), *rest)


def _copy_(target: Tensor, source: Tensor) -> None:
    # The source may be overwritten as soon as this returns: a host copy must be over by then.
    target.copy_(source, non_blocking=target.device.type == source.device.type)


def _flattened(tensors: Sequence[Tensor]) -> Tensor:
    """A new contiguous vector of all elements."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def _unflattened(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of ``flat`` with the shapes of ``like``, each with a version counter of its own.

    They are given away as separate tensors: a change of one must not trip autograd in another.
    """
    parts = flat.split([tensor.numel() for tensor in like])
    return [part.view(t.shape).data for part, t in zip(parts, like, strict=True)]


def _split(tensor: Tensor, sizes: Sequence[int], dim: int) -> Sequence[Tensor]:
    if tensor.layout == torch.strided:
        return tensor.split(list(sizes), dim)
    starts = accumulate(sizes, initial=0)
    return [torch.narrow_copy(tensor, dim, a, n) for a, n in zip(starts, sizes, strict=False)]


def _groups(tensors: Sequence[Tensor], limit: int) -> Iterator[list[int]]:
    """Positions of tensors that travel together: one dtype, at most ``limit`` bytes unless alone.

    A tensor that is not dense always travels alone.
    """
    if limit < 1:
        raise ValueError(f"buffer_size must be at least 1, not {limit}")
    growing: dict[torch.dtype, list[int]] = {}
    sizes: dict[torch.dtype, int] = {}
    for i, tensor in enumerate(tensors):
        if tensor.layout != torch.strided:
            yield [i]
            continue
        kind, size = tensor.dtype, tensor.numel() * tensor.element_size()
        if kind in growing and sizes[kind] + size > limit:
            yield growing.pop(kind)
        if kind not in growing:
            growing[kind], sizes[kind] = [], 0
        growing[kind].append(i)
        sizes[kind] += size
    yield from growing.values()


def _current() -> torch.device:
    return cutorch.device(cutorch.getDevice())


def _devices(devices: Iterable[DeviceLike] | None) -> list[torch.device]:
    found = [cutorch.device(device) for device in devices or ()]
    if not found:
        raise ValueError("devices must name at least one device")
    return found


def _targets(
    source: torch.device, devices: Iterable[DeviceLike] | None, argument: str
) -> list[torch.device]:
    targets = _devices(devices)
    if source not in (targets[0], torch.device("cpu")):
        raise ValueError(
            f"{argument} must be on the first device, {targets[0]}, or on the CPU, not on {source}"
        )
    return targets


def _one_of(**arguments: object) -> None:
    given = [name for name, value in arguments.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"exactly one of {' and '.join(arguments)} must be given, not {given}")


def _check_tensor(value: object, argument: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{argument} must be a tensor, not {type(value).__name__}")


def _device_of(value: Tensor, argument: str) -> torch.device:
    _check_tensor(value, argument)
    return value.device


def _common_device(tensors: Sequence[Tensor], argument: str) -> torch.device:
    homes = {_device_of(tensor, argument) for tensor in tensors}
    if len(homes) > 1:
        raise ValueError(f"{argument} must be on one device, not on {sorted(map(str, homes))}")
    return homes.pop() if homes else torch.device("cpu")


def _check_same(tensor: Tensor, like: Tensor, argument: str, *, dtype: bool = True) -> None:
    def facts(t: Tensor) -> tuple[object, ...]:
        return (tuple(t.shape), t.layout, t.dtype if dtype else None)

    _check_tensor(tensor, argument)
    if facts(tensor) != facts(like):
        raise ValueError(
            f"{argument} is {tuple(tensor.shape)} {tensor.dtype} {tensor.layout}, but must be "
            f"{tuple(like.shape)} {like.dtype} {like.layout}"
        )


def _check_replicas(tensors: Sequence[Tensor]) -> None:
    for i, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape or tensor.dtype != tensors[0].dtype:
            _check_same(tensor, tensors[0], f"tensors[{i}]")


def _root_first(
    inputs: Sequence[object], homes: Sequence[torch.device], destination: DeviceLike | None
) -> tuple[int, list[int]]:
    """The position of the first input on ``destination``, and the other positions."""
    if not inputs:
        raise ValueError("inputs must not be empty")
    target = _current() if destination is None else cutorch.device(destination)
    if target not in homes:
        raise ValueError(
            f"destination {target} must be the device of one of the inputs: "
            f"{', '.join(map(str, homes))}"
        )
    root = homes.index(target)
    return root, [i for i in range(len(inputs)) if i != root]


def checked_dim(tensor: Tensor, dim: int) -> int:
    """``dim`` counted from the front; ValueError if the tensor does not have it."""
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(f"dim {dim} does not exist in a tensor of {tensor.dim()} dimensions")
    return dim % tensor.dim()
