"""What the page tells of one thing in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from torch import Tensor

from compat import t7
from compat.nn.core.convertible import Convertible
from compat.nn.core.module import Module
from compat.viewer import contents, numbers, pictures
from compat.viewer.costs import Cost, costs
from compat.viewer.limits import Room
from compat.viewer.modules import flow, parameters, settings

_FIELDS = 200  # that are listed
_NUMBERED = 20  # entries of a table whose curve is shown


@dataclass
class Item:
    """What is told of a thing.

    Attributes:
        look: for JSON; without its name, which is that of its place.
        parts: whether what lies in it is to be told.
        parameters: how many numbers are trained of those that no item before has.
        bytes: what its tensors take of memory that no item before has.
    """

    look: dict[str, Any] = field(default_factory=dict)
    parts: bool = True
    parameters: int = 0
    bytes: int = 0


class Items:
    """What is told of the things in one file.

    Args:
        room: for what is told; less is told where there is none.
        input: sizes of an input for the nets, such as ``1x3x224x224``; found out by default.
    """

    def __init__(self, room: Room, input: str = "") -> None:
        self._room = room
        self._input = input
        self._costs: dict[int, Cost] = {}
        self._counted: set[tuple[int, int]] = set()

    def head(self, value: Any) -> dict[str, Any]:
        """What is told of a thing wherever it is."""
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
        """What is told of a thing in its first place; ``is_net`` of a module in no other."""
        item = Item(self.head(value))
        if is_net:
            self._tell_net(item.look, value)
        if isinstance(value, Module):
            item.look |= flow(value)
            cost = self._costs.get(id(value))
            if cost is not None:
                item.look |= {"output": cost.output, "multiplyAdds": cost.multiply_adds}
        self._tell_tensors(item, value)
        self._tell_table(item, value)
        if contents.line(value) is None and not isinstance(value, Tensor):
            self._tell_fields(item.look, value)
        return item

    def _tell_net(self, look: dict[str, Any], net: Module) -> None:
        found = costs(net, self._input)
        look["net"] = True
        look["input"] = found.input
        look["reason"] = contents.shortened(contents.name_of(found.reason))
        self._costs.update(found.modules)

    def _tell_tensors(self, item: Item, value: Any) -> None:
        trained = set(map(id, parameters(value))) if isinstance(value, Module) else set()
        told = []
        for name, tensor in contents.tensors(value):
            place = (tensor.data_ptr(), numbers.memory(tensor))
            if place not in self._counted:
                self._counted.add(place)
                item.bytes += place[1]
                item.parameters += tensor.numel() if id(tensor) in trained else 0
            if len(told) < _FIELDS:
                about = numbers.tensor(name, tensor)
                if self._room.take("numbers"):
                    about |= self._fitting("numbers", numbers.statistics(tensor)) or {}
                told.append(about)
            found = self._pictures(value, name, tensor)
            if found is not None:
                item.look["pictures"] = found
        item.look["tensors"] = told

    def _pictures(self, value: Any, name: str, tensor: Tensor) -> dict[str, Any] | None:
        if isinstance(value, Module):
            images = pictures.of_module(value, name, tensor)
        else:
            images = pictures.of_data(tensor)
        if images is None or not self._room.take("pictures"):
            return None
        return self._fitting("pictures", pictures.sheet(images))

    def _tell_table(self, item: Item, value: Any) -> None:
        """A table of numbers as a curve, and one of records as such."""
        found = self._fitting("numbers", numbers.records(value))
        if found is not None:
            item.look["records"] = found
            item.parts = False
            return
        item.look["curve"] = self._fitting("numbers", numbers.curve(value))

    def _tell_fields(self, look: dict[str, Any], value: Any) -> None:
        if "records" in look or (look["curve"] and len(value) > _NUMBERED):
            return
        all = contents.fields(value)
        told = list(islice(all, _FIELDS))
        # Those of an object have no order in files.
        look["fields"] = told if isinstance(value, (list, tuple, dict)) else sorted(told)
        look["moreFields"] = sum(1 for _ in all)

    def _fitting(self, kind: str, made: dict[str, Any] | None) -> dict[str, Any] | None:
        """What was made, if there is room for it."""
        fits = made is not None and self._room.take(kind, len(json.dumps(made)))
        return made if fits else None


def _type(value: Any) -> str:
    """What the page tells apart."""
    if isinstance(value, Module):
        return "module"
    if isinstance(value, (Tensor, t7.Storage)):
        return "tensor"
    if isinstance(value, (list, tuple, dict)):
        return "table"
    return "object" if contents.line(value) is None else "value"
