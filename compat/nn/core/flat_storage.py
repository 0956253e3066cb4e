"""Flat storage: all parameters of a net in one tensor.

``flatten`` moves parameters and gradients into one storage each and makes every tensor a view of
it, in place, so that every reference to the tensors sees the same numbers as before. Flat tensors
that were returned earlier move along. If only a part of them is converted later, they are left
behind, as in Torch7.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from compat import accelerators
from compat.storage_changes import moved
from compat.torch_internals import version


class FlatGroup:
    """The flat tensors that were returned over one storage, and the tensors that lie in it.

    Each of these tensors refers to its group.
    """

    def __init__(self) -> None:
        self._views: list[weakref.ref[Tensor]] = []
        self._members: list[weakref.ref[Tensor]] = []

    def add(self, view: Tensor) -> None:
        """Add a flat tensor that is about to be returned."""
        # The list is rebuilt, so that references to views that are gone do not pile up.
        self._views = [weakref.ref(v) for v in self.views() if v is not view]
        self._views.append(weakref.ref(view))
        view.__dict__["_flat"] = self

    def drop(self, view: Tensor) -> None:
        """Remove a flat tensor: it does not move along any more."""
        self._views = [weakref.ref(v) for v in self.views() if v is not view]
        view.__dict__.pop("_flat", None)

    def join(self, members: Iterable[Tensor]) -> None:
        """Add tensors that lie in the storage."""
        joined = {id(member): member for member in (*self.members(), *members)}
        self._members = [weakref.ref(member) for member in joined.values()]
        for member in joined.values():
            member.__dict__["_flat"] = self

    def views(self) -> list[Tensor]:
        return _alive(self._views)

    def members(self) -> list[Tensor]:
        return _alive(self._members)

    def version(self) -> int:
        """Return a number that grows with every in-place change by one of the flat tensors."""
        return sum([version(view) for view in [ref() for ref in self._views] if view is not None])

    def __deepcopy__(self, memo: dict[int, Any]) -> FlatGroup:
        # A copy of a net has memory of its own, so its tensors form a new, empty group.
        return memo.setdefault(id(self), FlatGroup())

    def __reduce__(self) -> tuple[Any, ...]:
        # A tensor read back is in no group. This is what torch.load makes with weights_only.
        return OrderedDict, ()


def _alive(refs: list[weakref.ref[Tensor]]) -> list[Tensor]:
    return [tensor for tensor in (ref() for ref in refs) if tensor is not None]


class InUse(ValueError):
    """A flat tensor that is still referenced would be torn apart.

    This happens when ``getParameters`` of another net would move a part of its parameters. Call it
    on the larger net first, or drop the flat tensor.
    """


def flatten(
    parameters: list[Tensor], gradients: list[Tensor], offsets: list[int | None] | None = None
) -> tuple[Tensor, Tensor]:
    """Move all ``parameters`` into one flat tensor and all ``gradients`` into another.

    The order is Torch7's (``Module.flatten``): by storage, in the order of first appearance. Shared
    memory is there once. Parameters that already lie side by side in one storage stay where they
    are.

    Args:
        parameters: tensors of one dtype and device.
        gradients: their gradients, in the same order.
        offsets: where each parameter is to be, from ``layout``; default: Torch7's order.

    Returns:
        The flat parameters and the flat gradients.

    Raises:
        ValueError: the tensors have several types or devices, or parameters share memory where
            their gradients do not. Nothing has moved then.
        InUse: a flat tensor that is still referenced would be torn apart. Nothing has moved then.
    """
    if not parameters:
        return torch.empty(0), torch.empty(0)
    for i, gradient in enumerate(gradients):
        if gradient is None:
            raise ValueError(
                f"parameter {i + 1} has no gradient tensor; parameters with one are accepted"
            )
    # Two plans, compared below: a parameter and its gradient must get the same offset, since
    # optimizers compute with both flat tensors element by element.
    plans = _Plan(parameters, "parameters"), _Plan(gradients, "gradients")
    if plans[0].size != plans[1].size:
        # What to check, and "misaligned parameters" below, are Lua's own words.
        raise ValueError(
            f"there are {plans[0].size} parameters and {plans[1].size} gradients: "
            "check that you are sharing parameters and gradParameters"
        )
    plans[0].follow(offsets)
    plans[1].follow(plans[0].offsets)
    if plans[0].offsets != plans[1].offsets:
        raise ValueError("misaligned parameters: share weights and their gradients alike")
    # Both are checked before either is applied: an error leaves everything where it was.
    for plan in plans:
        plan.check()
    return plans[0].apply(), plans[1].apply()


def gather(tensors: list[Tensor]) -> Tensor:
    """Return all ``tensors`` as one flat tensor, and make them views of it."""
    plan = _Plan(tensors, "tensors")
    plan.check()
    return plan.apply()


def layout(tensors: list[Tensor]) -> list[int | None]:
    """Return where ``flatten`` puts each of ``tensors``: its offset in the flat tensor."""
    return _Plan(tensors, "tensors").offsets if tensors else []


def side_by_side(tensors: list[Tensor]) -> Tensor | None:
    """Return a flat view of ``tensors`` if they fill one range of one storage in order, or None.

    Empty tensors may be anywhere.
    """
    filled = [tensor for tensor in tensors if tensor.numel()]
    if not filled:
        return tensors[0].detach().as_strided((0,), (1,))
    first = filled[0]
    dtype, start = first.dtype, first.data_ptr()
    end = start
    for tensor in filled:
        if tensor.data_ptr() != end or tensor.dtype != dtype or not tensor.is_contiguous():
            return None
        end += tensor.nbytes
    # Equal addresses alone prove nothing: an allocator may put two storages next to each other.
    storage = first.untyped_storage()
    if end > storage.data_ptr() + storage.nbytes():
        return None  # another storage happens to be next to it
    return first.detach().as_strided(((end - start) // first.itemsize,), (1,))


def _is_dense(tensor: Tensor) -> bool:
    """Return whether the elements fill a range of memory without holes, in any order."""
    if tensor.numel() == 0:
        return True
    # In the order of their strides, dense dimensions multiply up without a gap; transposed tensors
    # pass, too. A dimension of size 1 may have any stride.
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


class _Plan:
    """The new place of each tensor in the flat storage.

    Attributes:
        ranges: for each present storage, the ranges ``(start, end, target)`` to copy.
        offsets: the offset of each tensor in the flat storage.
    """

    def __init__(self, tensors: list[Tensor], name: str) -> None:
        self.tensors = tensors
        self.name = name
        first = tensors[0]
        ranges: dict[int, list[tuple[int, int]]] = {}
        for i, tensor in enumerate(tensors):
            if tensor.dtype != first.dtype or tensor.device != first.device:
                raise ValueError(
                    f"number {i + 1} of the {name} is {tensor.dtype} on {tensor.device}, the first "
                    f"is {first.dtype} on {first.device}; one type on one device is accepted"
                )
            if not _is_dense(tensor):
                raise ValueError(
                    f"number {i + 1} of the {name} is {tuple(tensor.shape)} with strides "
                    f"{tensor.stride()}; a tensor without gaps or repetitions is accepted"
                )
            start = int(tensor.storage_offset())
            ranges.setdefault(storage_key(tensor), []).append((start, start + tensor.numel()))
        self.ranges: dict[int, list[tuple[int, int, int]]] = {}
        self.size = 0
        for key, pieces in ranges.items():
            # Overlapping tensors are one range, so that they go on sharing memory.
            for start, end in _merged(pieces):
                self.ranges.setdefault(key, []).append((start, end, self.size))
                self.size += end - start
        self.offsets = [self._moved(t) for t in tensors]

    def _moved(self, tensor: Tensor) -> int | None:
        """Return the new offset of a tensor, or None if it would be torn apart."""
        start = int(tensor.storage_offset())
        end = start + tensor.numel()
        for a, b, target in self.ranges[storage_key(tensor)]:
            if a <= start and end <= b:
                return target + start - a
        return None

    def follow(self, offsets: list[int | None] | None) -> None:
        """Use these offsets if they make exactly those tensors share memory that share it now."""
        if offsets is None or offsets == self.offsets:
            return
        places: dict[tuple[int, int, int], int] = {}
        for tensor, offset in zip(self.tensors, offsets, strict=True):
            start, length = int(tensor.storage_offset()), tensor.numel()
            if (
                length
                and places.setdefault((storage_key(tensor), start, length), offset or 0) != offset
            ):
                return
        # Two places at one offset would make tensors share memory that do not share it now, and
        # together they must fill the flat tensor exactly.
        lengths = [length for _, _, length in places]
        if len(set(places.values())) < len(places) or sum(lengths) != self.size:
            return
        self.ranges = {key: [] for key, _, _ in places}
        for (key, start, length), offset in places.items():
            self.ranges[key].append((start, start + length, offset))
        self.offsets = offsets

    def _in_place(self) -> bool:
        return len(self.ranges) == 1 and len(next(iter(self.ranges.values()))) == 1

    # Only weak references to flat tensors are kept: those that nobody holds need not move.
    def _handed_out(self) -> list[Tensor]:
        groups = {id(g): g for g in (t.__dict__.get("_flat") for t in self.tensors) if g}
        views = [view for group in groups.values() for view in group.views()]
        return [view for view in views if storage_key(view) in self.ranges]

    def check(self) -> None:
        """Raise InUse if a referenced flat tensor would be torn apart."""
        # Tensors that fill one range already stay there, and so do all views of it.
        if not self._in_place():
            for view in self._handed_out():
                if self._offset_of(view) is None:
                    raise InUse(
                        f"a flat tensor of {view.numel()} {self.name} from an earlier "
                        "getParameters() is in use and cannot stay in one piece; call "
                        "getParameters() on the larger net first, or drop the earlier tensor"
                    )

    def _offset_of(self, view: Tensor) -> int | None:
        """Return the new offset of a flat tensor, which may span several ranges."""
        start = int(view.storage_offset())
        end = start + view.numel()
        pieces = [m for m in sorted(self.ranges[storage_key(view)]) if m[0] < end and m[1] > start]
        position, first = start, None
        for a, b, target in pieces:
            if a > position:
                return None
            place = target + position - a
            if first is None:
                first = place
            elif place != first + position - start:
                return None
            position = b
        return first if position >= end else None

    def apply(self) -> Tensor:
        """Move the tensors and the flat tensors returned earlier. Return the new flat tensor."""
        first = self.tensors[0]
        if self._in_place():
            [[(start, end, _)]] = self.ranges.values()
            # Nothing is copied: a second `getParameters` of the same net is free.
            flat = first.detach().as_strided((end - start,), (1,), start)
            group = first.__dict__.get("_flat") or FlatGroup()
            for view in self._handed_out():
                group.add(view)
        else:
            flat = first.detach().new_empty(self.size)
            storages = {storage_key(t): t for t in self.tensors}
            for key, ranges in self.ranges.items():
                for start, end, target in ranges:
                    # The old storage is freed after the copies are queued, not after they are done.
                    accelerators.keep(storages[key])
                    source = storages[key].detach().as_strided((end - start,), (1,), start)
                    flat[target : target + end - start].copy_(source)
            group = FlatGroup()
            for view in self._handed_out():
                offset = self._offset_of(view)
                assert offset is not None
                # The tensor that a program got from an earlier call stays the storage of its
                # parameters.
                view.data = flat[offset : offset + view.numel()]
                group.add(view)
            for tensor, offset in zip(self.tensors, self.offsets, strict=True):
                # Two entries may be one tensor object: it moves once.
                if storage_key(tensor) in self.ranges:
                    assert offset is not None
                    # ``.data`` exchanges the memory under the same tensor object, so optimizers,
                    # ``grad`` and fields of modules that hold it go on.
                    tensor.data = flat.as_strided(tensor.shape, tensor.stride(), offset)
            moved([*self._handed_out(), *self.tensors])
        group.join(self.tensors)
        group.add(flat)
        if "torch7_type" in first.__dict__:
            flat.__dict__["torch7_type"] = first.__dict__["torch7_type"]
        return flat


def storage_key(tensor: Tensor) -> int:
    """Return a key that differs between any two storages that exist at the same time."""
    return tensor.untyped_storage().data_ptr()


def overlap(tensor: Tensor, view: Tensor) -> bool:
    """Return whether a tensor has elements in the memory of a flat tensor."""
    start, low = int(tensor.storage_offset()), int(view.storage_offset())
    return (
        storage_key(tensor) == storage_key(view)
        and start < low + view.numel()
        and low < start + tensor.numel()
    )


def _merged(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
