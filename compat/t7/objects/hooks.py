"""Requests of a class's read and write hooks for primitive values of the format.

A hook is a generator. A read hook yields a request and is sent the value; a write hook yields
pairs of a request and a value::

    def read(obj, version):
        obj.count = yield t7.LONG
        obj.name = yield t7.bytes_((yield t7.INT))
        obj.child = yield t7.OBJECT

    def write(obj):
        yield t7.LONG, obj.count
        yield t7.INT, len(obj.name)
        yield t7.bytes_(len(obj.name)), obj.name
        yield t7.OBJECT, obj.child
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any


class Request:
    """A kind of value; ``code`` is its ``struct`` code where it is a number."""

    __slots__ = ("code", "name")

    def __init__(self, name: str, code: str = "") -> None:
        self.name = name
        self.code = code

    def __repr__(self) -> str:
        return f"t7.{self.name}"


class Bytes(Request):
    """``count`` raw bytes."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        super().__init__(f"bytes_({count})")
        self.count = count


OBJECT = Request("OBJECT")
"""Any object."""
FIELDS = Request("FIELDS")
"""A table object, always as a dict."""
BOOL = Request("BOOL", "?")
"""A bool, which the format stores as an int."""
SHORT = Request("SHORT", "h")
INT = Request("INT", "i")
LONG = Request("LONG", "l")
FLOAT = Request("FLOAT", "f")
DOUBLE = Request("DOUBLE", "d")


def bytes_(count: int) -> Bytes:
    """Return a request for ``count`` raw bytes, never byte-swapped."""
    return Bytes(count)


ReadHook = Callable[[Any, float], Generator[Request, Any, None]]
WriteHook = Callable[[Any], Generator[tuple[Request, Any], None, None]]
