"""Change the contents of a .t7 file for other machines and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from compat import cudnn, nn, t7
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import Convertible
from compat.nn.interchange.to_torch import ToTorch
from compat.t7.objects.registry import has_module_fields
from compat.tensor_tables import contents
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, tag, type_name
from dptable.container.data_parallel_table import DataParallelTable

_TYPES = {**CPU_TYPES, **CUDA_TYPES}
# Of an object of an unknown class, what a computation leaves behind and what training adds.
_LEFT_BEHIND = ("output", "grad", "_", "finput", "fgradInput", "buffer")


def without_dpt(value: Any) -> Any:
    """Replace every DataParallelTable in ``value`` by its net. Changes ``value``."""

    def tower(item: Any) -> Any:
        while isinstance(item, DataParallelTable) and item.modules:
            item = item.get(1)
        return item

    return _rewritten(value, tower)


def without_cudnn(value: Any) -> Any:
    """Replace cudnn's layers in ``value`` by those of nn. Changes ``value``."""

    def plain(item: Any) -> Any:
        return cudnn.convert(item, nn) if isinstance(item, nn.Module) else item

    return _rewritten(value, plain)


def retyped(value: Any, dtype: torch.dtype | None = None, to_cpu: bool = False) -> Any:
    """Convert the tensors and modules in ``value`` to another type. Changes ``value``.

    Shared memory stays shared. Storages keep their precision.

    Args:
        value: what ``compat.t7.load`` returns, on the CPU.
        dtype: for all floating-point tensors; default: they keep theirs.
        to_cpu: whether GPU types become CPU types.
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
    """Drop a message."""


def state_dict(
    value: Any,
    note: Callable[[str], None] = _ignore,
    left_out: Callable[[str], None] = _ignore,
    apart: bool = True,
) -> dict[str, Tensor]:
    """Return the tensors in ``value`` by name, as PyTorch's ``state_dict`` names them.

    The names of a net are those of ``net.to_torch().state_dict()``. A module without an equivalent
    in PyTorch gets the names of its fields, and its children their numbers from 0. Entries of
    tables are named by their keys, which count from 1 in lists; those of other objects and
    functions by their fields and upvalues. Results that computing left in modules are not included.

    Args:
        value: what ``compat.t7.load`` returns.
        note: called with a message about each module without an equivalent.
        left_out: called with the names of numbers and strings in tables, which are not tensors.
        apart: whether each tensor gets memory of its own; otherwise it may be a view of larger
            memory, as of the whole file.
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
    """Yield the parts of a table, an object or a function with their keys; lists count from 1."""
    if isinstance(item, (Convertible, t7.TorchObject)):
        yield from _own(item)
    elif isinstance(item, t7.LuaFunction):
        yield "upvalues", item.upvalues
    elif isinstance(item, list):
        yield from enumerate(item, 1)
    elif isinstance(item, dict):
        yield from item.items()


def _own(item: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of an object: its children, numbered from 0, and its fields."""
    fields = _fields(item)
    modules = fields.get("modules")
    yield from enumerate(contents(modules))
    computes = modules is not None or isinstance(item, Convertible) or has_module_fields(fields)
    for key, part in fields.items():
        if part is not modules and not (computes and str(key).startswith(_LEFT_BEHIND)):
            yield key, part


def _fields(item: Any) -> Any:
    """Return the list or dict that holds the parts of ``item``, or None if it has none."""
    if isinstance(item, (list, dict)):
        return item
    if isinstance(item, t7.TorchObject):
        return {} if item.fields is None else item.fields
    if isinstance(item, t7.LuaFunction):
        return item.__dict__
    return vars(item) if isinstance(item, (Convertible, DataParallelTable)) else None


def _rewritten(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return ``value`` with every object in it replaced by ``change(object)``."""
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
