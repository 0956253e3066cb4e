"""Pickles of known classes read without running anything that is in them.

A pickle is a program: the classes and functions that it names are called as it says. Here nothing
of the kind is ever called. For each name of an allow-list stands a class made for this reading,
which notes what it is given; any other name, and any operation that data needs not, is refused.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Collection
from typing import Any

# What Python's pickler writes for plain data and instances of classes in protocols 2 to 5. The
# others look up names in other ways, or take memory that the file does not have.
_OPERATIONS = frozenset(
    (
        *("PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINPUT", "BINGET", "LONG_BINGET"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
        *("SHORT_BINUNICODE", "BINUNICODE", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
        *("EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS"),
        *("GLOBAL", "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD"),
    )
)


class Noted:
    """What stands for an instance of a class, or for what a function would have returned.

    Attributes:
        args: what it would have been called with.
        state: what would have been its state.

    Of the class: ``name``, that of what it stands for, without its module.
    """

    name = ""
    state: Any = None

    def __new__(cls, *args: Any) -> Noted:
        noted = super().__new__(cls)
        noted.args = args
        return noted

    def __init__(self, *args: Any) -> None:
        self.args = args

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __getitem__(self, key: str) -> Any:
        """Return an entry of the state."""
        return self.state[key]


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, allowed: Collection[str]) -> None:
        super().__init__(io.BytesIO(data))
        self._allowed = allowed
        self._classes: dict[str, type[Noted]] = {}

    def find_class(self, module: str, name: str) -> Any:
        whole = f"{module}.{name}"
        if whole not in self._allowed:
            raise pickle.UnpicklingError(f"it names {whole!r}, which is not allowed")
        return self._classes.setdefault(whole, type(name, (Noted,), {"name": name}))


def read(data: bytes, allowed: Collection[str]) -> Any:
    """Return the plain data of a pickle, with ``Noted`` for what it names.

    Args:
        data: the pickle.
        allowed: the names that it may have, each with its module.

    Raises:
        ValueError: any other name or operation, and for what is no pickle.
    """
    try:
        for operation, _, _ in pickletools.genops(data):
            if operation.name not in _OPERATIONS:
                raise pickle.UnpicklingError(f"it has the operation {operation.name}")
        return _Unpickler(data, allowed).load()
    except Exception as error:  # whatever damage makes of it
        raise ValueError(f"a pickle that is refused: {error}") from None
