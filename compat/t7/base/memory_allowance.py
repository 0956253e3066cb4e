"""What the restoring of objects may allocate beside what the file holds.

A file of a few bytes can hold a tensor of any size whose elements all lie in one place, and refer
to one large tensor from any number of objects. Where a class makes something of its fields when it
is restored, it asks here first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch

from compat.t7.base.errors import T7Error, unusable
from compat.torch_internals import OperatorMode, returns_a_tensor, storage_identity

_MULTIPLE = 8  # of the size of the file
_ALWAYS = 1 << 20  # bytes, however small the file is
_ENTRY = 100  # bytes: about what an entry of a dict takes


class Allowance:
    """What is left for one reading of a file of ``size`` bytes."""

    def __init__(self, size: int) -> None:
        self._left = self._whole = _MULTIPLE * size + _ALWAYS
        self._zeros: dict[tuple[int, torch.dtype], tuple[torch.Tensor, torch.Tensor]] = {}
        self.waiting: dict[Callable[[list[Any]], None], list[Any]] = {}

    def check(self) -> None:
        """Have the objects checked that asked for it."""
        for check, things in self.waiting.items():
            try:
                check(things)
            except (T7Error, MemoryError):
                raise
            except Exception as error:
                raise unusable(type(things[0]).__name__, error) from error

    def claim(self, size: int) -> None:
        if not 0 <= size <= self._left:
            raise T7Error(
                f"content that takes {size} bytes more",
                f"at most {self._left} of the {self._whole} that a file of this size may take",
            )
        self._left -= size

    def exceeded_by(self, value: Any) -> bool:
        """Return whether a copy of this tensor would be more than is ever granted."""
        return isinstance(value, torch.Tensor) and value.nbytes > self._whole

    def zeros_like(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        key = (storage_identity(tensor), tensor.dtype)
        if key not in self._zeros:
            count = storage.nbytes() // tensor.itemsize
            zeros = torch.zeros(count, dtype=tensor.dtype, device=tensor.device)
            self._zeros[key] = tensor, zeros  # with the tensor, lest its address be used again
        _, zeros = self._zeros[key]
        return zeros.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


_current: ContextVar[Allowance | None] = ContextVar("_current", default=None)


@contextmanager
def allowance(size: int) -> Iterator[Allowance]:
    """Bound what restoring the objects of a file of ``size`` bytes allocates."""
    granted = Allowance(size)
    token = _current.set(granted)
    try:
        yield granted
    finally:
        _current.reset(token)


@contextmanager
def frugal(fields: Mapping[Any, Any]) -> Iterator[None]:
    """Let tensors among ``fields`` that show more than the file holds be kept, but not copied.

    Sound files have such as results of expansion, damaged ones where numbers belong.
    """
    current = _current.get()
    if current is not None and any(current.exceeded_by(value) for value in fields.values()):
        with _ViewsOnly(current):
            yield
    else:
        yield


class _ViewsOnly(OperatorMode):
    """Refuses to compute anything but views from tensors that exceed an allowance."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__()
        self._allowance = allowance

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if not (func.is_view and returns_a_tensor(func)):
            for argument in args:
                if self._allowance.exceeded_by(argument):
                    self._allowance.claim(argument.nbytes)
        return func(*args, **(kwargs or {}))


def claim(size: int = 0, *, entries: int = 0) -> None:
    """Ask for what is about to be allocated because of what a file holds.

    ``size`` is in bytes; ``entries`` are those of lists and dicts.

    Raises T7Error where the objects of the file ask for more than a small multiple of its size.
    Everything is granted to who is not restoring an object of a file.
    """
    current = _current.get()
    if current is not None:
        current.claim(size + _ENTRY * entries)


def when_read(check: Callable[[list[Any]], None], thing: Any) -> None:
    """Have ``check`` called when the whole file has been read, with all things that ask for it.

    What it raises is a defect of the file. It may ``claim``.
    """
    current = _current.get()
    if current is not None:
        current.waiting.setdefault(check, []).append(thing)


def zeros_like(tensor: torch.Tensor) -> torch.Tensor:
    """Zeros of the form of a tensor, such as the gradient of a parameter whose file has none.

    While a file is read, they share memory where the tensors share it: then they never take more
    than the storages of the file.
    """
    current = _current.get()
    return torch.zeros_like(tensor) if current is None else current.zeros_like(tensor)
