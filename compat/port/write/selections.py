"""Parts of tensors: ``x[i]``, ``x[{{a, b}, i}]``."""

from __future__ import annotations

from compat.port.know.types import Type
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.values import Values


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
