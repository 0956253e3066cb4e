"""Loops, conditions and returns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.imports import Imports

_ITERATORS = {
    *("string.gmatch", "io.lines", "lfs.dir"),
    *("paths.iterfiles", "paths.iterdirs", "paths.files", "paths.dir"),
}


class Control(Imports):
    """What decides which statement comes next."""

    def _scope(self, node: s.Scope) -> None:
        self.body(node.body)

    def _while(self, node: s.While) -> None:
        condition = self.truth(node.condition)
        self.write(f"while {condition}:")
        self._loop(node.body)

    def _loop(
        self, block: s.Block, ending: s.Node | None = None, names: Sequence[s.Name] = ()
    ) -> None:
        """The body of a loop."""
        self._loops.append({n.name: ending for n in block.statements if isinstance(n, s.Label)})
        with self.indented():
            self.box(names)
            self.body(block)
            if ending is not None:
                self._until(ending)
        self._loops.pop()

    def _until(self, ending: s.Node) -> None:
        """What ``until`` does."""
        self.write(f"if {self.truth(ending)}:")
        with self.indented():
            self.write("break")

    def _repeat(self, node: s.Repeat) -> None:
        self.write("while True:")
        self._loop(node.body, node.condition)

    def _if(self, node: s.If) -> None:
        start = len(self.lines)
        self._clauses(node)
        lines = [line.text for line in self.lines[start:]]
        if lines[1:] == ["pass"] and not self._marks and re.fullmatch(r"if [^(\[]+:", lines[0]):
            del self.lines[start:]  # nothing is left of it, as of collectgarbage()

    def _clauses(self, node: s.If) -> None:
        for i, (condition, block) in enumerate(node.clauses):
            if condition is None:
                self.write("else:")
            else:
                self.write(f"{'elif' if i else 'if'} {self.truth(condition)}:")
            with self.indented():
                self.body(block)

    def _forrange(self, node: s.ForRange) -> None:
        first, last = self.types.type(node.first), self.types.type(node.last)
        step = node.step
        step_is_int = step is not None and self.types.type(step).is_int
        variable = node.name.variable
        name = str(variable.python)
        if not variable.reads and len(variable.writes) == 1:
            name = "_"
        whole = self._whole(node)
        a, b = self.value(node.first), self.value(node.last)
        if first.is_int and whole is not None and (step is None or _constant_int(step)):
            by = _constant_int(step) if step is not None else 1
            assert by is not None
            if whole:
                b = code.call(whole, b)
            variable.zero_based = by == 1 and a.text == "1" and self._only_index(node)
            if variable.zero_based or (name == "_" and a.text == "1" and by == 1):
                over = code.call("range", b)
            else:
                stop = code.shifted(b, 1 if by > 0 else -1)
                start = [] if a.text == "0" and by == 1 else [a]
                over = code.call("range", *start, stop, *([str(by)] if by != 1 else []))
        elif first.is_int and last.is_int and a.text == "1" and step is not None and step_is_int:
            # From 1 on there is nothing to do for a step that leads down.
            over = code.call("range", a, code.shifted(b, 1), self.value(step))
        else:
            extra = [self.value(step)] if step is not None else []
            over = code.call("lua.range", a, b, *extra)
        self.write(f"for {name} in {over}:")
        self._loop(node.body, names=[node.name])

    def _whole(self, node: s.ForRange) -> str | None:
        """What makes an int of the last number of a loop; None where it may be none."""
        last = self.types.type(node.last)
        if last.is_int or self.types.is_whole(node.last):
            return ""
        facts = self.types.facts.get((self.file.path, node.last.start, node.last.end))
        if facts and all(f == "int" for f in facts):
            return "int"
        if last.is_number and facts is None:
            return "math.floor" if not isinstance(node.last, s.Constant) else None
        return "math.floor" if last.is_number else None

    def _only_index(self, node: s.ForRange) -> bool:
        """Whether a loop's number is nothing but an index of lists and tensors."""
        variable = node.name.variable
        uses = 0
        for part in s.walk(node.body):
            if not isinstance(part, s.Index):
                continue
            kind = self.types.type(part.object)
            is_plain = kind.is_tensor or (
                kind.only("table")
                and kind.shape is not None
                and kind.shape.is_list
                and "nil" not in self.types.type(part).atoms
            )
            if isinstance(part.key, s.Name) and part.key.variable is variable and is_plain:
                uses += 1
            if isinstance(part.key, s.Table) and kind.is_tensor:
                for entry in part.key.fields:
                    inner = entry.value.fields if isinstance(entry.value, s.Table) else [entry]
                    uses += sum(
                        isinstance(f.value, s.Name) and f.value.variable is variable for f in inner
                    )
        written = any(
            isinstance(t, s.Index)
            and isinstance(t.key, s.Name)
            and t.key.variable is variable
            and not self.types.type(t.object).is_tensor
            and not self._is_there(t)
            for n in s.walk(node.body)
            if isinstance(n, s.Assign)
            for t in n.targets
        )
        return uses == len(variable.reads) > 0 and len(variable.writes) == 1 and not written

    def _foreach(self, node: s.ForEach) -> None:
        names = []
        for name in node.names:
            unused = not name.variable.reads and len(name.variable.writes) == 1
            python = str(name.variable.python)
            names.append(
                python if not unused else python if python.startswith("_") else f"_{python}"
            )
        over = self._iterated(node, names)
        self.write(f"for {', '.join(names)} in {over}:")
        self._loop(node.body, names=node.names)

    def _iterated(self, node: s.ForEach, names: list[str]) -> Code:
        first = node.values[0]
        path = None
        if isinstance(first, s.Call) and len(node.values) == 1:
            path = self.types.dotted(first.function) if first.method is None else None
            if path in ("ipairs", "pairs") and len(first.arguments) == 1:
                return self._over_table(first.arguments[0], path, node, names)
            if path in _ITERATORS or first.method in ("gmatch", "lines"):
                functions = {"paths.iterfiles": "lua.iterfiles", "paths.iterdirs": "lua.iterdirs",
                             "paths.files": "lua.files", "lfs.dir": "lua.files"}  # fmt: skip
                if path in functions:
                    return code.call(functions[path], *self.arguments(first))
                return self.value(first)
        made = self.values(node.values)
        return code.call("lua.iterate", str(len(names)), *made)

    def _over_table(self, table: s.Node, path: str, node: s.ForEach, names: list[str]) -> Code:
        kind = self.types.type(table)
        shape = kind.shape
        self.resolve(self.how(table) if kind.atoms else "open")
        owner = self.value(table)
        is_split = isinstance(table, s.Call) and table.method in ("split", "chunk")
        if is_split and owner.text.startswith("list("):
            owner = Code(owner.text[5:-1])
        no_key = not node.names[0].variable.reads and len(node.names) == 2
        plain = kind.only("table") and shape is not None and "meta" not in shape.uses
        if plain and shape is not None and shape.is_list:
            if no_key and len(node.names) == 2:
                del names[0]
                return owner
            if len(names) == 1:
                return Code(f"range(1, len({owner}) + 1)")
            return code.call("enumerate", owner, "1")
        if kind.only("sizes"):
            return code.call("enumerate", owner, "1")
        if path == "pairs" and plain and shape is not None and (shape.keys or shape.names):
            changed = "deleted" in shape.uses
            if len(names) == 1:
                return code.call("list", owner) if changed else owner
            if no_key:
                del names[0]
                inner = Code(f"{owner.atom}.values()")
            else:
                inner = Code(f"{owner.atom}.items()")
            return code.call("list", inner) if changed else inner
        if path == "pairs" and kind.only("options"):
            if len(names) == 1:
                return owner
            return Code(f"{owner.atom}.items()")
        if not kind.atoms:
            self.mark(f"what {s.describe(table)} is, is not known", "loops")
        made = code.call(f"lua.{path}", owner)
        if len(names) == 1:
            names.append("_")
        return made

    def _return(self, node: s.Return) -> None:
        if self.scope is self.file.scopes.file:
            self._file_result(node)
            return
        count = self._result_count
        if not node.values:
            if self._is_open:
                self.write("return ()")
            elif count > 1:
                self.write(f"return {', '.join(['None'] * count)}")
            else:
                self.write("return" if count == 0 else "return None")
            return
        last = node.values[-1]
        if len(node.values) == 1:
            made = self.any(last, "f")
            if made.tells:
                self.tell()
            if made.text.startswith("*") and isinstance(last, s.Vararg):
                self.write("return lua.results(args)")
                return
            if made.text.startswith("*"):
                self.write(f"return lua.results({made.text[1:]})")
                return
            if made.counts:
                self.write(f"return lua.counted({made})")
                return
            if made.is_mask:
                made = Code(f"{made.atom}.byte()")
            own = self.types.count(last)
            if count > 1 and own is not None and own < count:
                values = [f"*{made.atom}" if own > 1 else made.text] + ["None"] * (
                    count - max(own, 1)
                )
                self.write(f"return {', '.join(values)}")
            elif own == 0 and isinstance(last, s.Call) and count == 0:
                self.write(made.text)
                self.write("return ()" if self._is_open else "return")
            else:
                self.write(f"return {made}")
            return
        made_all = self.values(node.values)
        own_count = len(node.values) - 1 + (self.types.count(last) or 1)
        values = [m.text for m in made_all]
        if count > own_count and not values[-1].startswith("*"):
            values += ["None"] * (count - own_count)
        self.write(f"return {', '.join(values)}")

    def _file_result(self, node: s.Return) -> None:
        if len(node.values) == 1 and isinstance(node.values[0], s.Name):
            self.exports = self.name_of(node.values[0])
            if self.types.loads_by_name and self.exports != "exports":
                self.write(f"exports = {self.exports}")
            return
        if node.values:
            self.exports = "exports"
            made = self.value(node.values[0], "exports").text
            if made != "exports":
                self.write(f"exports = {made}")
        else:
            self.write("sys.exit()")

    def _jump(self, node: s.Jump) -> None:
        if node.label is None:
            self.write("break")
        elif self._loops and node.label in self._loops[-1]:
            ending = self._loops[-1][node.label]
            if ending is not None:
                self._until(ending)
            self.write("continue")
        else:
            self.mark("Python has no goto", "goto")
            self.write(f'raise NotImplementedError("goto {node.label}")')

    def _label(self, node: s.Label) -> None:
        pass


def _constant_int(node: s.Node) -> int | None:
    if isinstance(node, s.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, s.Unary) and node.operator == "-":
        inner = _constant_int(node.operand)
        return -inner if inner is not None else None
    return None
