"""Tables that objects get their methods from by a metatable of its own: ``{__index = C}``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.port.know.form.shapes import defined
from compat.port.know.scopes import Scopes, Variable
from compat.port.read import syntax as s


def use_own_metatables(blocks: Sequence[s.Block]) -> None:
    """Write ``setmetatable(object, {__index = C})`` as ``setmetatable(object, C)`` behind
    ``C.__index = C``, which is a class; the metatable may have a name.
    """
    names = [{n.id for n in s.walk(block) if isinstance(n, s.Name)} for block in blocks]
    for number, block in enumerate(blocks):
        Scopes(block, {})
        elsewhere = set().union(*names[:number], *names[number + 1 :])
        parents = {child: node for node in s.walk(block) for child in node.children()}
        found = [
            part for node in parents if isinstance(node, s.Statement) and (part := defined(node))
        ]
        owners = {owner.variable for _, owner, _ in found if isinstance(owner, s.Name)}
        made = {variable for statement in parents if (variable := _made(statement)) in owners}
        changed: set[Variable] = set()
        for table in [node for node in parents if isinstance(node, s.Table)]:
            base = _index(table)
            if base is None or base.variable not in made:
                continue
            places = [*_places(table, parents, elsewhere)]
            objects = [call for call in places if call is not None and _makes_object(call, owners)]
            if objects and len(objects) == len(places):
                for call in objects:
                    call.arguments[1] = s.Name(base.id, base.variable)
                    s.put_at(call.arguments[1], base)
                changed.add(base.variable)
                for inner in [n for n in s.walk(block) if isinstance(n, s.Block)]:
                    s.drop(parents[table], inner)
        _begin(block, changed)


def _made(node: s.Node) -> Variable | None:
    """Return the variable that a statement makes an empty table, and nobody something else."""
    name, table = s.single(node) or (None, None)
    is_empty = isinstance(table, s.Table) and not table.fields
    is_only = isinstance(name, s.Name) and len(name.variable.writes) == 1
    return name.variable if isinstance(name, s.Name) and is_only and is_empty else None


def _index(table: s.Table) -> s.Name | None:
    """Return C of ``{__index = C}``."""
    only = table.fields[0] if len(table.fields) == 1 else None
    value = only.value if only is not None and s.constant(only.key) == "__index" else None
    return value if isinstance(value, s.Name) else None


def _places(
    table: s.Table, parents: dict[s.Node, s.Node], elsewhere: set[str]
) -> Iterator[s.Call | None]:
    """Yield the calls that are given a metatable; None for other uses."""
    uses: list[s.Node] = [table]
    if isinstance(parents[table], (s.Local, s.Assign)):
        name = s.target(parents[table])
        own = name.variable if isinstance(name, s.Name) else None
        if own is None or len(own.writes) != 1 or (own.is_global and own.id in elsewhere):
            yield None
            return
        uses = [use for use, _ in own.reads]
    for use in uses:
        call = parents[use]
        is_last = isinstance(call, s.Call) and call.arguments[1:] == [use]
        is_put = isinstance(call, s.Call) and s.describe(call.function) == "setmetatable"
        yield call if isinstance(call, s.Call) and is_last and is_put else None


def _makes_object(call: s.Call, owners: set[Variable]) -> bool:
    """Return whether what gets a metatable has no methods of its own."""
    table = call.arguments[0]
    return isinstance(table, s.Table) or (
        isinstance(table, s.Name) and table.variable not in owners
    )


def _begin(block: s.Block, classes: set[Variable]) -> None:
    """Write ``C.__index = C`` behind ``C = {}``."""
    for inner in [n for n in s.walk(block) if isinstance(n, s.Block)]:
        for node in [n for n in inner.statements if _made(n) in classes]:
            name = s.describe(s.target(node) or node)
            index = s.Assign([s.Index(s.Name(name), s.Constant("__index"))], [s.Name(name)])
            s.put_at(index, node)
            inner.statements.insert(inner.statements.index(node) + 1, index)
