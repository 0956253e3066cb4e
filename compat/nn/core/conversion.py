"""Change the dtype and device of tensors in place, storage by storage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from compat import accelerators
from compat.lua_tables import MixedTable
from compat.nn.core.flat_storage import overlap, storage_key
from compat.storage_changes import moved
from compat.tensor_types import parse_type, type_name
from compat.torch_internals import takes_memory


class Conversion:
    """Convert tensors to a dtype and device, in place, storage by storage.

    Args:
        dtype: for the floating-point tensors; None keeps the dtype of each.
        device: for all tensors.
        cache: Torch7's ``tensorCache``: keeps shared tensors shared over several calls.
        leave_accelerator: whether tensors on an accelerator move to ``device``, too.
    """

    def __init__(
        self,
        dtype: torch.dtype | None,
        device: torch.device,
        cache: dict[Any, Any] | None = None,
        *,
        leave_accelerator: bool = True,
    ) -> None:
        self.dtype = dtype
        self.device = device
        self._leave_accelerator = leave_accelerator
        self.cache = {} if cache is None else cache

    def named(self, own: str, name: str) -> str:
        """Return the new type name of an object of type ``own`` in a net that becomes ``name``."""
        if self.dtype is not None:
            return name
        return type_name(parse_type(own)[0], accelerators.is_accelerator(self.device))

    def first_visit(self, thing: object) -> bool:
        """Return whether this object is visited for the first time; it may contain itself."""
        is_new = ("begun", id(thing)) not in self.cache
        self.cache["begun", id(thing)] = thing
        return is_new

    def prepare(self, tensors: Iterable[Tensor]) -> None:
        """Find the flat tensors of ``getParameters`` that are to be converted with ``tensors``.

        A flat tensor of which only a part would be converted is left as it is, as in Torch7; it is
        stale then.

        Raises:
            RuntimeError: tensors of another kind of device cannot get memory on this one.
        """
        held = ((tensor, tensor.grad) for tensor in tensors)
        changing = {id(t): t for pair in held for t in pair if t is not None and self._changes(t)}
        for device in {t.device for t in changing.values()}:
            if self.device.type != device.type and not takes_memory(device, self.device):
                raise RuntimeError(
                    f"device is {self.device}; PyTorch gives no tensor of {device} memory there in "
                    "place: its backend has to implement _has_compatible_shallow_copy_type"
                )
        groups = {id(g): g for g in (t.__dict__.get("_flat") for t in changing.values()) if g}
        for group in groups.values():
            members = group.members()
            for view in group.views():
                # A flat tensor moves with its parameters only if all of them are converted.
                inside = [id(m) in changing for m in members if overlap(m, view)]
                if all(inside):
                    self.cache.setdefault(("views", storage_key(view)), []).append(view)
                elif any(inside):
                    group.drop(view)

    def copied(self, value: Any) -> Any:
        """Return the converted copy of a pass's result, which may be a nested table.

        The value itself is returned if nothing changes. One tensor or table in several places stays
        one.
        """
        waiting: list[tuple[Any, Any]] = []

        def begun(value: Any) -> Any:
            if not isinstance(value, (Tensor, list, tuple, dict)):
                return value
            known = self.cache.get(("copied", id(value)))
            if known is not None:
                return known[0]
            new: Any = value
            if not isinstance(value, Tensor):
                new = {} if isinstance(value, dict) else []
                if isinstance(value, MixedTable):
                    new = MixedTable()
                    waiting.append((value.further(), new.others))
                waiting.append((value, new))
            elif self._changes(value):
                new = value.to(device=self._device(value), dtype=self._dtype(value))
            elif "torch7_type" in value.__dict__:
                new = value.detach()  # of another type to Lua
            # The cache keeps the old one too: another one at its address would be taken for it.
            self.cache["copied", id(value)] = new, value
            return new

        result = begun(value)
        for old, new in waiting:
            if isinstance(old, dict):
                new.update((key, begun(item)) for key, item in old.items())
            else:
                new.extend(map(begun, old))
        return result

    def _dtype(self, tensor: Tensor) -> torch.dtype:
        if self.dtype is None or not tensor.is_floating_point():
            return tensor.dtype
        return self.dtype

    def _device(self, tensor: Tensor) -> torch.device:
        return (
            self.device
            if self._leave_accelerator or not accelerators.holds(tensor)
            else tensor.device
        )

    def _changes(self, tensor: Tensor) -> bool:
        return tensor.dtype != self._dtype(tensor) or tensor.device != self._device(tensor)

    def __call__(self, tensor: Tensor) -> Tensor:
        """Convert ``tensor`` and its ``grad``. Integer tensors only change their device."""
        if ("done", id(tensor)) in self.cache:
            return tensor
        self.cache["done", id(tensor)] = tensor
        self._repoint(tensor)
        if tensor.grad is not None:
            self(tensor.grad)
        return tensor

    def _repoint(self, tensor: Tensor) -> None:
        tensor.__dict__.pop("torch7_type", None)
        if not self._changes(tensor):
            return
        storage = tensor.untyped_storage()
        # Storages without memory all have the address 0 and share nothing; one storage may be
        # viewed with several dtypes, which become separate storages.
        key = ("storage", storage.data_ptr(), tensor.dtype)
        if storage.data_ptr() == 0 or key not in self.cache:
            whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(storage)
            accelerators.keep(whole)
            # The cache keeps the old storage too: another one at its address would be taken for it.
            self.cache[key] = (
                whole.to(device=self._device(tensor), dtype=self._dtype(tensor)),
                whole,
            )
        new = self.cache[key][0]
        for view in (tensor, *self.cache.pop(("views", storage.data_ptr()), ())):
            # In place, for everybody who holds the tensor.
            view.data = new.as_strided(view.shape, view.stride(), view.storage_offset())
            moved([view])
