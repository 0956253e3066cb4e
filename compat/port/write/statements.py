"""Statements that declare, assign and call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from compat.port.know.scopes import PACKAGES, SILENT, Variable
from compat.port.know.shapes import required, tried
from compat.port.read import syntax as s
from compat.port.write.code import Code
from compat.port.write.control import Control

_HERE = {
    "nn",
    "cunn",
    "cutorch",
    "cudnn",
    "optim",
    "image",
    "hdf5",
    "nngraph",
    "rnn",
    "dpnn",
    "xlua",
    "threads",
}


_NOTHING = {"torch.setheaptracking", "cudnn.fastest"}


class Statements(Control):
    """What declares, assigns and calls."""

    def _local(self, node: s.Local) -> None:
        self._declare(node)
        self.box(node.names)

    def _declare(self, node: s.Local) -> None:
        if not node.values:
            names = [self._declared(n) for n in node.names if not self._is_announced(n, node)]
            if not names:
                return
            self.write(" = ".join([*names, "None"]))
            return
        if len(node.names) == 2 and (package := tried(node)) is not None:
            call = node.values[0]
            assert isinstance(call, s.Call)
            own_file = self.types.file_of(s.Call(call.function, call.arguments[1:]))
            has = package in _HERE or own_file is not None
            self._effect(package)
            targets = [self._declared(node.names[0])]
            if node.names[1].variable in self.types.aliases:
                self.write(f"{targets[0]} = {has}", f"{package} is {'' if has else 'not '}here")
            else:
                self.write(f"{targets[0]}, {self._declared(node.names[1])} = {has}, None")
            return
        pairs = [n for n in node.names if n.variable not in self.types.aliases]
        if len(node.names) == len(node.values) and len(pairs) < len(node.names):
            keep = [
                (n, v)
                for n, v in zip(node.names, node.values, strict=True)
                if n.variable not in self.types.aliases
            ]
            for value in node.values:
                if (name := required(value)) is not None:
                    self._effect(name)
                    self._first_nn(name)
            if not keep:
                return
            node.names, node.values = [n for n, _ in keep], [v for _, v in keep]
        klass = self._class_made(node)
        if klass is not None:
            self._class_statement(klass)
            return
        if self._import_as(node):
            return
        if (
            len(node.names) == 1
            and isinstance(node.values[0], s.Function)
            and len(node.values) == 1
        ):
            self._define_function(self._declared(node.names[0]), node.values[0])
            return
        self._assignment([self._declared(n) for n in node.names], list(node.names), node.values)

    def _is_announced(self, name: s.Name, node: s.Local) -> bool:
        """Whether a variable is a function that a statement further down defines."""
        block = next(
            b for b in s.walk(self.file.block) if isinstance(b, s.Block) and node in b.statements
        )
        uses = [n for n, _ in (*name.variable.reads, *name.variable.writes) if n is not name]
        for later in block.statements:
            target = later.target if isinstance(later, s.Define) else None
            if isinstance(later, s.Assign) and isinstance(later.values[0], s.Function):
                target = later.targets[0]
            if isinstance(target, s.Name) and target.variable is name.variable:
                return len(name.variable.writes) == 2 and all(n.start >= later.start for n in uses)
        return False

    def _assign(self, node: s.Assign) -> None:
        if node in self._carried:
            self.mark(
                f"{self._carried[node]} is used after a forward that overwrites it in Torch7",
                "outputs",
            )
        klass = self._class_made(node)
        if klass is not None:
            is_index = isinstance(node.targets[0], s.Index)
            if not is_index:
                self._class_statement(klass)
            return
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, s.Name) and target.variable in self.types.aliases:
                if (name := required(node.values[0])) is not None:
                    self._effect(name)
                return
            if isinstance(target, s.Index):
                self._store(target, node.values)
                return
            if isinstance(node.values[0], s.Function) and isinstance(target, s.Name):
                name = self.name_of(target)
                if "." not in name:
                    self._define_function(name, node.values[0])
                    return
        node = _names_last(node)
        places = [self._place_of(t) for t in node.targets]
        waiting = [t for t, place in zip(node.targets, places, strict=True) if place is None]
        used = _variables(waiting)
        late: list[tuple[str, s.Node]] = []
        for i, target in enumerate(node.targets):
            # Lua knows all places before it changes a variable that is in one of them.
            if places[i] is None or (isinstance(target, s.Name) and target.variable in used):
                late.append((f"value_{len(late) + 1}", target))
                places[i] = late[-1][0]
        self._assignment(list(filter(None, places)), node.targets, node.values)
        for name, target in sorted(late, key=lambda pair: isinstance(pair[1], s.Name)):
            if isinstance(target, s.Index):
                self._store_code(target, Code(name))
            else:
                assert isinstance(target, s.Name)
                self.write(f"{self.name_of(target)} = {name}")

    def _place_of(self, target: s.Node) -> str | None:
        """What stands for a target; None if it takes a function."""
        if isinstance(target, s.Index):
            return self._place(target)
        assert isinstance(target, s.Name)
        return self.name_of(target)

    def _do(self, node: s.Do) -> None:
        call = node.call
        assert isinstance(call, s.Call)
        klass = self._class_made(node)
        if klass is not None:
            self._class_statement(klass)
            return
        if self._is_deriving(call):
            return
        path = self.types.dotted(call.function) if call.method is None else None
        if path in ("torch.manualSeed", "torch.setRNGState") and not self._loops:
            self._is_seeded = True
        if (name := required(call)) in PACKAGES | {"pl", "nnx", "env", "trepl"}:
            assert name is not None
            self._effect(name)
            self._first_nn(name)
            return
        if path == "require" and self.types.file_of(call) is None and name in SILENT:
            return
        if path == "collectgarbage" or path in _NOTHING:
            return
        loaded = self.types.file_of(call) if path in ("require", "dofile", "paths.dofile") else None
        if loaded is not None:
            self.load(loaded, at_once=path != "require")
            return
        if path == "error":
            self._error(call)
            return
        if path == "torch.setmetatable" and isinstance(call.arguments[0], s.Name):
            self.write(f"{self.value(call.arguments[0])} = {self.any(call)}")
            return
        if path == "assert" and call.arguments:
            condition = self.truth(call.arguments[0])
            told = f", {self.value(call.arguments[1])}" if len(call.arguments) > 1 else ""
            self.write(f"assert {condition}{told}")
            return
        self.statement = call
        made = self.any(call)
        if made.text.startswith("*"):
            made = Code(f"[{made}]")
        if not re.fullmatch(r"[\w.]+|0", made.text):
            self.write(made.text)

    def _error(self, call: s.Call) -> None:
        if not call.arguments:
            self.write("raise lua.Error(None)")
            return
        kind = self.types.type(call.arguments[0])
        made = self.value(call.arguments[0])
        if kind.is_string:
            self.write(f"raise RuntimeError({made})")
        else:
            self.write(f"raise lua.Error({made})")


def _variables(nodes: Sequence[s.Node]) -> set[Variable]:
    """The variables in expressions."""
    return {part.variable for n in nodes for part in s.walk(n) if isinstance(part, s.Name)}


def _names_last(node: s.Assign) -> s.Assign:
    """``i, t[i] = …`` as ``t[i], i = …``: Lua knows where to put values before it puts any."""
    names = {t.variable for t in node.targets if isinstance(t, s.Name)}
    places = [t for t in node.targets if isinstance(t, s.Index)]
    if not names & _variables(places) or len(node.targets) != len(node.values):
        return node
    pairs = sorted(
        zip(node.targets, node.values, strict=True), key=lambda pair: isinstance(pair[0], s.Name)
    )
    targets, values = zip(*pairs, strict=True)
    return replace(node, targets=list(targets), values=list(values))
