"""Turns repeated parts of a net into blocks, with the differing constants as arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from compat.nn.source.parts import Former, Part, template
from compat.nn.source.program import (
    CONTROL,
    PACK,
    Block,
    Body,
    Hole,
    Instance,
    Layer,
    Scope,
    Statement,
    Value,
    Weight,
    balanced,
    flat,
    mapped,
    members_of,
    values,
)
from compat.nn.source.stages import Stages, stages_of

_LONGEST = 60  # statements of a part that is no module of the net
_MOST = 3000  # statements in which such parts are looked for
_LIGHT = {"torch.Tensor.size", "torch.Tensor.__getitem__", PACK, *CONTROL}


class Blocks:
    """The blocks of a net; ``found`` lists them in the order of their definitions."""

    def __init__(self, body: Body) -> None:
        self.found: list[Block] = []
        self._bodies = [body]
        self._closed: set[int] = set()  # the bodies of stages, which stay as they are
        self._fresh = 0  # values made here have numbers below it
        while self._replace_smallest(self._keeping()):
            pass
        while self._replace_largest(self._modules()):
            pass
        for each in self._bodies:
            _reschedule(each)
        while self._replace_most(self._runs()):
            pass
        for block in list(self.found):
            if not block.keeps:
                self._dissolve_small(block)
        if len(body.statements) == 1:  # what is the whole net
            [call] = body.statements
            if isinstance(call.layer, Instance):
                self._dissolve(call.layer.block, [(body, call)])

    def _dissolve_small(self, block: Block) -> None:
        """Replace the calls of a block by its statements, if the block no longer saves lines."""
        if block.repeated is not None:
            return
        calls = [
            (body, statement)
            for body in self._bodies
            for statement in body.statements
            if isinstance(statement.layer, Instance) and statement.layer.block is block
        ]
        if any(id(body) in self._closed for body, _ in calls):
            return
        if (len(calls) - 1) * _weight(block.body.statements) - 6 - len(block.parameters) / 2 > 0:
            return
        self._dissolve(block, calls)

    def _dissolve(self, block: Block, calls: list[tuple[Body, Statement]]) -> None:
        for body, call in calls:
            place = body.statements.index(call)
            body.statements[place : place + 1] = self._opened(call)
        self.found.remove(block)
        self._bodies.remove(block.body)

    def _opened(self, call: Statement) -> list[Statement]:
        """Return copies of a block's statements for one use of the block."""
        instance = call.layer
        assert isinstance(instance, Instance)
        body = instance.block.body
        known: dict[Any, Any] = dict(zip(body.inputs, call.arguments, strict=True))
        results = zip(values(body.result), values(call.results), strict=True)
        known.update(results)
        own = zip(instance.block.members, instance.members, strict=True)
        actual: dict[int, Any] = {id(member): other for member, other in own}

        def new(leaf: Any) -> Any:
            if isinstance(leaf, Hole):
                return instance.constants[leaf.number]
            if isinstance(leaf, Weight):
                actual[id(leaf)].shape = mapped(new, leaf.shape)
                return actual[id(leaf)]
            if isinstance(leaf, Value) and leaf not in known:
                self._fresh -= 1
                known[leaf] = Value(self._fresh, leaf.kind)
            return known[leaf] if isinstance(leaf, Value) else leaf

        made: dict[int, Instance] = {}
        statements = []
        for old in body.statements:
            layer = old.layer
            if isinstance(layer, Instance):
                inner = [actual[id(member)] for member in layer.members]
                constants = [mapped(new, constant) for constant in layer.constants]
                layer = made.setdefault(id(layer), Instance(layer.block, inner, constants))
            elif isinstance(layer, Layer):
                # What is an argument of this block may be one of that which it is put into.
                settings = {name: mapped(new, value) for name, value in layer.arguments.items()}
                layer = actual[id(layer)]
                layer.arguments = settings
            arguments, keywords = mapped(new, old.arguments), mapped(new, old.keywords)
            found = mapped(new, old.results)
            statements.append(
                Statement(layer, old.function, arguments, keywords, found, old.pinned)
            )
        return statements

    def _keeping(self) -> Iterator[Part]:
        """Yield the modules that have a state, as parts."""
        for body in self._bodies:
            for scope in body.scopes:
                if scope.keeps:
                    yield Former(body, *scope).part

    def _modules(self) -> Iterator[Part]:
        for body in self._bodies:
            seen = set()
            for scope in body.scopes:
                if scope[:2] not in seen and not _is_run(body, *scope[:2]):
                    seen.add(scope[:2])
                    yield Former(body, *scope).part

    def _open(self) -> list[Body]:
        """Return the bodies to search for equal parts."""
        bodies = [body for body in self._bodies if id(body) not in self._closed]
        return bodies if sum(len(body.statements) for body in bodies) <= _MOST else []

    def _runs(self) -> Iterator[Part]:
        """Yield each range of statements that may equal another range."""
        bodies = self._open()
        ids: dict[Any, int] = {}
        kinds = [[ids.setdefault(_kind(s), len(ids)) for s in body.statements] for body in bodies]
        alive: list[tuple[int, int]] = [
            (b, i) for b, own in enumerate(kinds) for i in range(len(own))
        ]
        for length in range(2, _LONGEST):
            groups: dict[Any, list[tuple[int, int]]] = defaultdict(list)
            for b, first in alive:
                if first + length <= len(kinds[b]):
                    groups[tuple(kinds[b][first : first + length])].append((b, first))
            groups = {key: group for key, group in groups.items() if len(group) > 1}
            alive = [place for group in groups.values() for place in group]
            for key, group in groups.items():
                for b, first in group if not _repeats(key) else ():
                    if balanced(bodies[b].statements[first : first + length]):
                        yield Former(bodies[b], first, first + length, "").part
            if not alive:
                return

    def _groups(self, parts: Iterator[Part], least: int = 2) -> list[list[Part]]:
        """Group equal parts that may become a block; each group has ``least`` parts or more."""
        same: dict[Any, list[Part]] = defaultdict(list)
        for part in parts:
            same[part.key].append(part)
        return [
            group
            for found in same.values()
            if len(found) >= least and len(group := self._allowed(_apart(found))) >= least
        ]

    def _allowed(self, group: list[Part]) -> list[Part]:
        """Return the parts whose layers are used nowhere outside the group."""
        total: dict[int, int] = defaultdict(int)
        for body in self._bodies:
            for statement in body.statements:
                for member in flat(members_of(statement)):
                    total[id(member)] += 1
        used: dict[tuple[int, ...], dict[int, int]] = {}
        for part in group:
            counts = used.setdefault(tuple(map(id, part.members)), defaultdict(int))
            for statement in part.statements():
                for member in flat(members_of(statement)):
                    counts[id(member)] += 1
        fine = {
            ids for ids, counts in used.items() if all(n == total[i] for i, n in counts.items())
        }
        return [part for part in group if tuple(map(id, part.members)) in fine]

    def _replace_smallest(self, parts: Iterator[Part]) -> bool:
        groups = self._groups(parts, 1)
        if groups:
            self._replace(min(groups, key=lambda group: len(group[0].key)))
        return bool(groups)

    def _replace_largest(self, parts: Iterator[Part]) -> bool:
        groups = [(len(g[0].key), _gain(g), g) for g in self._groups(parts)]
        groups = [entry for entry in groups if entry[1] > 0]
        if groups:
            self._replace(max(groups, key=lambda entry: entry[:2])[2])
        return bool(groups)

    def _replace_most(self, parts: Iterator[Part]) -> bool:
        groups: list[tuple[float, Any]] = [(_gain(g), g) for g in self._groups(parts)]
        found = stages_of(self._open(), _wanted)
        groups += [(_gain_of(s), s) for s in found if len(self._allowed(s.parts)) == len(s.parts)]
        gain, best = max(groups, key=lambda entry: entry[0], default=(0, []))
        if gain > 0:
            self._replace_stages(best) if isinstance(best, Stages) else self._replace(best)
        return gain > 0

    def _replace(self, group: list[Part]) -> None:
        """Make one block of equal parts and replace the parts by calls of it."""
        names, fillers, constants = _arguments(group)
        outputs = sorted({i for part in group for i in _wanted(part)})
        block = self._block(group[0], outputs, fillers, names)
        self._put(group, [block] * len(group), outputs, constants)

    def _replace_stages(self, stages: Stages) -> None:
        """Make a block for each number of repeated layers, and one function for all."""
        names, fillers, constants = _arguments(stages.short)
        names = [*names, _unused("depth", names)]
        blocks: dict[int, Block] = {}
        for part, count in zip(stages.parts, stages.counts, strict=True):
            if count not in blocks:
                outputs, all_fillers = [len(part.made) - 1], stages.expanded(fillers, count)
                block = self._block(part, outputs, all_fillers, names)
                block.repeated = stages.place
                block.like = next(iter(blocks.values()), None)
                self._closed.add(id(block.body))
                blocks[count] = block
        for place in sorted(range(len(stages.parts)), key=lambda i: -stages.parts[i].first):
            part, count = stages.parts[place], stages.counts[place]
            own = [*constants[place], count]
            self._put([part], [blocks[count]], [len(part.made) - 1], [own])

    def _block(self, part: Part, outputs: list[int], fillers: list[Any], names: list[str]) -> Block:
        block = Block(part.name, Body([], [], None), [], names, part.keeps)
        block.body, block.members = template(part, outputs, fillers)
        self.found.insert(0, block)
        self._bodies.append(block.body)
        return block

    def _put(
        self, group: list[Part], blocks: list[Block], outputs: list[int], constants: list[Any]
    ) -> None:
        """Replace parts by calls of blocks."""
        shared: dict[tuple[int, ...], Instance] = {}
        for part, block, own in sorted(
            zip(group, blocks, constants, strict=True), key=lambda entry: -entry[0].first
        ):
            ids = tuple(map(id, part.members)) or (id(part),)
            instance = shared.setdefault(ids, Instance(block, part.members, own))
            made = [part.made[i] for i in outputs]
            results: Any = made[0] if len(made) == 1 else tuple(made)
            _put(part, Statement(instance, "", tuple(part.inputs), {}, results))


