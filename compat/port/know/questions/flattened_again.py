"""Places where a script flattens a net's parameters again, and goes on with the earlier tensors."""

from __future__ import annotations

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s


def flattened_again(file: File, types: Inference) -> set[s.Call]:
    """Return the calls, of ``getParameters`` or conversions, that leave tensors behind that are
    used.
    """
    types.file = file
    earlier: dict[str, list[Variable]] = {}
    found = set()
    targets: dict[s.Node, list[s.Node]] = {}
    for node in s.walk(file.block):
        if isinstance(node, (s.Local, s.Assign)) and len(node.values) == 1:
            targets[node.values[0]] = node.targets
        if not isinstance(node, s.Call) or not _exchanges_memory(node):
            continue
        if not isinstance(node.function, (s.Name, s.Index)):
            continue
        before = earlier.setdefault(s.describe(node.function), [])
        if any(read.start > node.end for variable in before for read, _ in variable.reads):
            found.add(node)
        if node.method == "getParameters":
            before += [t.variable for t in targets.get(node, ()) if isinstance(t, s.Name)]
    return found


def _exchanges_memory(call: s.Call) -> bool:
    """Return whether ``call`` gives a net's parameters other memory."""
    if call.method == "type":
        return bool(call.arguments)
    return call.method in {"getParameters", "float", "double", "half", "cuda"}
