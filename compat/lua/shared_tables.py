"""The tables of ``tds``, which the Lua states of several threads share."""

from __future__ import annotations

import threading
from typing import Any

from torch import Tensor


class Storage:
    """A storage among the values, as a flat tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class Hash:
    """A map."""

    def __init__(self) -> None:
        self.items: dict[Any, Any] = {}


class Vec:
    """A list; its length is that of the last value."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.lock = threading.Lock()


def new_hash() -> Hash:
    """Return an empty map."""
    return Hash()


def new_vec() -> Vec:
    """Return an empty list."""
    return Vec()


def new_storage(tensor: Tensor) -> Storage:
    """Return a storage as a value."""
    return Storage(tensor)


def kind(value: Any) -> str:
    """Return how Lua takes a value."""
    if isinstance(value, Tensor):
        return "tensor"
    return type(value).__name__


def tensor_of(value: Storage) -> Tensor:
    """Return the numbers of a storage."""
    return value.tensor


def _key(key: Any) -> Any:
    # In Python True is 1.
    return ("boolean", key) if isinstance(key, bool) else key


def get(table: Hash, key: Any) -> Any:
    """Return the value of a key, or nil."""
    return table.items.get(_key(key))


def put(table: Hash, key: Any, value: Any) -> None:
    """Set a value; nil removes the key."""
    if value is None:
        table.items.pop(_key(key), None)
    else:
        table.items[_key(key)] = value


def size(table: Hash | Vec) -> int:
    """Return the number of values."""
    return len(table.items) if isinstance(table, Hash) else len(table.values)


def keys(table: Hash) -> list[Any]:
    """Return the present keys."""
    return list(table.items)


def entry(table: Hash, names: list[Any], i: int) -> tuple[Any, Any]:
    """Return one key and its value."""
    name = names[int(i) - 1]
    return (name[1] if isinstance(name, tuple) else name), table.items.get(name)


def vec_get(vec: Vec, i: int) -> Any:
    """Return a value, or nil beyond the end."""
    return vec.values[i - 1] if i <= len(vec.values) else None


def vec_put(vec: Vec, i: int, value: Any) -> None:
    """Set a value; the list grows as needed."""
    with vec.lock:
        missing = i - len(vec.values)
        if missing > 0:
            vec.values.extend([None] * missing)
        vec.values[i - 1] = value


def vec_insert(vec: Vec, i: int, value: Any) -> None:
    """Put a value before another."""
    with vec.lock:
        vec.values.extend([None] * (i - 1 - len(vec.values)))
        vec.values.insert(i - 1, value)


def vec_remove(vec: Vec, i: int) -> None:
    """Take a value out."""
    with vec.lock:
        del vec.values[i - 1]


def vec_resize(vec: Vec, n: int) -> None:
    """Give a list another length."""
    with vec.lock:
        del vec.values[n:]
        vec.values.extend([None] * (n - len(vec.values)))