def _is_run(body: Body, first: int, last: int) -> bool:
    """Return whether a range of statements is a row of modules, one after the other."""
    place = first
    while place < last:
        inner = [
            scope.last
            for scope in body.scopes
            if scope.first == place < scope.last <= last and scope[:2] != (first, last)
        ]
        if not inner:
            return False
        place = max(inner)
    return True


def _kind(statement: Statement) -> Any:
    layer = statement.layer
    name: Any = statement.function
    if isinstance(layer, Layer):
        name = layer.name
    elif isinstance(layer, Instance):
        name = id(layer.block)
    return (name, len(statement.arguments), len(values(statement.results)))


def _apart(parts: list[Part]) -> list[Part]:
    """Return the equal parts that remain when overlapping ones are left out."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: (id(part.body), part.first)):
        if not kept or kept[-1].body is not part.body or kept[-1].last <= part.first:
            kept.append(part)
    return kept


def _columns(group: list[Part]) -> tuple[list[Any], list[Any]]:
    """Return the constants of all parts by place, and the places' constants that differ."""

    def known(part: Part, constant: Any) -> Any:
        kind = type(constant).__name__
        return (
            (kind, id(part.body), constant)
            if isinstance(constant, Hole)
            else (kind, repr(constant))
        )

    columns = [
        tuple(known(part, part.constants[place]) for part in group)
        for place in range(len(group[0].constants))
    ]
    differing = [c for c in dict.fromkeys(columns) if len(set(c)) > 1 or c[0][0] == "Hole"]
    return columns, differing


