"""Compares ranges of statements by a key, and makes one body of equal ranges."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from compat.nn.source.program import (
    Body,
    Hole,
    Instance,
    Layer,
    Member,
    Statement,
    Value,
    Weight,
    flat,
    values,
)


@dataclass
class Part:
    """A range of statements; ranges with equal ``key`` differ at most in their ``constants``."""

    body: Body
    first: int
    last: int
    name: str
    key: Any
    constants: list[Any]
    inputs: list[Value]
    made: list[Value]
    members: list[Layer | Weight]
    names: list[str]
    keeps: bool = False

    @property
    def range(self) -> tuple[int, int]:
        return self.first, self.last

    def statements(self) -> list[Statement]:
        return self.body.statements[self.first : self.last]


class Former:
    """Makes the ``Part`` of a range of statements."""

    def __init__(self, body: Body, first: int, last: int, name: str, keeps: bool = False) -> None:
        self.constants: list[Any] = []
        self.names: list[str] = []
        self.inputs: list[Value] = []
        self.made: list[Value] = []
        self.members: dict[int, Member] = {}
        key = tuple(self._statement(s) for s in body.statements[first:last])
        self.inputs.sort(key=lambda value: bool(value.kind))  # states come last
        self.part = Part(
            *(body, first, last, name, key, self.constants, self.inputs, self.made),
            *(flat(self.members.values()), self.names, keeps),
        )

    def _statement(self, statement: Statement) -> Any:
        key = [statement.function, statement.pinned]
        if statement.layer is not None:
            key.append(self._member(statement.layer))
        word = statement.function.rpartition(".")[2]
        key.append(self._tree(statement.arguments, word))
        for name, tree in statement.keywords.items():
            key.append((name, self._tree(tree, name)))
        results = values(statement.results)
        key.append((type(statement.results) is Value, len(results)))
        self.made += results
        return tuple(key)

    def _member(self, member: Member) -> Any:
        place = list(self.members).index(id(member)) if id(member) in self.members else None
        if place is not None:
            return ("again", place)
        self.members[id(member)] = member
        if isinstance(member, Layer):
            arguments = [(n, self._tree(v, n)) for n, v in member.arguments.items()]
            return (member.name, member.around, *arguments)
        if isinstance(member, Weight):
            return (member.trained, self._tree(member.shape, "size"))
        return (id(member.block), self._tree(member.constants, "", member.block.parameters))

    def _tree(self, tree: Any, name: str, names: list[str] | None = None) -> Any:
        if type(tree) in (tuple, list):
            if tree and all(isinstance(part, int) for part in tree) and names is None:
                return self._constant(tree, name)
            each = names or [name] * len(tree)
            parts = [self._tree(part, own) for part, own in zip(tree, each, strict=True)]
            return (type(tree).__name__, *parts)
        if isinstance(tree, slice):
            return ("slice", *(self._tree(p, name) for p in (tree.start, tree.stop, tree.step)))
        if isinstance(tree, dict):
            return tuple((key, self._tree(part, name)) for key, part in tree.items())
        if isinstance(tree, Value):
            if tree in self.made:
                return ("made", self.made.index(tree))
            if tree not in self.inputs:
                self.inputs.append(tree)
            return ("input", self.inputs.index(tree), tree.kind)
        if isinstance(tree, Weight):
            return self._member(tree)
        if isinstance(tree, (bool, int, float, Hole)):
            return self._constant(tree, name)
        return repr(tree)

    def _constant(self, constant: Any, name: str) -> str:
        self.constants.append(constant)
        self.names.append(name)
        return "constant"


def template(
    part: Part, outputs: list[int], fillers: list[Any]
) -> tuple[Body, list[Layer | Weight]]:
    """Return the body of a block with ``fillers`` as its constants, and its layers and weights."""
    left = iter(fillers)
    made: dict[int, Member] = {}
    own: list[Member] = []

    def filled(tree: Any) -> Any:
        if type(tree) in (tuple, list):
            if tree and all(isinstance(p, int) for p in tree):
                return next(left)
            return type(tree)(filled(p) for p in tree)
        if isinstance(tree, slice):
            return slice(*(filled(p) for p in (tree.start, tree.stop, tree.step)))
        if isinstance(tree, dict):
            return {key: filled(p) for key, p in tree.items()}
        if isinstance(tree, Weight):
            return member(tree)
        if isinstance(tree, (bool, int, float, Hole)) and not isinstance(tree, Value):
            return next(left)
        return tree

    def member(old: Member) -> Member:
        if id(old) not in made:
            new: Member
            if isinstance(old, Layer):
                arguments = {name: filled(value) for name, value in old.arguments.items()}
                new = dataclasses.replace(old, arguments=arguments)
            elif isinstance(old, Weight):
                new = Weight(old.tensor, old.name, old.trained, filled(old.shape))
            else:
                inner = [copied(part) for part in old.members]
                new = Instance(old.block, inner, [filled(c) for c in old.constants])
            made[id(old)] = new
            own.append(new)
        return made[id(old)]

    def copied(old: Layer | Weight) -> Layer | Weight:
        made.setdefault(id(old), dataclasses.replace(old))
        return made[id(old)]  # type: ignore[return-value]

    statements = []
    for old in part.statements():
        layer = None if old.layer is None else member(old.layer)
        arguments, keywords = filled(old.arguments), filled(old.keywords)
        statements.append(
            Statement(layer, old.function, arguments, keywords, old.results, old.pinned)
        )
    results = tuple(part.made[i] for i in outputs)
    scopes = [
        scope._replace(first=scope.first - part.first, last=scope.last - part.first)
        for scope in part.body.scopes
        if part.first <= scope.first and scope.last <= part.last and scope[:2] != part.range
    ]
    result: Any = results[0] if len(results) == 1 else results
    return Body(list(part.inputs), statements, result, scopes), flat(own)
