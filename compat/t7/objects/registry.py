"""The registry of Python classes for Torch7 classes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from compat.lua_tables import List, Table
from compat.t7.base.types import STORAGE_DTYPES, TENSOR_DTYPES, TorchObject
from compat.t7.objects.hooks import ReadHook, WriteHook

C = TypeVar("C", bound=type)
Fits = Callable[[Mapping[Any, Any]], bool]


@dataclass(frozen=True)
class Registration:
    """The entry of one Torch7 class. Without ``cls`` its objects are TorchObjects.

    ``is_adopted``: whether the name comes from the class, not from a call of ``register``.
    """

    typename: str
    cls: type | None
    version: float = 1
    read: ReadHook | None = None
    write: WriteHook | None = None
    fits: Fits | None = None
    is_adopted: bool = False

    @property
    def counts_from_0(self) -> bool:
        """Whether tables in objects of the class are plain lists and dicts."""
        return self.cls is not None and not issubclass(self.cls, (List, Table))

    def new(self, typename: str, version: float) -> Any:
        """Return an object without content."""
        if self.cls is None:
            return TorchObject(typename, version)
        new: Any = self.cls.__new__
        return new(self.cls)


_entries: dict[str, tuple[Registration, ...]] = {}
_by_class: dict[type, Registration] = {}


@overload
def register(
    typename: str,
    cls: None = None,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
    fits: Fits | None = None,
) -> Callable[[C], C]: ...
@overload
def register(
    typename: str,
    cls: C,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
    fits: Fits | None = None,
) -> C: ...
def register(
    typename: str,
    cls: Any = None,
    *,
    version: float = 1,
    read: ReadHook | None = None,
    write: WriteHook | None = None,
    fits: Fits | None = None,
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
        fits: tells from the fields of an object of this name whether it is of this class, where
            different classes share a name, as the ``nn.LSTM`` of two packages do. The first class
            that fits is taken, the latest registered first; where none does, the object is of an
            unknown class. The object is not made by ``__new__`` then.

    Files may be hostile: what would take memory in proportion to a tensor or table of the file,
    reading asks for with ``compat.t7.claim`` before it makes it.

    The tables in an object of a registered class are lists where their keys are 1…n, and count from
    0: a field that is a map even so is made one in ``t7_restore``.

    Without ``fits``, a later registration of a name replaces all earlier ones. A class registered
    under several names is written under the first. Raises ValueError for the names of Torch7's
    tensors and storages, and for ``fits`` together with ``read``.
    """
    if typename in TENSOR_DTYPES or typename in STORAGE_DTYPES:
        raise ValueError(
            f"typename is {typename!r}; a name that is no tensor's or storage's is accepted"
        )
    if not isinstance(typename, str) or not typename:
        raise ValueError(f"typename is {typename!r}; a Torch7 class name is accepted")
    if fits is not None and read is not None:
        raise ValueError(
            "fits is given together with read; a class with a payload of its own is known by its "
            "name alone"
        )

    def add(cls: C) -> C:
        provide(typename)  # else what this library has of this name would come later, and win
        entry = Registration(typename, cls, version, read, write, fits)
        _add(entry)
        known = _by_class.get(cls)
        if known is None or known.is_adopted or known.typename == typename:
            _by_class[cls] = entry
            if known is not None and known.is_adopted:
                cls.typename = typename  # type: ignore[attr-defined]
        return cls

    return add if cls is None else add(cls)


def adopt(typename: str, cls: type, version: float, fits: Fits | None) -> None:
    """Register a class under the name that it has until ``register`` gives it another.

    Its attribute ``typename`` follows.

    Args:
        typename: the name in files.
        cls: the class.
        version: the version of the class that files name.
        fits: as in ``register``.
    """
    entry = Registration(typename, cls, version, fits=fits, is_adopted=True)
    _add(entry)
    _by_class[cls] = entry


def _add(entry: Registration) -> None:
    known = _entries.get(entry.typename, ()) if entry.fits else ()
    _entries[entry.typename] = (entry, *(other for other in known if other.cls is not entry.cls))


def keep(typename: str, *, read: ReadHook, write: WriteHook | None = None) -> None:
    """Set the payload of a class whose objects stay TorchObjects; ``package.*`` names a prefix.

    Without ``write``, the preamble and the fields are written.
    """
    _kept[typename] = Registration(typename, None, read=read, write=write)


_kept: dict[str, Registration] = {}


def borrow(typename: str, make: Callable[[], C]) -> tuple[C, dict[str, Any], Any]:
    """Make a class of this name, and register it nowhere.

    Returns:
        The class, and where and what to register while it is to be the one of the name.
    """
    provide(typename)
    before = _entries.get(typename)
    cls = make()
    entries = _entries.pop(typename)
    if before is not None:
        _entries[typename] = before
    return cls, _entries, entries


def find(typename: str) -> tuple[Registration, ...]:
    """Return the classes registered under this name, in the order of precedence."""
    return _entries.get(typename, ())


def chosen(candidates: tuple[Registration, ...], fields: Mapping[Any, Any]) -> Registration | None:
    """Return the class of an object with these fields."""
    for entry in candidates:
        if entry.fits is None or entry.fits(fields):
            return entry
    return None


def has_module_fields(fields: Mapping[Any, Any]) -> bool:
    """Return whether these are the fields of a module or criterion."""
    return "gradInput" in fields or isinstance(fields.get("_type"), str)


def keep_unknown(choose: Callable[[Any], type]) -> None:
    """Let ``choose(fields)`` choose the class for modules and criterions of unknown classes.

    Args:
        choose: a function of the fields of an object, by name, which returns a class or None.
    """
    global _keeper
    _keeper = choose


def _as_it_is(fields: Mapping[Any, Any]) -> type:
    return TorchObject


_keeper: Callable[[Any], type] = _as_it_is


def keeper(fields: Mapping[Any, Any]) -> type:
    """Return the class for an object of an unknown class with these fields."""
    if not has_module_fields(fields):
        return TorchObject
    importlib.import_module("compat.nn")
    return _keeper(fields)


_HOMES = {
    "OneHot": "compat.char_rnn",
    "cudnn": "compat.cudnn",
    "graph": "compat.nn",
    "nn": "compat.nn",
    "nn.DataParallelTable": "dptable.container.files",
    "nngraph": "compat.nn",
    "optim": "compat.optim",
}


def provide(typename: str) -> tuple[Registration, ...]:
    """Return ``find(typename)``, after importing the package that registers it if needed."""
    entries = find(typename)
    if not entries:
        parts = typename.split(".")
        home = _HOMES.get(".".join(parts[:2])) or _HOMES.get(parts[0])
        if home is not None:
            importlib.import_module(home)
            entries = find(typename)
    return entries


def registered() -> Iterator[tuple[str, type]]:
    """Import every package with classes, and yield each Torch7 class name with its Python class."""
    for package in sorted({*_HOMES.values()}):
        importlib.import_module(package)
    for typename, entries in _entries.items():
        yield from ((typename, entry.cls) for entry in entries if entry.cls is not None)


def find_kept(typename: str) -> Registration | None:
    """Return the known payload of a class whose objects are TorchObjects."""
    return _kept.get(typename) or _kept.get(typename.partition(".")[0] + ".*")


def find_class(cls: type) -> Registration | None:
    """Return the entry that objects of exactly this class are written by."""
    return _by_class.get(cls)
