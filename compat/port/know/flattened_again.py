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
    for node in s.walk(file.block):
        call = node.call if isinstance(node, s.Do) else None
        if isinstance(node, (s.Local, s.Assign)) and len(node.values) == 1:
            call = node.values[0]
        if not isinstance(call, s.Call) or not _exchanges_memory(call):
            continue
        if not isinstance(call.function, (s.Name, s.Index)):
            continue
        before = earlier.setdefault(s.describe(call.function), [])
        if any(read.start > call.end for variable in before for read, _ in variable.reads):
            found.add(call)
        if call.method != "getParameters" or not isinstance(node, (s.Local, s.Assign)):
            continue
        targets = node.names if isinstance(node, s.Local) else node.targets
        before += [t.variable for t in targets if isinstance(t, s.Name)]
    return found


def _exchanges_memory(call: s.Call) -> bool:
    """Return whether ``call`` gives a net's parameters other memory."""
    if call.method == "type":
        return bool(call.arguments)
    return call.method in {"getParameters", "float", "double", "half", "cuda"}
