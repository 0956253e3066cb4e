"""Entries that are there where they are read: a statement before sets them, a test finds them, or a
loop goes through them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from compat.port.know.files import File
from compat.port.know.form.narrowing import guarded, true_parts
from compat.port.know.form.shapes import may_end
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.types import Kind
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference
    from compat.port.know.structures import Table

_Key = str | Variable


class _Known(NamedTuple):
    """The entry ``key`` of what ``name`` is, which is there from one place of a file to another."""

    name: s.Name
    key: _Key
    start: int
    end: int


def set_before(files: Sequence[File]) -> Iterator[s.Node]:
    """Yield the keys of the entries of variables that are read behind ``t.k = …``, ``t = {k = …}``,
    ``t.k:f()``, ``if t.k`` and ``for k in pairs(t)``. They are there as long as nobody takes them
    away.
    """
    nodes = {file: list(s.walk(file.block)) for file in files}
    of_threads = {scope for file in files for scope in _of_threads(file, nodes[file])}
    for file in files:
        apart = of_threads | {f.scopes.file for f in files if not file.shares_with(f)}
        yield from _set_in_file(file, nodes[file], apart)


def _of_threads(file: File, nodes: list[s.Node]) -> Iterator[FunctionScope]:
    """Yield the functions that begin threads, which have global variables of their own."""
    for call in (n for n in nodes if isinstance(n, s.Call)):
        if s.last_name(call.function) in ("Threads", "Thread"):
            given = (n for n in call.arguments if isinstance(n, s.Function))
            yield from (file.scopes.of_function[n] for n in given)


def _set_in_file(file: File, nodes: list[s.Node], apart: set[FunctionScope]) -> Iterator[s.Node]:
    """Yield the keys in a file; ``apart``: where global variables are others than here."""
    reads: defaultdict[tuple[Variable, _Key], list[s.Index]] = defaultdict(list)
    for node in (n for n in nodes if isinstance(n, s.Index)):
        for place in _field(node):
            reads[place].append(node)
    loops = [(n.start, n.end) for n in nodes if isinstance(n, s.LOOPS)]
    labels = [n.start for n in nodes if isinstance(n, s.Label)]  # what a jump leaves out ends here
    own = {file.scopes.file, *file.scopes.of_function.values()}
    for known in _known(file.block):
        variable = known.name.variable
        table = [(name, where) for name, where in variable.writes if apart.isdisjoint(where.line)]
        key = known.key.writes if isinstance(known.key, Variable) else []
        places = [*variable.reads, *table]
        scope = next((where for name, where in places if name is known.name), None)
        changing = [pair for writes in (table, key) if len(writes) > 1 for pair in writes]
        if any(where is not scope for _, where in changing) or scope not in own:
            continue  # a call may put another table there
        later = [name.start for name, _ in changing if known.start <= name.start < known.end]
        begun = [a for a, b in loops for w in later if known.start <= a < w < b]
        end = min([known.end, *later, *begun, *(p for p in labels if p >= known.start)])
        inside = {name for name, where in variable.reads if where is scope or not changing}
        for read in reads[variable, known.key]:
            if known.start <= read.start < end and read.object in inside:
                yield read.key


def _known(block: s.Block) -> Iterator[_Known]:
    for inner in (n for n in s.walk(block) if isinstance(n, s.Block)):
        end = inner.statements[-1].end if inner.statements else 0
        for statement in inner.statements:
            for (_, key), name in _set(statement).items():
                yield _Known(name, key, statement.end, end)
            for part in _evaluated(statement):
                for (_, key), name in _used(part).items():
                    yield _Known(name, key, part.end, end)
            if isinstance(statement, s.ForEach) and (table := _gone_through(statement)) is not None:
                yield _Known(table, statement.names[0].variable, table.end, statement.end)
    for condition, part in guarded(block):
        parts = part.statements if isinstance(part, s.Block) else [part]
        for (_, key), name in _found(condition).items() if parts else ():
            yield _Known(name, key, parts[0].start, parts[-1].end)


def _gone_through(loop: s.ForEach) -> s.Name | None:
    """Return ``t`` of ``pairs(t)``."""
    call = loop.values[0]
    if not isinstance(call, s.Call) or s.describe(call.function) not in ("pairs", "ipairs"):
        return None
    table = call.arguments[0] if call.arguments else None
    return table if isinstance(table, s.Name) else None


_Fields = dict[tuple[Variable, _Key], s.Name]


def _set(node: s.Statement) -> _Fields:
    """Return the entries that a statement sets: ``t.k = …``, ``if not t.k then t.k = … end``."""
    found: _Fields = {}
    for target, value in s.assigned(node):
        if isinstance(target, s.Index) and not s.is_nil(value):
            found |= _field(target)
        elif isinstance(target, s.Name) and isinstance(value, s.Table):
            keys = [s.constant(f.key) for f in value.fields if not s.is_nil(f.value)]
            found |= {(target.variable, key): target for key in keys if isinstance(key, str)}
    others = {name.variable: name for name in _written(node)}  # t.k, t = 1, {}
    found = {
        place: name
        for place, name in found.items()
        if all(others.get(part, name) is name for part in place)
    }
    if isinstance(node, s.Scope):
        found |= _set_in(node.body)
    elif isinstance(node, s.If):
        ways = [_set_in(body) for _, body in node.clauses if may_end(body)]
        conditions = [condition for condition, _ in node.clauses]
        if conditions[-1] is not None:
            ways.append(_found(*(s.Unary("not", c) for c in conditions if c is not None)))
        for place, name in ways[0].items() if ways else ():
            if all(place in way for way in ways):
                found[place] = name
    return found


def _evaluated(node: s.Node) -> Iterator[s.Node]:
    """Yield a statement and the expressions in it that are evaluated before anything else it does,
    and whatever comes out.
    """
    yield node
    parts = node.children()
    if isinstance(node, s.If) or (isinstance(node, s.Binary) and node.operator in ("and", "or")):
        parts = parts[:1]
    elif isinstance(node, (s.Function, s.Repeat, s.Block)):
        parts = []
    for part in parts:
        yield from _evaluated(part)


def _used(node: s.Node) -> _Fields:
    """Return the entries of which nil would be an error: ``t.k:f()``, ``t.k[i]``, ``t.k + 1``."""
    used: list[s.Node] = []
    if isinstance(node, s.Call):
        used = [node.function]
    elif isinstance(node, s.Index):
        used = [node.object]
    elif isinstance(node, s.Binary) and node.operator not in ("and", "or", "==", "~="):
        used = [node.left, node.right]
    elif isinstance(node, s.Unary) and node.operator != "not":
        used = [node.operand]
    found: _Fields = {}
    for part in used:
        found |= _field(part) if isinstance(part, s.Index) else {}
    return found


def _set_in(block: s.Block) -> _Fields:
    found: _Fields = {}
    for statement in block.statements:
        written = {n.variable for n in s.walk(statement) for n in _written(n)}
        found = {place: name for place, name in found.items() if written.isdisjoint(place)}
        found |= _set(statement)
    return found


def _written(node: s.Node) -> list[s.Name]:
    return [n for n in getattr(node, "targets", ()) if isinstance(n, s.Name)]


def _found(*conditions: s.Node) -> _Fields:
    """Return the entries that are there where conditions are true."""
    found: _Fields = {}
    for test in (part for condition in conditions for part in true_parts(condition)):
        if isinstance(test, s.Binary) and test.operator == "~=" and s.is_nil(test.right):
            test = test.left
        if isinstance(test, s.Index):
            found |= _field(test)
    return found


def _field(node: s.Index) -> _Fields:
    owner = node.object
    key = node.key.variable if isinstance(node.key, s.Name) else s.constant(node.key)
    if not isinstance(owner, s.Name) or not isinstance(key, (str, Variable)):
        return {}
    return {(owner.variable, key): owner}


def holds(known: Inference, shape: Table, key: s.Node) -> bool:
    """Return whether a table has an entry where it is read."""
    if s.constant(key) in shape.always:
        return not _drops_nil(shape)
    return is_set_before(known, shape, key)


def is_set_before(known: Inference, shape: Table, key: s.Node) -> bool:
    """Return whether a statement or test before tells that there is an entry, and nobody takes
    such away.
    """
    is_kept = "deleted" not in shape.uses and not _drops_nil(shape)
    meta = shape.meta.shape
    is_kept &= meta is None or "__newindex" not in meta.root().names
    return key in known.clues.set_before and is_kept


def _drops_nil(shape: Table) -> bool:
    """Return whether a value that is nil leaves no entry: somebody has a default for what is
    missing.
    """
    if shape.is_options:
        return Kind.NIL in shape.items.atoms
    return {"default", "lacking"} <= shape.uses
