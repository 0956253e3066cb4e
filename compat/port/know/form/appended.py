"""Lists that a loop makes: ``t = {}``, ``for i = 1, n do t[i] = … end``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from compat.port.know.form.shapes import place_of
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s


def appended(block: s.Block) -> Iterator[s.Name]:
    """Yield the keys that a loop from 1 on, or through ``ipairs``, fills a new table with: ``t =
    {}``, ``t[i] = …``.
    """
    for loop, empty in _loops(block):
        counter = _counter(loop)
        if counter is not None:
            yield from _filling(loop.body, counter, empty)


def begun_late(block: s.Block) -> Iterator[s.Node]:
    """Yield the keys under which a loop puts entries into a new table, not the first one first:
    ``for i = 2, n do t[i] = …``, ``for i = 1, n do t[i], t[i + n] = …``.
    """
    for loop, empty in _loops(block):
        if not isinstance(loop, s.ForRange):
            continue
        nodes = (node for node in s.walk(loop.body) if isinstance(node, s.Assign))
        for target in itertools.chain.from_iterable(node.targets for node in nodes):
            if not isinstance(target, s.Index) or place_of(target.object) not in empty:
                continue
            if _is_late(target.key, loop):
                yield target.key


def _is_late(key: s.Node, loop: s.ForRange) -> bool:
    """Return whether a key that goes with a loop's number does not begin at 1, or leaves out some:
    ``i + n``, ``i - 1``. What takes a variable off begins at 1, mostly.
    """
    more: object = 0
    if isinstance(key, s.Binary) and key.operator in ("+", "-"):
        sides = [key.left, key.right]
        if key.operator == "+" and not _is_number_of(loop, key.left):
            sides.reverse()
        more, sign, key = s.constant(sides[1]), 1 if key.operator == "+" else -1, sides[0]
        if isinstance(more, int):
            more *= sign
        elif sign < 0:
            return False
    if not _is_number_of(loop, key):
        return False
    first, step = s.constant(loop.first), s.constant(loop.step) if loop.step else 1
    leaps = isinstance(step, int) and step > 1
    return leaps or not isinstance(first, int) or not isinstance(more, int) or first + more != 1


def _is_number_of(loop: s.ForRange, node: s.Node) -> bool:
    return isinstance(node, s.Name) and node.variable is loop.name.variable


def _loops(block: s.Block) -> Iterator[tuple[s.ForRange | s.ForEach, set[object]]]:
    """Yield each loop with the tables that are still empty before it."""
    for part in s.walk(block):
        empty: set[object] = set()  # tables that were made in this block and not used since
        for node in part.statements if isinstance(part, s.Block) else ():
            if isinstance(node, (s.ForRange, s.ForEach)):
                yield node, empty
            made = _made_empty(node)
            empty -= {n.variable for n in s.walk(node) if isinstance(n, s.Name)}
            empty = {table for table in empty if isinstance(table, Variable)} | made


def _made_empty(node: s.Statement) -> set[object]:
    return {
        place_of(target)
        for target, value in s.assigned(node)
        if isinstance(value, s.Table) and not value.fields and "…" not in s.describe(target)
    }


def _counter(loop: s.ForRange | s.ForEach) -> s.Name | None:
    """Return the variable of a loop that is 1, 2, 3 and so on."""
    if isinstance(loop, s.ForRange):
        return loop.name if loop.step is None and s.constant(loop.first) == 1 else None
    call = loop.values[0]
    is_list = isinstance(call, s.Call) and s.describe(call.function) == "ipairs"
    return loop.names[0] if is_list else None


def _filling(body: s.Block, counter: s.Name, empty: set[object]) -> Iterator[s.Name]:
    """Yield the keys under which each turn of a loop puts an entry into one of these tables."""
    filled: set[object] = set()
    for node in body.statements:
        if any(isinstance(n, s.Jump) for n in s.walk(node)):
            return
        target = s.target(node)
        if not isinstance(target, s.Index):
            continue
        table, key = place_of(target.object), target.key
        if not isinstance(key, s.Name) or key.variable is not counter.variable:
            continue
        if table in empty and table not in filled and len(key.variable.writes) == 1:
            filled.add(table)
            yield key
