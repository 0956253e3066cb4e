"""Parts of tensors, their memory, and their gradients, as Lua asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compat import cutorch
from compat.nn import Module
from compat.port.lua.runtime import Original, Storage, called, function_of, method_of
from compat.port.lua.values import first
from compat.tensor_types import parse_type


def selected(key: Any) -> Any:
    """Return an index of a tensor in Python, for one of Lua."""
    if isinstance(key, (int, float)):
        return int(key) - 1 if key > 0 else int(key)
    if isinstance(key, torch.Tensor):
        return key.bool()
    if isinstance(key, torch.Size):
        return tuple(i - 1 for i in key)
    parts = []
    for part in key.values() if isinstance(key, dict) else key:
        if isinstance(part, (int, float)):
            parts.append(selected(part))
            continue
        ends = [end for end in part or () if end is not None]
        if not ends:  # all, which nil at the end says, too
            parts.append(slice(None))
            continue
        first, last = int(ends[0]), int(ends[-1])
        begin = first - 1 if first > 0 else first
        end = None if last == -1 else last if last > 0 else last + 1
        parts.append(slice(begin, end))
    return tuple(parts)


def element(x: torch.Tensor, key: Any) -> Any:
    """``x[key]``, with Lua's key: a part, a number, or what has the name."""
    if isinstance(key, str):
        return method_of(x, key)
    found = x[selected(key)]
    return found.item() if found.dim() == 0 else found


def converted(x: torch.Tensor, name: str) -> torch.Tensor:
    """``x:type(name)``, where it may be one of GPUs."""
    dtype, is_on_gpu = parse_type(name)
    return x.to(cutorch.device() if is_on_gpu else "cpu", dtype)


def dim(x: torch.Tensor) -> int:
    """``x:dim()``: of an empty tensor 0."""
    return x.dim() if x.numel() else 0


def pointer(value: Any) -> int:
    """``torch.pointer``: a number that no other object has."""
    if isinstance(value, Storage):
        return value.tensor.untyped_storage().data_ptr()
    return id(value)


class Pointer:
    """``x:data()``: the elements of a tensor from one on, counted from 0; ``pointer + n``."""

    def __init__(self, x: torch.Tensor, offset: int = 0) -> None:
        self.tensor, self._offset = Storage(x).tensor[x.storage_offset() :], offset

    def __add__(self, count: float) -> Pointer:
        made = Pointer(self.tensor, 0)
        made.tensor, made._offset = self.tensor, self._offset + int(count)
        return made

    def __sub__(self, count: float) -> Pointer:
        return self + -count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pointer) and self._address() == other._address()

    __hash__ = object.__hash__  # a key by its identity, as in LuaJIT

    def _address(self) -> int:
        return self.tensor.data_ptr() + self._offset * self.tensor.element_size()

    def __getitem__(self, place: float) -> Any:
        return self.tensor[self._offset + int(place)].item()

    def __setitem__(self, place: float, value: float) -> None:
        self.tensor[self._offset + int(place)] = value

    def rest(self) -> torch.Tensor:
        """Return all elements from a position on."""
        return self.tensor[self._offset :]


def copy_memory(to: Pointer, source: Pointer | str, size: int | None = None) -> None:
    """Do ``ffi.copy(to, source, size)``: ``size`` bytes, or a string with the 0 at its end."""
    if isinstance(source, str):
        text = source.encode("utf-8", "surrogateescape") + b"\0"
        taken = bytearray(text if size is None else text[: int(size)])
        data = torch.frombuffer(taken, dtype=torch.uint8)
    else:
        assert size is not None
        data = source.rest().view(torch.uint8)[: int(size)]
    to.rest().view(torch.uint8)[: data.numel()] = data


def text_at(source: Pointer | Original | str, size: int | None = None) -> str:
    """``ffi.string(source, size)``: bytes as text, without ``size`` up to the first 0."""
    if isinstance(source, str):
        return source
    if isinstance(source, Original):
        own = function_of("require('ffi').string")
        return str(called(own, source, *([] if size is None else [int(size)])))
    data = source.rest().view(torch.uint8)[: None if size is None else int(size)]
    found = bytes(data.tolist())
    text = found.partition(b"\0")[0] if size is None else found
    return text.decode("utf-8", "surrogateescape")


def resized(size: Storage | torch.Size, key: Any, value: Any) -> Storage | torch.Size:
    """Return sizes with another number at the place ``key``; another storage is changed."""
    if isinstance(size, Storage):
        size.tensor[int(key) - 1] = value
        return size
    made = list(size)
    made[int(key) - 1] = int(value)
    return torch.Size(made)


def apply(x: torch.Tensor, function: Callable[[float], Any]) -> torch.Tensor:
    """``x:apply(function)``: where it gives nothing the element stays."""

    def one(element: float) -> Any:
        found = first(function(element))
        return element if found is None else found

    return x.apply_(one)


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """``a == b`` of results of modules: whether they are one tensor in Torch7."""
    return a is b or (
        a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.stride() == b.stride()
    )


def parameters(module: Module) -> tuple[list[torch.Tensor] | None, list[torch.Tensor] | None]:
    """``module:parameters()``: nothing of a layer that has none and no such method of its own."""
    is_own = type(module).parameters is not Module.parameters
    made = module.parameters()
    return made if made and (is_own or made[0]) else (None, None)


def item(x: Any) -> Any:
    """Return a tensor without dimensions as a number, all else as it is."""
    return x.item() if isinstance(x, torch.Tensor) and x.dim() == 0 else x
