"""Walks once through everything in a value."""

from __future__ import annotations

import json
from array import array
from typing import Any

from compat.nn.core.module import Module
from compat.viewer.contents import contents, name_of, parts
from compat.viewer.items import Item, Items
from compat.viewer.limits import Limits
from compat.viewer.modules import labels

_ROW = 30  # bytes of a row, about
_ESCAPE = 5  # bytes that an escaped letter takes more


class Walk:
    """A breadth-first walk that describes each value once, in the first of its places.

    Args:
        value: the value to describe, such as the content of a file.
        limits: how many bytes the descriptions may take.
        input: sizes of an input for the nets, such as ``1x3x224x224``; searched for by default.
    """

    def __init__(self, value: Any, limits: Limits, input: str = "") -> None:
        self._items = Items(limits, input)
        self._room = self._items.room
        self._looks: dict[str, int] = {}
        self._first: dict[int, int] = {}  # the number of the item that tells a thing
        self._kept: list[Any] = []  # so that what was passed over keeps its id
        # A column each: what it is, what of it goes on, and then what JSON has.
        self._values: list[Any] = []
        self._goes_on = bytearray()
        self._in_net = bytearray()
        self._parent = array("q")
        self._look = array("q")
        self._below = array("q")
        self._rest = array("q")
        self._parameters = array("q")
        self._bytes = array("q")
        self._add(value, "", "", -1)
        for number, each in enumerate(self._values):
            if self._goes_on[number]:
                self._go_on(number, each)

    def data(self) -> dict[str, Any]:
        """Return all descriptions for JSON.

        * ``looks``: the descriptions of items. Equal ones are stored once.
        * ``rows``: ``[look, below, rest, parameters, bytes]``: the place of the item's look, the
          number of items in it, the number of items left out, and the parameters and bytes in it
          that no earlier item has.
        * ``nodes``: the places of the items' rows, the value's first. The rows inside an item stand
          together, in the order of the items.
        * ``leftOut``: the numbers of items, statistics and pictures that found no room.
        """
        for number in range(len(self._values) - 1, 0, -1):
            self._parameters[self._parent[number]] += self._parameters[number]
            self._bytes[self._parent[number]] += self._bytes[number]
        rows: dict[tuple[int, ...], int] = {}
        columns = (self._look, self._below, self._rest, self._parameters, self._bytes)
        nodes = [rows.setdefault(row, len(rows)) for row in zip(*columns, strict=True)]
        looks = [json.loads(text) for text in self._looks]
        left_out = self._room.left_out
        return {"looks": looks, "rows": list(rows), "nodes": nodes, "leftOut": left_out}

    def _go_on(self, number: int, value: Any) -> None:
        """Add the contents of an item."""
        named = labels(value) if isinstance(value, Module) else {}
        for position, (key, part) in enumerate(parts(value), 1):
            if self._room.take("items"):
                # What is numbered in order needs no name.
                name = "" if key == position and key is not True else name_of(key)
                self._add(part, name, named.get(position, ""), number)
                self._below[number] += 1
            else:
                self._rest[number] += 1
                self._pass(part, number)

    def _pass(self, value: Any, number: int) -> None:
        """Count a value without room for the item that holds it."""
        stack = [value]
        while stack:
            each = stack.pop()
            if id(each) not in self._first:
                self._first[id(each)] = number
                self._kept.append(each)
                self._count(number, *self._items.sums(each, contents(each).tensors))
                stack += (part for _, part in parts(each))

    def _count(self, number: int, parameters: int, bytes: int) -> None:
        self._parameters[number] += parameters
        self._bytes[number] += bytes

    def _add(self, value: Any, name: str, label: str, parent: int) -> None:
        number = len(self._values)
        known = self._first.setdefault(id(value), number)
        inside = parent >= 0 and bool(self._in_net[parent])
        is_module = isinstance(value, Module)
        if known == number:
            item = self._items.item(value, is_module and not inside)
        else:
            item = Item({**self._items.head(value), "same": known}, parts=False)
        self._values.append(value)
        self._goes_on.append(item.parts)
        self._in_net.append(inside or is_module)
        self._parent.append(parent)
        look = {"name": name, "label": label, **item.look}
        self._look.append(self._interned(look, item))
        for column in (self._below, self._rest, self._parameters, self._bytes):
            column.append(0)
        self._count(number, *item.sums)

    def _interned(self, look: dict[str, Any], item: Item) -> int:
        """Return the place of a look; add the look if it is new."""
        told = {key: value for key, value in look.items() if value not in ("", [], 0, None)}
        text = json.dumps(told)
        is_new = text not in self._looks
        place = self._looks.setdefault(text, len(self._looks))
        size = len(str(place)) + 1 + (_ROW if is_new or item.parts else 0)
        if is_new:  # the page escapes what HTML could take for its own
            size += len(text) - item.apart + _ESCAPE * sum(map(text.count, "<>&"))
        self._room.spend("items", size)
        return place