def _arguments(group: list[Part]) -> tuple[list[str], list[Any], list[list[Any]]]:
    """Return a block's parameter names, its constants, and the arguments that each part passes."""
    columns, arguments = _columns(group)
    fillers = [
        Hole(arguments.index(column)) if column in arguments else constant
        for column, constant in zip(columns, group[0].constants, strict=True)
    ]
    names: list[str] = []
    for column in arguments:
        names.append(_unused(group[0].names[columns.index(column)] or "value", names))
    places = [columns.index(column) for column in arguments]
    return names, fillers, [[part.constants[place] for place in places] for part in group]


def _gain_of(stages: Stages) -> float:
    """Estimate how many lines a function for stages saves."""
    saved = sum(_weight(part.statements()) for part in stages.parts)
    return saved - _weight(stages.short[0].statements()) - 6.5 - len(_columns(stages.short)[1]) / 2


def _gain(group: list[Part]) -> float:
    """Estimate how many lines a block saves."""
    part = group[0]
    weight = _weight(part.statements())
    wanted = len({i for each in group for i in _wanted(each)})
    if not wanted:
        return 0
    interface = len(part.inputs) + wanted - 2 + len(_columns(group)[1]) / 2
    return (len(group) - 1) * weight - 6 - interface


def _repeats(kinds: tuple[int, ...]) -> bool:
    """Return whether a run repeats a shorter run three times or more."""
    return any(kinds[size:] == kinds[:-size] for size in range(1, len(kinds) // 3 + 1))


def _weight(statements: list[Statement]) -> float:
    """Estimate how many lines statements take."""
    weight = 0.0
    for statement in statements:
        if statement.layer is not None:
            weight += 1
        elif statement.function not in _LIGHT:
            weight += 0.6
    return weight


def _wanted(part: Part) -> list[int]:
    """Return the places of the values that a part makes and statements outside it read."""
    outside = set(values(part.body.result))
    for i, statement in enumerate(part.body.statements):
        if not part.first <= i < part.last:
            outside.update(values([statement.arguments, statement.keywords]))
    return [i for i, value in enumerate(part.made) if value in outside]


def _put(part: Part, call: Statement) -> None:
    """Replace a part by the call of a block."""
    body, saved = part.body, part.last - part.first - 1
    body.statements[part.first : part.last] = [call]
    scopes: list[Scope] = []
    for scope in body.scopes:
        first, last = scope[:2]
        if last <= part.first:
            scopes.append(scope)
        elif first >= part.last:
            scopes.append(scope._replace(first=first - saved, last=last - saved))
        elif first <= part.first and part.last <= last and scope[:2] != part.range:
            scopes.append(scope._replace(last=last - saved))
    body.scopes = scopes


def _reschedule(body: Body) -> None:
    """Reorder the statements: those that one result needs stand next to each other."""
    if any(statement.pinned for statement in body.statements):
        return
    makers = {value: s for s in body.statements for value in values(s.results)}
    ordered: dict[int, Statement] = {}
    for wanted in values(body.result):
        stack: list[tuple[Statement | None, bool]] = [(makers.get(wanted), False)]
        while stack:
            statement, ready = stack.pop()
            if statement is None or id(statement) in ordered:
                continue
            if ready:
                ordered[id(statement)] = statement
                continue
            stack.append((statement, True))
            needed = values([statement.arguments, statement.keywords])
            stack += [(makers.get(value), False) for value in reversed(needed)]
    if len(ordered) == len(body.statements):
        body.statements[:] = ordered.values()
        body.scopes = []


def _unused(name: str, names: list[str]) -> str:
    """Return ``name``, with a number appended if ``names`` has it."""
    found, count = name, 1
    while found in names:
        count += 1
        found = f"{name}{count}"
    return found
