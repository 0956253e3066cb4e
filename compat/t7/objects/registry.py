"""Which Python class stands for which Torch7 class."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from compat.t7.base.types import STORAGE_DTYPES, TENSOR_DTYPES, TorchObject
from compat.t7.objects.hooks import ReadHook, WriteHook

C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Registration:
    """What is known of one Torch7 class. Without ``cls`` its objects are TorchObjects."""

    typename: str
    cls: type | None
    version: float
    read: ReadHook | None
    write: WriteHook | None

    def new(self, typename: str, version: float) -> Any:
        """An object without content."""
        if self.cls is None:
            return TorchObject(typename, version)
        new: Any = self.cls.__new__
        return new(self.cls)


_entries: dict[str, Registration] = {}
_by_class: dict[type, Registration] = {}


@overload
def register(
    typename: str,
    cls: None = None,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
) -> Callable[[C], C]: ...
@overload
def register(
    typename: str,
    cls: C,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
) -> C: ...
def register(
    typename: str,
    cls: Any = None,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
) -> Any:
    """Let ``cls`` stand for the Torch7 class ``typename``; also usable as a class decorator.

    Without hooks the payload is one table of fields. Reading makes an object by ``cls.__new__``
    and then calls its ``t7_restore(fields, version)``, or without such a method updates its
    ``__dict__``. Writing takes the fields from its ``t7_fields()``, or ``vars()`` without such a
    method.

    Args:
        typename: the name in files, e.g. ``my.Class``.
        version: the class version that is written; reading passes on the version of the file.
        read: a generator function ``read(obj, version)`` for another payload; see
            ``compat.t7.objects.hooks``.
        write: a generator function ``write(obj)`` for another payload.

    Files may be hostile: what would take memory in proportion to a tensor or table of the file,
    reading asks for with ``compat.t7.claim`` before it makes it.

    A later registration of a name replaces the earlier one. A class registered under several names
    is written under the first. Raises ValueError for the names of Torch7's tensors and storages.
    """
    if typename in TENSOR_DTYPES or typename in STORAGE_DTYPES:
        raise ValueError(
            f"typename is {typename!r}; a name that is no tensor's or storage's is accepted"
        )
    if not isinstance(typename, str) or not typename:
        raise ValueError(f"typename is {typename!r}; a Torch7 class name is accepted")

    def add(cls: C) -> C:
        entry = Registration(typename, cls, version, read, write)
        _entries[typename] = entry
        if _by_class.setdefault(cls, entry).typename == typename:
            _by_class[cls] = entry
        return cls

    return add if cls is None else add(cls)


def keep(typename: str, *, read: ReadHook, write: WriteHook | None = None) -> None:
    """Tell the payload of a class whose objects stay TorchObjects; ``package.*`` names a prefix.

    Without ``write``, the preamble and the fields are written.
    """
    _kept[typename] = Registration(typename, None, 1, read, write)


_kept: dict[str, Registration] = {}


def find(typename: str) -> Registration | None:
    """The registered class of this name."""
    return _entries.get(typename)


_HOMES = {
    "cudnn": "compat.cudnn",
    "graph": "compat.nn",
    "nn": "compat.nn",
    "nn.DataParallelTable": "dptable",
    "nngraph": "compat.nn",
    "optim": "compat.optim",
}


def provide(typename: str) -> Registration | None:
    """``find`` this name, if need be after an import of the package that registers it."""
    entry = find(typename)
    if entry is None:
        parts = typename.split(".")
        home = _HOMES.get(".".join(parts[:2])) or _HOMES.get(parts[0])
        if home is not None:
            importlib.import_module(home)
            entry = find(typename)
    return entry


def find_kept(typename: str) -> Registration | None:
    """The known payload of a class whose objects are TorchObjects."""
    return _kept.get(typename) or _kept.get(typename.partition(".")[0] + ".*")


def find_class(cls: type) -> Registration | None:
    """The entry that objects of exactly this class are written by."""
    return _by_class.get(cls)
