"""Results of nets that a script keeps while the next pass overwrites them.

In Torch7 a module's ``output`` is one tensor, which the next ``forward`` writes into. A script that
reads at the beginning of a step what it has set at its end, a recurrent net's state for instance,
goes on with the overwritten numbers, in ``backward`` too; its draft with those that were kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.know.types import Kind, Table, Type
from compat.port.read import syntax as s

FORWARD = frozenset({"forward", "updateOutput"})
BACKWARD = frozenset({"backward", "updateGradInput", "accGradParameters"})
_BODIES = (s.Function, s.While, s.Repeat, s.ForRange, s.ForEach)


def kept_between_steps(file: File, types: Inference) -> dict[s.Statement, str]:
    """Return the assignments of a file that keep a result for later, and to what variable."""
    types.file = file
    found: dict[s.Statement, str] = {}
    for block in (n for n in s.walk(file.block) if isinstance(n, s.Block)):
        found |= _read_behind_next(block, types)
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
            if not isinstance(target, s.Name) or not _holds_results(types.type(value), set()):
                continue
            variable: Variable = target.variable
            around = [b for b in bodies if b.start <= node.start < b.end]
            if any(
                _reads_before(file, variable, b, node)
                and (goes_back or _reads_behind_forward(variable, b, node))
                for b in around
            ):
                found[node] = variable.id
    return found


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
        if any(again <= n.start < end for n, _ in target.variable.reads):
            found[node] = target.variable.id
    return found


def _net_of(node: s.Node) -> str | None:
    """Return the net that a call runs forward."""
    if not isinstance(node, s.Call) or node.method not in FORWARD:
        return None
    name = s.describe(node.function)
    return None if "…" in name else name


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
