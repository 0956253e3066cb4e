"""Read pickles of known classes without running anything that is in them.

A pickle is a program: it calls the classes and functions that it names. This reader calls none of
them. For each name of an allow-list it puts a class of its own, which records its arguments. It
refuses any other name and any operation that plain data does not need.
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
    """Stands for an instance of a class, or for the result of a function.

    Attributes:
        args: the arguments of the call that was not made.
        state: the state that the instance would have got.
        name: on the class: the name of what it stands for, without its module.
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
    """Return the plain data of a pickle, with ``Noted`` for each object of an allowed name.

    Args:
        data: the pickle.
        allowed: the accepted names, each with its module.

    Raises:
        ValueError: another name or operation occurs, or the data is no pickle.
    """
    try:
        for operation, _, _ in pickletools.genops(data):
            if operation.name not in _OPERATIONS:
                raise pickle.UnpicklingError(f"it has the operation {operation.name}")
        return _Unpickler(data, allowed).load()
    except Exception as error:  # whatever damage makes of it
        raise ValueError(f"a pickle that is refused: {error}") from None
