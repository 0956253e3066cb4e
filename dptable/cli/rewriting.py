"""Changing what a .t7 file holds, for machines and programs other than those it was made for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from compat import cudnn, nn, t7
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import Convertible
from compat.nn.interchange.to_torch import ToTorch
from compat.t7.objects.registry import looks_computing
from compat.tensor_tables import contents
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, tag, type_name
from dptable.container.data_parallel_table import DataParallelTable

_TYPES = {**CPU_TYPES, **CUDA_TYPES}
# Of an object of an unknown class, what a computation leaves behind and what training adds.
_LEFT_BEHIND = ("output", "grad", "_", "finput", "fgradInput", "buffer")


def without_dpt(value: Any) -> Any:
    """``value`` with the first tower in the place of every DataParallelTable. Changes ``value``."""

    def tower(item: Any) -> Any:
        while isinstance(item, DataParallelTable) and item.modules:
            item = item.get(1)
        return item

    return _rewritten(value, tower)


def without_cudnn(value: Any) -> Any:
    """``value`` with layers of nn in the place of those of cudnn. Changes ``value``."""

    def plain(item: Any) -> Any:
        return cudnn.convert(item, nn) if isinstance(item, nn.Module) else item

    return _rewritten(value, plain)


def retyped(value: Any, dtype: torch.dtype | None = None, to_cpu: bool = False) -> Any:
    """``value`` with tensors and modules of another type. Changes ``value``.

    Args:
        value: what ``compat.t7.load`` returns, on the CPU.
        dtype: of all floating point tensors; by default they keep theirs.
        to_cpu: whether types of GPUs become those of the CPU.

    What shares memory goes on sharing it. Storages keep their precision.
    """

    def renamed(name: str) -> str:
        own = _TYPES[name]
        new = dtype if dtype is not None and own.is_floating_point else own
        return type_name(new, name in CUDA_TYPES and not to_cpu)

    conversion = None if dtype is None else Conversion(dtype, torch.device("cpu"))

    def change(item: Any) -> Any:
        if isinstance(item, Tensor):
            for tensor in [item] if item.grad is None else [item, item.grad]:
                name = tensor.__dict__.pop("torch7_type", None)
                if conversion is not None:
                    conversion(tensor)
                if name is not None:
                    tag(tensor, renamed(name))
        elif isinstance(item, t7.Storage) and to_cpu:
            item.typename = item.typename.replace("torch.CudaStorage", "torch.FloatStorage")
            item.typename = item.typename.replace("torch.Cuda", "torch.")
        elif isinstance(item, (Convertible, t7.TorchObject)):
            fields = _fields(item)
            for key, text in fields.items():
                if isinstance(text, str) and text in _TYPES:
                    fields[key] = renamed(text)
        return item

    return _rewritten(value, change)


def _ignore(text: str) -> None:
    """Tell nobody."""


def state_dict(
    value: Any,
    note: Callable[[str], None] = _ignore,
    left_out: Callable[[str], None] = _ignore,
    apart: bool = True,
) -> dict[str, Tensor]:
    """Yield the tensors in ``value`` by name, as PyTorch's ``state_dict`` has them.

    A net's names are those of ``net.to_torch().state_dict()``. Where a module has no equivalent in
    PyTorch, ``note`` is told, and it has the names of its fields, and its modules their numbers
    from 0. What tables hold is named by its keys, which in lists count from 1; what other objects
    and functions hold, by their fields and upvalues. Left out is what computing left in a module,
    and what is no tensor; ``left_out`` is told the names of numbers and strings in tables. Unless
    ``apart``, tensors may be views of larger memory, as of the whole file.
    """
    found: dict[str, Tensor] = {}
    seen: set[int] = set()
    copies: dict[Any, Tensor] = {}

    def alone(tensor: Tensor) -> Tensor:
        # PyTorch saves all of the memory that a tensor is a view of, which may be the whole file.
        if not apart or tensor.untyped_storage().nbytes() == tensor.nbytes:
            return tensor.detach()
        key = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        return copies.setdefault(key, tensor.detach().clone())

    def parts(item: Any) -> Iterator[tuple[Any, Any]]:
        if isinstance(item, nn.Module):
            try:
                converted = ToTorch(item, shared=True)(item)
            except ValueError as error:
                if len(getattr(error, "places", ())) < 2:  # it is this module, not one inside
                    note(str(error))
                yield from _own(item)
            else:
                seen.update(map(id, item.listModules()))
                yield from converted.state_dict().items()
        else:
            yield from parts_of(item)

    stack = [(value, "", True)]
    while stack:
        item, name, in_tables = stack.pop()
        if isinstance(item, Tensor):
            found[name or "tensor"] = alone(item)
        elif isinstance(item, (int, float, str, bytes)):
            if in_tables:
                left_out(name)
        elif id(item) not in seen:
            seen.add(id(item))
            in_tables = in_tables and isinstance(item, (list, dict))
            prefix = f"{name}." if name else ""
            below = [(part, f"{prefix}{key}", in_tables) for key, part in parts(item)]
            stack += reversed(below)
    return found


def parts_of(item: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what lies in a table, an object or a function, and what leads to it; lists count from
    1.
    """
    if isinstance(item, (Convertible, t7.TorchObject)):
        yield from _own(item)
    elif isinstance(item, t7.LuaFunction):
        yield "upvalues", item.upvalues
    elif isinstance(item, list):
        yield from enumerate(item, 1)
    elif isinstance(item, dict):
        yield from item.items()


def _own(item: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of an object: its modules, by their numbers from 0, and its fields."""
    fields = _fields(item)
    modules = fields.get("modules")
    yield from enumerate(contents(modules))
    computes = modules is not None or isinstance(item, Convertible) or looks_computing(fields)
    for key, part in fields.items():
        if part is not modules and not (computes and str(key).startswith(_LEFT_BEHIND)):
            yield key, part


def _fields(item: Any) -> Any:
    """Where the parts of ``item`` are: a list or dict, or None without parts."""
    if isinstance(item, (list, dict)):
        return item
    if isinstance(item, t7.TorchObject):
        return {} if item.fields is None else item.fields
    if isinstance(item, t7.LuaFunction):
        return item.__dict__
    return vars(item) if isinstance(item, (Convertible, DataParallelTable)) else None


def _rewritten(value: Any, change: Callable[[Any], Any]) -> Any:
    """``value`` after every object in it has been replaced by what ``change`` returns for it."""
    root = [value]
    stack: list[Any] = [root]
    seen: set[int] = set()
    while stack:
        fields = stack.pop()
        pairs = list(enumerate(fields) if isinstance(fields, list) else fields.items())
        for key, item in pairs:
            new = change(item)
            if new is not item:
                fields[key] = new
            below = _fields(new)
            if below is not None and id(below) not in seen:
                seen.add(id(below))
                stack.append(below)
    return root[0]
