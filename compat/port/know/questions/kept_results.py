"""Results of nets that a script keeps while the next pass overwrites them.

In Torch7 a module's ``output`` is one tensor, which the next ``forward`` writes into. A script that
reads at the beginning of a step what it has set at its end, a recurrent net's state for instance,
goes on with the overwritten numbers, in ``backward`` too; its draft with those that were kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.structures import Table
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

FORWARD = frozenset({"forward", "updateOutput"})
BACKWARD = frozenset({"backward", "updateGradInput", "accGradParameters"})
_BODIES = (s.Function, s.While, s.Repeat, s.ForRange, s.ForEach)


def kept_between_steps(file: File, types: Inference) -> dict[s.Statement, str]:
    """Return the assignments of a file that keep a result for later, and to what variable."""
    types.file = file
    found: dict[s.Statement, str] = {}
    for node in s.walk(file.block):
        if isinstance(node, s.Block):
            found |= _read_behind_next(node, types)
        elif isinstance(node, s.LOOPS):
            found |= _gathered(node, types)
    goes_back = any(
        isinstance(n, s.Call) and n.method in BACKWARD
        for other in filter(file.shares_with, types.files)
        for n in s.walk(other.block)
    )
    bodies = [node for node in s.walk(file.block) if isinstance(node, _BODIES)]
    for node in s.walk(file.block):
        if not isinstance(node, s.Assign) or len(node.targets) != len(node.values):
            continue
        for target, value in zip(node.targets, node.values, strict=True):
            if not _holds_results(types.type(value), set()):
                continue
            around = [b for b in bodies if b.start <= node.start < b.end]
            if isinstance(target, s.Index) and isinstance(target.object, s.Name):
                table = target.object.variable
                if any(_is_kept_in(table, value, b, node) for b in around):
                    found[node] = table.id
            if not isinstance(target, s.Name):
                continue
            is_entry = isinstance(value, s.Index) and types.owner(value.object).is_tensor
            if is_entry and not types.type(value).is_tensor:
                continue  # marked as what may be a number
            variable: Variable = target.variable
            if any(
                _reads_before(file, variable, b, node)
                and (goes_back or _reads_behind_forward(variable, b, node))
                for b in around
            ):
                found[node] = variable.id
    return found


def _is_kept_in(table: Variable, value: s.Node, body: s.Node, write: s.Node) -> bool:
    """Return whether a step reads a table, in which it puts a result of a net at its end, and
    computes backward between: ``out = net:forward{x, h[1]} … h[1] = out[2]``.
    """
    if table.declared is None or body.start <= table.declared.start < body.end:
        return False
    calls = [n for n in s.walk(body) if isinstance(n, s.Call) and n.end <= write.start]
    given = next((n for n in s.walk(value) if isinstance(n, s.Name)), None)
    made = [n for n in s.walk(body) if isinstance(n, s.Local) and n.end <= write.start]
    nets = {
        s.describe(call.function)
        for local in made
        for name, call in zip(local.names, local.values, strict=False)
        if given is not None and name.variable is given.variable
        if isinstance(call, s.Call) and call.method in FORWARD and isinstance(call.function, s.Name)
    }
    went = [n for n in calls if n.method in FORWARD and s.describe(n.function) in nets]
    back = [n for n in calls if n.method in BACKWARD and s.describe(n.function) in nets]
    if not went or not back:
        return False
    first = min(n.start for n, _ in table.reads if n.start >= body.start)
    return first < went[0].end and all(not body.start <= n.start < first for n, _ in table.writes)


def _read_behind_next(block: s.Block, types: Inference) -> dict[s.Statement, str]:
    """Return the statements of a block whose variable is read when the same net has run again."""
    found: dict[s.Statement, str] = {}
    for number, node in enumerate(block.statements):
        if not isinstance(node, (s.Local, s.Assign)) or len(node.values) != 1:
            continue
        target = node.names[0] if isinstance(node, s.Local) else node.targets[0]
        net = _net_of(node.values[0])
        if not isinstance(target, s.Name) or net is None or not types.type(node.values[0]).buffer:
            continue
        rest = [part for later in block.statements[number + 1 :] for part in s.walk(later)]
        again = min((part.end for part in rest if _net_of(part) == net), default=1 << 60)
        written = [n.start for n, _ in target.variable.writes if n.start > node.end]
        end = min(written, default=1 << 60)
        reads = [n for n, _ in target.variable.reads if n.start < end]
        for other in _aliases(rest, reads):
            reads += [n for n, _ in other.reads]
        if any(again <= n.start for n in reads) or _is_stored(rest, reads, again):
            found[node] = target.variable.id
    return found


def _is_stored(nodes: list[s.Node], reads: list[s.Name], again: int) -> bool:
    """Return whether an entry gets what is read, ``keep.first = out``, and is read behind a
    place.
    """
    pairs = [pair for node in nodes for pair in s.assigned(node)]
    targets = {target for target, _ in pairs}
    kept = {s.describe(t) for t, v in pairs if v in reads and isinstance(t, s.Index)}
    return any(
        isinstance(n, s.Index) and n not in targets and n.start >= again and s.describe(n) in kept
        for n in nodes
    )


def _aliases(nodes: list[s.Node], reads: list[s.Name]) -> Iterator[Variable]:
    """Yield the local variables that get what is read: ``local first = out``."""
    for node in nodes:
        if isinstance(node, s.Local):
            for name, value in zip(node.names, node.values, strict=False):
                if value in reads and len(name.variable.writes) == 1:
                    yield name.variable


def _gathered(loop: s.Node, types: Inference) -> dict[s.Statement, str]:
    """Return the statements of a loop that gather results of the same net, and where."""
    found: dict[s.Statement, str] = {}
    put: dict[Variable, s.Node] = {}

    def is_own(node: s.Node) -> bool:
        """Return whether it belongs to one turn of the loop."""
        names = (n.variable.declared for n in s.walk(node) if isinstance(n, s.Name))
        return any(d is not None and loop.start <= d.start < loop.end for d in names)

    for node in s.walk(loop):
        if not isinstance(node, s.Statement):
            continue
        if isinstance(node, s.Local):
            put |= {n.variable: v for n, v in zip(node.names, node.values, strict=False)}
        for owner, value in _stored(node):
            while isinstance(value, s.Name) and value.variable in put:
                value = put.pop(value.variable)
            net: s.Node | None = value
            while isinstance(net, s.Call) and isinstance(net.function, s.Call):
                net = net.function
            if isinstance(net, s.Call):
                net = net.function if types.type(value).buffer else None
            else:
                net = _with_output(value, loop)
            root = next((n for n in s.walk(owner) if isinstance(n, s.Name)), None)
            if net is None or root is None or is_own(owner) or is_own(net) or _keeps_steps(types):
                continue
            if types.type(value).is_number:
                continue
            if Kind.TABLE not in types.type(owner).atoms:
                continue  # entries of a tensor are copies
            if any(n.start >= loop.end for n, _ in root.variable.reads):
                found[node] = s.describe(owner)
    return found


def _with_output(node: s.Node, loop: s.Node) -> s.Node | None:
    """Return the net of ``net.output`` and ``net.output[i]``, which runs in the loop."""
    if isinstance(node, s.Index) and s.constant(node.key) != "output":
        node = node.object
    calls = [n for n in s.walk(loop) if isinstance(n, s.Call) and n.method in FORWARD]
    ran = {s.describe(n.function) for n in calls if len(n.arguments) == 1}  # two: a criterion
    if not isinstance(node, s.Index) or s.constant(node.key) != "output":
        return None
    return node.object if s.describe(node.object) in ran else None


def _keeps_steps(types: Inference) -> bool:
    """Return whether the nets may be those of package rnn, which keep what each step gave."""
    return re.search(rb"require\W+rnn\b", types.file.source) is not None


def _stored(node: s.Node) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield the tables and values of ``t[i] = v``, ``t[i] = {v}`` and ``table.insert(t, v)``."""
    stored: list[tuple[s.Node, s.Node]] = []
    for target, value in s.assigned(node):
        if isinstance(target, s.Index) and not isinstance(target.key, s.Constant):
            stored.append((target.object, value))
    if isinstance(node, s.Do) and s.describe(node.call) == "table.insert(…)":
        assert isinstance(node.call, s.Call)
        stored += [(node.call.arguments[0], node.call.arguments[-1])] if node.call.arguments else []
    for owner, value in stored:
        parts = [f.value for f in value.fields] if isinstance(value, s.Table) else [value]
        yield from ((owner, part) for part in parts)


