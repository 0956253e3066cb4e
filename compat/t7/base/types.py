"""Python classes for Torch7 values that have no Python or PyTorch type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import torch

from compat import accelerators
from compat.notebook import drawn
from compat.tensor_types import CPU_TYPES, CUDA_TYPES, type_name

TENSOR_DTYPES = {
    name: dtype
    for name, dtype in {**CPU_TYPES, **CUDA_TYPES}.items()
    if dtype is not torch.bfloat16
}
STORAGE_DTYPES = {name.replace("Tensor", "Storage"): dtype for name, dtype in TENSOR_DTYPES.items()}


def is_cuda_type(typename: str) -> bool:
    """Return whether this is Torch7's name of a tensor or storage on a GPU."""
    return typename.startswith("torch.Cuda")


class TorchObject:
    """An object of a class for which no Python class is registered.

    It is written back as it was read. Its fields are also attributes, if their names are free.

    Attributes:
        typename: Torch7's name of the class, e.g. ``nn.Linear``.
        version: the class version in the file; 0 in files older than class versions.
        fields: the object's fields; ``None`` for the few classes that write nothing at all.
        preamble: the objects that the class writes before its fields, e.g. the GPU assignments of
            ``nn.DataParallelTable``.
    """

    _repr_html_ = drawn

    def __init__(
        self,
        typename: str,
        version: float = 1,
        fields: dict[Any, Any] | None = None,
        preamble: Sequence[Any] = (),
    ) -> None:
        self.typename = typename
        self.version = version
        self.fields = fields
        self.preamble = list(preamble)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__  # which is empty in copies begun
        fields = own.get("fields")
        if fields is None or name not in fields:
            raise AttributeError(f"the object of class {own.get('typename')} has no field {name!r}")
        return fields[name]

    def __getitem__(self, key: Any) -> Any:
        if self.fields is None:
            raise KeyError(key)
        return self.fields[key]

    def __contains__(self, key: Any) -> bool:
        return self.fields is not None and key in self.fields

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the field ``key``, or ``default`` if there is no such field."""
        return default if self.fields is None else self.fields.get(key, default)

    def __repr__(self) -> str:
        names = ", ".join(str(key) for key in self.fields or ())
        return f"TorchObject({self.typename!r}, version {self.version}: {names})"


class LuaFunction:
    """A Lua function from a file: bytecode that is never executed, and its upvalues.

    Attributes:
        bytecode: the result of Lua's ``string.dump``; its form depends on the Lua version.
        upvalues: one dict with ``name``, ``value`` and, from LuaJIT, ``id`` per upvalue; in the
            two older forms the plain values.
        code: the form in the file: 8, or 6 and 7 for the older ones.
    """

    def __init__(self, bytecode: bytes, upvalues: Any = None, code: int = 8) -> None:
        self.bytecode = bytecode
        self.upvalues = {} if upvalues is None else upvalues
        self.code = code

    def __call__(self, *arguments: Any) -> Any:
        """Raise TypeError: only Lua can run the function."""
        raise RuntimeError(
            "this is a Lua function from a .t7 file, which is kept and never run; put a Python "
            "function in its place"
        )

    def __repr__(self) -> str:
        return f"LuaFunction({len(self.bytecode)} bytes, {len(self.upvalues)} upvalues)"


class Storage:
    """A Torch7 storage: a one-dimensional array that tensors can share.

    It behaves as a sequence of Python numbers, counted from 0.

    Args:
        data: numbers, or a contiguous one-dimensional tensor, which is used without a copy.
        typename: the class, if ``data`` are numbers; a tensor's class follows from its dtype.

    Attributes:
        tensor: the elements, a one-dimensional tensor over the whole storage.
        typename: Torch7's name, e.g. ``torch.LongStorage``.
    """

    def __init__(
        self, data: torch.Tensor | Sequence[float], typename: str = "torch.LongStorage"
    ) -> None:
        if isinstance(data, torch.Tensor):
            if data.dim() != 1 or not data.is_contiguous():
                raise ValueError(
                    f"data has shape {tuple(data.shape)}; a contiguous one-dimensional tensor is "
                    "accepted"
                )
            cuda = accelerators.holds(data) or is_cuda_type(typename)
            self.tensor = data
            self.typename = type_name(data.dtype, cuda).replace("Tensor", "Storage")
        else:
            if typename not in STORAGE_DTYPES:
                raise ValueError(f"typename is {typename!r}; a Torch7 storage class is accepted")
            self.tensor = torch.tensor(data, dtype=STORAGE_DTYPES[typename])
            self.typename = typename

    def __len__(self) -> int:
        return self.tensor.numel()

    @overload
    def __getitem__(self, index: int) -> int | float: ...
    @overload
    def __getitem__(self, index: slice) -> list[int | float]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self.tensor[index].tolist()

    def __setitem__(self, index: int, value: float) -> None:
        self.tensor[index] = value

    def __iter__(self) -> Iterator[int | float]:
        return iter(self.tolist())

    def tolist(self) -> list[int | float]:
        """Return the elements as Python numbers."""
        return self.tensor.tolist()

    def __repr__(self) -> str:
        return f"Storage({self.typename!r}, {len(self)} elements)"


class Key:
    """A Lua table key that a Python dict cannot hold as it is.

    It stands for a table (lists and dicts are not hashable), or for a boolean in a table that has
    the equal number as well: ``true`` and 1 are two keys in Lua and one key in Python. Two keys are
    equal if their values are the same object: ``table[t7.Key(True)]``,
    ``table[t7.Key(other_table)]``.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.value is other.value

    def __hash__(self) -> int:
        return hash((Key, id(self.value)))

    def __repr__(self) -> str:
        value = self.value if isinstance(self.value, bool) else type(self.value).__name__
        return f"Key({value})"
