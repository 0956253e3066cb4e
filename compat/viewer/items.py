"""Describes one value of a file for the page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from compat import t7
from compat.nn.core.module import Module
from compat.viewer import contents, numbers, pictures
from compat.viewer.costs import Cost, costs
from compat.viewer.limits import Limits, Room
from compat.viewer.modules import flow, parameters, settings

_TENSORS = 200  # of an object that are listed
_NUMBERED = 20  # entries of a table whose curve is shown


@dataclass
class Item:
    """The description of one value.

    Attributes:
        look: the description for JSON, without the value's name.
        parts: whether the value's contents are described, too.
        sums: see ``Items.sums``.
        apart: the bytes of the look that count for limits other than ``items``.
    """

    look: dict[str, Any] = field(default_factory=dict)
    parts: bool = True
    sums: tuple[int, int] = (0, 0)
    apart: int = 0


class Items:
    """Describes the values of one file.

    Args:
        limits: how many bytes the descriptions may take.
        input: sizes of an input for the nets, such as ``1x3x224x224``; searched for by default.

    Attributes:
        room: the bytes left of the limits.
    """

    def __init__(self, limits: Limits, input: str = "") -> None:
        self.room = Room(limits)
        self._most = limits.modules
        self._input = input
        self._costs: dict[int, Cost] = {}
        self._counted: set[tuple[int, int]] = set()

    def head(self, value: Any) -> dict[str, Any]:
        """Return the description that a value has in each of its places."""
        look: dict[str, Any] = {"kind": contents.kind(value), "type": _type(value)}
        if isinstance(value, Module):
            look["text"] = settings(value)
        elif isinstance(value, Tensor):
            look["text"] = contents.sizes(value)
        elif isinstance(value, (list, tuple, dict)):
            look["text"] = f"{len(value):,} {'entry' if len(value) == 1 else 'entries'}"
        else:
            look["text"] = contents.line(value) or ""
        return look

    def item(self, value: Any, is_net: bool) -> Item:
        """Describe a value in its first place; ``is_net`` of a module inside no other."""
        item = Item(self.head(value))
        if is_net:
            self._tell_net(item.look, value)
        if isinstance(value, Module):
            item.look |= flow(value)
            cost = self._costs.get(id(value))
            if cost is not None:
                item.look |= {"output": cost.output, "multiplyAdds": cost.multiply_adds}
        inside = contents.contents(value)
        item.parts = inside.parts > 0
        item.sums = self.sums(value, inside.tensors)
        self._tell_tensors(item, value, inside.tensors)
        self._tell_table(item, value, inside)
        return item

    def _tell_net(self, look: dict[str, Any], net: Module) -> None:
        found = costs(net, self._input, self._most)
        look["net"] = True
        look["input"] = found.input
        look["reason"] = contents.shortened(contents.name_of(found.reason))
        self._costs.update(found.modules)

    def sums(self, value: Any, tensors: list[tuple[str, Tensor]]) -> tuple[int, int]:
        """Return the number of trained elements in a value's tensors, and the bytes.

        Shared memory counts once, where it occurs first.
        """
        if not tensors:
            return 0, 0
        trained = set(map(id, parameters(value))) if isinstance(value, Module) else set()
        count = size = 0
        for _, tensor in tensors:
            place = (tensor.data_ptr(), numbers.memory(tensor))
            if place not in self._counted:
                self._counted.add(place)
                size += place[1]
                count += tensor.numel() if id(tensor) in trained else 0
        return count, size

    def _tell_tensors(self, item: Item, value: Any, tensors: list[tuple[str, Tensor]]) -> None:
        told = []
        for name, tensor in tensors[:_TENSORS]:
            about = numbers.tensor(name, tensor)
            if self.room.take("numbers"):
                about |= self._fitting(item, "numbers", numbers.statistics(tensor)) or {}
            told.append(about)
            if isinstance(value, Module):
                images = pictures.of_module(value, name, tensor)
            else:
                images = pictures.of_data(tensor)
            if images is not None and self.room.take("pictures"):
                sheet = self._fitting(item, "pictures", pictures.sheet(images))
                item.look["pictures"] = sheet or item.look.get("pictures")
        item.look["tensors"] = told

    def _tell_table(self, item: Item, value: Any, inside: contents.Contents) -> None:
        """Describe a table: fields and entries, a curve of numbers, or rows of records."""
        records = self._fitting(item, "numbers", numbers.records(value))
        if records is not None:
            item.look["records"] = records
            item.parts = False
            return
        item.look["curve"] = curve = self._fitting(item, "numbers", numbers.curve(value))
        if not (curve and curve["count"] > _NUMBERED):
            item.look |= {"fields": inside.fields, "moreFields": inside.more}

    def _fitting(self, item: Item, kind: str, made: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return the description made, if there is room for it, or None."""
        size = len(json.dumps(made))
        if made is None or not self.room.take(kind, size):
            return None
        item.apart += size
        return made


def _type(value: Any) -> str:
    """Return the type of a value, by which the page draws it."""
    if isinstance(value, Module):
        return "module"
    if isinstance(value, (Tensor, t7.Storage)):
        return "tensor"
    if isinstance(value, (list, tuple, dict)):
        return "table"
    return "object" if contents.line(value) is None else "value"
