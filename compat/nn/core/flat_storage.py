"""Flat storage: all parameters of a net in one tensor.

``flatten`` moves parameters and gradients into one storage each and makes every tensor a view of
it, in place, so that whoever holds the tensors sees the same numbers as before. Flat tensors that
were handed out earlier move along. Where a part of them alone is converted they stay behind, as in
Torch7.
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
    """The flat tensors handed out over one storage, and the tensors that lie in it.

    Each of them knows its group.
    """

    def __init__(self) -> None:
        self._views: list[weakref.ref[Tensor]] = []
        self._members: list[weakref.ref[Tensor]] = []

    def add(self, view: Tensor) -> None:
        """Take in a flat tensor that is handed out."""
        self._views = [weakref.ref(v) for v in self.views() if v is not view]
        self._views.append(weakref.ref(view))
        view.__dict__["_flat"] = self

    def drop(self, view: Tensor) -> None:
        """Leave a flat tensor to whoever holds it: it goes along no more."""
        self._views = [weakref.ref(v) for v in self.views() if v is not view]
        view.__dict__.pop("_flat", None)

    def join(self, members: Iterable[Tensor]) -> None:
        """Take in tensors that lie in the storage."""
        joined = {id(member): member for member in (*self.members(), *members)}
        self._members = [weakref.ref(member) for member in joined.values()]
        for member in joined.values():
            member.__dict__["_flat"] = self

    def views(self) -> list[Tensor]:
        return _alive(self._views)

    def members(self) -> list[Tensor]:
        return _alive(self._members)

    def version(self) -> int:
        """Grows with every in-place change through one of the flat tensors."""
        return sum([version(view) for view in [ref() for ref in self._views] if view is not None])

    def __deepcopy__(self, memo: dict[int, Any]) -> FlatGroup:
        return memo.setdefault(id(self), FlatGroup())

    def __reduce__(self) -> tuple[Any, ...]:
        # A tensor read back is in no group. This is what torch.load makes with weights_only.
        return OrderedDict, ()


def _alive(refs: list[weakref.ref[Tensor]]) -> list[Tensor]:
    return [tensor for tensor in (ref() for ref in refs) if tensor is not None]


class InUse(ValueError):
    """A flat tensor that somebody holds cannot stay in one piece."""


def flatten(
    parameters: list[Tensor], gradients: list[Tensor], offsets: list[int | None] | None = None
) -> tuple[Tensor, Tensor]:
    """Return all ``parameters`` as one flat tensor, all ``gradients`` as another
    (``Module.flatten``).

    The order is Torch7's: by storage, in the order of first appearance; what is shared is there
    once. Parameters that already lie side by side in one storage stay where they are; ``offsets``
    of ``layout`` ask for another order. Gradients follow the parameters. Raises
    ValueError, before anything moves, for tensors of several types or devices, for parameters that
    are shared where their gradients are not, and where a flat tensor in use would be torn apart.
    """
    if not parameters:
        return torch.empty(0), torch.empty(0)
    for i, gradient in enumerate(gradients):
        if gradient is None:
            raise ValueError(
                f"parameter {i + 1} has no gradient tensor; parameters with one are accepted"
            )
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
    for plan in plans:
        plan.check()
    return plans[0].carry_out(), plans[1].carry_out()


def gather(tensors: list[Tensor]) -> Tensor:
    """Return all ``tensors`` as one flat tensor, whose views they become (Torch7's
    ``Module.flatten``).
    """
    plan = _Plan(tensors, "tensors")
    plan.check()
    return plan.carry_out()


def layout(tensors: list[Tensor]) -> list[int | None]:
    """Where ``flatten`` puts each of ``tensors``: its offset in the flat tensor."""
    return _Plan(tensors, "tensors").offsets if tensors else []


def side_by_side(tensors: list[Tensor]) -> Tensor | None:
    """Return a flat view of ``tensors`` if they fill one range of one storage, in order; else None.

    Empty ones are anywhere.
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
    storage = first.untyped_storage()
    if end > storage.data_ptr() + storage.nbytes():
        return None  # another storage happens to be next to it
    return first.detach().as_strided(((end - start) // first.itemsize,), (1,))


def _is_dense(tensor: Tensor) -> bool:
    """Return whether the elements fill a range of memory without holes, in whatever order."""
    if tensor.numel() == 0:
        return True
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


class _Plan:
    """Where each tensor goes in the flat storage.

    ``moves`` has, for each storage that the tensors lie in now, the ranges ``(start, end, target)``
    to copy; ``offsets`` the offset of each tensor in the flat one.
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
        self.moves: dict[int, list[tuple[int, int, int]]] = {}
        self.size = 0
        for key, pieces in ranges.items():
            moves = self.moves.setdefault(key, [])
            for start, end in _merged(pieces):
                moves.append((start, end, self.size))
                self.size += end - start
        self.offsets = [self._moved(t) for t in tensors]

    def _moved(self, tensor: Tensor) -> int | None:
        """Return the new offset of a tensor, or None if it does not stay in one piece."""
        start = int(tensor.storage_offset())
        end = start + tensor.numel()
        for a, b, target in self.moves[storage_key(tensor)]:
            if a <= start and end <= b:
                return target + start - a
        return None

    def follow(self, offsets: list[int | None] | None) -> None:
        """Use these offsets instead, if they give the same memory to the same tensors only."""
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
        lengths = [length for _, _, length in places]
        if len(set(places.values())) < len(places) or sum(lengths) != self.size:
            return
        self.moves = {key: [] for key, _, _ in places}
        for (key, start, length), offset in places.items():
            self.moves[key].append((start, start + length, offset))
        self.offsets = offsets

    def _in_place(self) -> bool:
        return len(self.moves) == 1 and len(next(iter(self.moves.values()))) == 1

    def _handed_out(self) -> list[Tensor]:
        groups = {id(g): g for g in (t.__dict__.get("_flat") for t in self.tensors) if g}
        views = [view for group in groups.values() for view in group.views()]
        return [view for view in views if storage_key(view) in self.moves]

    def check(self) -> None:
        """Refuse to tear apart a flat tensor that somebody holds."""
        if not self._in_place():
            for view in self._handed_out():
                if self._offset_of(view) is None:
                    raise InUse(
                        f"a flat tensor of {view.numel()} {self.name} from an earlier "
                        "getParameters() is in use and cannot stay in one piece; call "
                        "getParameters() on the larger net first, or drop the earlier tensor"
                    )

    def _offset_of(self, view: Tensor) -> int | None:
        """Return the new offset of a flat tensor that may span several moves."""
        start = int(view.storage_offset())
        end = start + view.numel()
        pieces = [m for m in sorted(self.moves[storage_key(view)]) if m[0] < end and m[1] > start]
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

    def carry_out(self) -> Tensor:
        """Move the tensors, and flat tensors handed out earlier. Returns the flat tensor."""
        first = self.tensors[0]
        if self._in_place():
            [[(start, end, _)]] = self.moves.values()
            flat = first.detach().as_strided((end - start,), (1,), start)
            group = first.__dict__.get("_flat") or FlatGroup()
            for view in self._handed_out():
                group.add(view)
        else:
            flat = first.detach().new_empty(self.size)
            storages = {storage_key(t): t for t in self.tensors}
            for key, moves in self.moves.items():
                for start, end, target in moves:
                    accelerators.keep(storages[key])
                    source = storages[key].detach().as_strided((end - start,), (1,), start)
                    flat[target : target + end - start].copy_(source)
            group = FlatGroup()
            for view in self._handed_out():
                offset = self._offset_of(view)
                assert offset is not None
                view.data = flat[offset : offset + view.numel()]
                group.add(view)
            for tensor, offset in zip(self.tensors, self.offsets, strict=True):
                # Two entries may be one tensor object: it moves once.
                if storage_key(tensor) in self.moves:
                    assert offset is not None
                    tensor.data = flat.as_strided(tensor.shape, tensor.stride(), offset)
            moved([*self._handed_out(), *self.tensors])
        group.join(self.tensors)
        group.add(flat)
        if "torch7_type" in first.__dict__:
            flat.__dict__["torch7_type"] = first.__dict__["torch7_type"]
        return flat


def storage_key(tensor: Tensor) -> int:
    """Return what tells one storage from another while both are there."""
    return tensor.untyped_storage().data_ptr()


def overlap(tensor: Tensor, view: Tensor) -> bool:
    """Return whether a tensor has elements in the memory of a flat one."""
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
