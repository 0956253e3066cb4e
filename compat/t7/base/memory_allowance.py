"""Limit the memory that restoring a file's objects may take.

A file of a few bytes can hold a tensor of any size whose elements all lie in one place, and can
refer to one large tensor from any number of objects. A class that computes something from its
fields when it is restored must ask here first.
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
    """The memory that is left for reading a file of ``size`` bytes."""

    def __init__(self, size: int) -> None:
        self._left = self._whole = _MULTIPLE * size + _ALWAYS
        self._zeros: dict[tuple[int, torch.dtype], tuple[torch.Tensor, torch.Tensor]] = {}
        self.waiting: dict[Callable[[list[Any]], None], list[Any]] = {}

    def check(self) -> None:
        """Run the checks that were registered by ``when_read``."""
        for check, things in self.waiting.items():
            try:
                check(things)
            except (T7Error, MemoryError):
                raise
            except Exception as error:
                raise unusable(type(things[0]).__name__, error) from error

    def claim(self, size: int) -> None:
        # A negative size is a product that overflowed in the class that asks.
        if not 0 <= size <= self._left:
            raise T7Error(
                f"content that takes {size} bytes more",
                f"at most {self._left} of the {self._whole} that a file of this size may take",
            )
        self._left -= size

    def exceeded_by(self, value: Any) -> bool:
        """Return whether a copy of this tensor would take more than is ever granted."""
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


# A context variable, not a global: files are read in several threads at once.
_current: ContextVar[Allowance | None] = ContextVar("_current", default=None)


@contextmanager
def allowance(size: int) -> Iterator[Allowance]:
    """Limit what restoring the objects of a file of ``size`` bytes allocates in the block."""
    granted = Allowance(size)
    token = _current.set(granted)
    try:
        yield granted
    finally:
        _current.reset(token)


@contextmanager
def bounded_by_file(fields: Mapping[Any, Any]) -> Iterator[None]:
    """Allow ``fields`` with tensors larger than the file, but no copies of them.

    Valid files contain such tensors as results of expansion, damaged files in place of numbers.
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
        # A view takes no memory, however large the tensor claims to be. Any other operator may
        # write all elements, so its memory is claimed first.
        if not (func.is_view and returns_a_tensor(func)):
            for argument in args:
                if self._allowance.exceeded_by(argument):
                    self._allowance.claim(argument.nbytes)
        return func(*args, **(kwargs or {}))


def claim(size: int = 0, *, entries: int = 0) -> None:
    """Ask for memory that is about to be allocated because of a file's contents.

    Outside of restoring a file every request is granted.

    Args:
        size: bytes.
        entries: entries of lists and dicts.

    Raises:
        T7Error: the objects of the file ask for more than a small multiple of its size.
    """
    current = _current.get()
    if current is not None:
        current.claim(size + _ENTRY * entries)


def when_read(check: Callable[[list[Any]], None], thing: Any) -> None:
    """Call ``check`` after the whole file is read, with the list of all its things.

    What it raises is reported as a defect of the file. It may ``claim``.
    """
    current = _current.get()
    if current is not None:
        current.waiting.setdefault(check, []).append(thing)


def zeros_like(tensor: torch.Tensor) -> torch.Tensor:
    """Return zeros of the form of a tensor, e.g. the gradient of a parameter from a file.

    While a file is read, the zeros share memory where the tensors share it. So they never take more
    memory than the file's storages.
    """
    current = _current.get()
    return torch.zeros_like(tensor) if current is None else current.zeros_like(tensor)