def _net_of(node: s.Node) -> str | None:
    """Return what runs a net: a net and its method, or a function of the script's."""
    while isinstance(node, s.Call) and isinstance(node.function, s.Call):
        node = node.function
    if not isinstance(node, s.Call):
        return None
    name = s.describe(node)
    return None if name.count("…") > 1 else name


def _reads_before(file: File, variable: Variable, body: s.Node, write: s.Node) -> bool:
    """Return whether a step begins with what the step before has left in a variable."""
    declared = variable.declared
    if declared is not None and body.start <= declared.start < body.end:
        return False
    of_file = {file.scopes.file, *file.scopes.of_function.values()}

    def places(uses: list[tuple[s.Name, FunctionScope]]) -> Iterator[int]:
        return (n.start for n, at in uses if at in of_file and body.start <= n.start < body.end)

    first_write = min(places(variable.writes))
    end = write.end if first_write >= write.start else first_write
    return any(place < end for place in places(variable.reads))


def _reads_behind_forward(variable: Variable, body: s.Node, write: s.Node) -> bool:
    """Return whether a step reads what the step before has left when its own ``forward`` is
    done.
    """
    passes = [n for n in s.walk(body) if isinstance(n, s.Call) and n.method in FORWARD]
    first = min((n.end for n in passes), default=1 << 60)
    return any(first <= n.start < write.start for n, _ in variable.reads)


def _holds_results(kind: Type, seen: set[Table]) -> bool:
    """Return whether there may be a result of a net in a value."""
    if kind.only(Kind.INT, Kind.FLOAT, Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.NIL):
        return False
    shape = kind.shape
    if kind.buffer or shape is None or shape in seen:
        return kind.buffer
    seen.add(shape)
    return any(_holds_results(k, seen) for k in (shape.items, *shape.names.values()))
