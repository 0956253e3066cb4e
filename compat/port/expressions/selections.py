"""Parts of tensors: ``x[i]``, ``x[{{a, b}, i}]``."""

from __future__ import annotations

import re

from compat.port import code
from compat.port import syntax as s
from compat.port.code import Code
from compat.port.expressions.values import Values
from compat.port.types import Type


class Selections(Values):
    """Indices, which count from 0 in Python, and what they select of a tensor."""

    def element(self, owner: Code, node: s.Index, kind: Type) -> Code:
        """``x[key]`` of a tensor, as a value."""
        made, is_number = self.selection(owner, node.key, kind)
        result = self.types.type(node)
        if is_number or (is_number is None and result.is_number):
            return Code(f"{made.atom}.item()")
        if is_number is None and not result.is_tensor:
            self.mark(f"whether {s.describe(node)} is a number is not known", "views")
            return code.call("lua.item", made)
        return made

    def selection(self, owner: Code, key: s.Node, kind: Type) -> tuple[Code, bool | None]:
        """``x[key]``, and whether that is one number (None: not known)."""
        key_kind = self.types.type(key)
        if isinstance(key, s.Table):
            return self.slices(owner, key, kind)
        if key_kind.is_number:
            number = (
                True if kind.dims == {1} else None if -1 in kind.dims or 1 in kind.dims else False
            )
            return Code(f"{owner.atom}[{self.place(key)}]"), number
        if key_kind.only("mask", "tensor"):
            return Code(f"{owner.atom}[{self.mask(key)}]"), False
        if key_kind.only("sizes", "storage"):
            return Code(f"{owner.atom}[tuple(i - 1 for i in {self.value(key)})]"), True
        self.mark(f"what {s.describe(key)} is, is not known", "indices")
        return code.call("lua.index", owner, self.value(key)), False

    def mask(self, key: s.Node) -> Code:
        """A tensor that selects."""
        made = self.any(key)
        return Code(made.text, made.level) if made.is_mask else Code(f"{made.atom}.bool()")

    def slices(self, owner: Code, key: s.Table, kind: Type) -> tuple[Code, bool | None]:
        """``x[{{a, b}, i}]``."""
        parts = []
        taken = 0
        for entry in key.fields:
            value = entry.value
            if isinstance(value, s.Table):
                ends = [f.value for f in value.fields]
                if not ends:
                    parts.append(":")
                elif len(ends) == 1:
                    last = self.value(ends[0])
                    first = self.place(ends[0])
                    end = "" if last.text == "-1" else str(self.end(ends[0]))
                    parts.append(code.sliced(str(first), end))
                else:
                    first = self.place(ends[0])
                    beginning = "" if first.text == "0" else str(first)
                    parts.append(code.sliced(beginning, str(self.end(ends[1]))))
            elif self.types.type(value).is_number:
                parts.append(str(self.place(value)))
                taken += 1
            else:
                self.mark(f"what {s.describe(value)} is, is not known", "indices")
                return code.call("lua.index", owner, self.table(key)), None
        if not parts:
            return owner, False
        while len(parts) > 1 and parts[-1] == ":":
            parts.pop()
        is_number = None if -1 in kind.dims else kind.dims == {taken}
        if taken == 0:
            is_number = False
        return Code(f"{owner.atom}[{', '.join(parts)}]"), is_number

    def place(self, key: s.Node) -> Code:
        """A key as an index from 0."""
        if isinstance(key, s.Name) and key.variable.zero_based:
            return Code(self.name_of(key))
        made = self.dims(key) or self.value(key)
        if not self.types.is_whole(key) and not made.text.isdigit():
            return code.call("int", code.shifted(made))
        return code.shifted(made)

    def end(self, node: s.Node) -> Code:
        """The last index of a slice, which Python's slices stop before."""
        made = self.value(node)
        if made.text == "-1":
            return Code("")
        if re.fullmatch(r"-\d+", made.text):
            return Code(str(int(made.text) + 1))
        if isinstance(node, s.Name) and node.variable.zero_based:
            return code.shifted(Code(self.name_of(node)), 1)
        is_whole = self.types.is_whole(node) or made.text.isdigit()
        return made if is_whole else code.call("int", made)

    def whole(self, node: s.Node) -> Code:
        """A number where PyTorch takes ints only."""
        made = self.value(node)
        kind = self.types.type(node)
        if not kind.is_number or self.types.is_whole(node):
            return made
        return code.call("int", made)

    def dims(self, node: s.Node) -> Code | None:
        """``x:dim()`` where nobody minds that Torch7's empty tensor has none; else None."""
        if not isinstance(node, s.Call) or node.method not in ("dim", "nDimension"):
            return None
        if node.arguments or not self.types.type(node.function).is_tensor:
            return None
        return Code(f"{self.prefix(node.function).atom}.dim()")
