"""Variables of which each turn of a loop has its own, where Python would have one for all.

In Lua a variable that is declared in a loop is a new one each time. That shows where a function
keeps it for later and somebody changes it then, or the function itself is its value: the draft
puts its value into a ``lua.Box``.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.read import syntax as s

# Who calls the functions that it is given before it returns.
_AT_ONCE = {"pcall", "xpcall", "table.sort", "string.gsub"}
_METHODS_AT_ONCE = {"apply", "map", "gsub", "applyToModules", "replace"}


def box(file: File, types: Inference) -> None:
    """Find these variables of a file."""
    types.file = file
    kept = [file.scopes.of_function[f] for f in _kept(file, types)]
    calls_itself = {
        name.variable
        for name, function in map(_named, s.walk(file.block))
        if name is not None and function is not None
        and name.variable in file.scopes.of_function[function].used
    }  # fmt: skip
    loops = [n for n in s.walk(file.block) if isinstance(n, s.LOOPS)]
    changes: dict[s.Node, s.Node] = {}
    for node in s.walk(file.block):
        if isinstance(node, s.Assign):
            changes |= dict.fromkeys(node.targets, node)
        elif isinstance(node, s.Define):
            changes[node.target] = node
    for scope in (file.scopes.file, *file.scopes.of_function.values()):
        for variable in scope.variables:
            is_itself = variable in calls_itself
            if not variable.loops or (len(variable.writes) == 1 and not is_itself):
                continue
            writes = variable.writes[len(variable.writes) > 1 :]  # the first declares it
            nodes = [changes.get(name, name) for name, _ in writes]
            inner = [n for n in loops if n.start > variable.declared_at]
            around = [n for n in inner if any(n.start <= w.start < n.end for w in nodes)]
            variable.settled = max(n.end for n in (*nodes, *around))
            variable.boxed = any(
                variable in function.used
                and function is not scope
                and function.within(scope)
                and function.node is not None
                and function.node.start < variable.settled
                for function in kept
            )


def _kept(file: File, types: Inference) -> list[s.Function]:
    """Return the functions that may be called later than in the turn that makes them."""
    found = {n for n in s.walk(file.block) if isinstance(n, s.Function)}
    at_once = set(_called_at_once(file, types))
    kept = found - at_once
    # What one that is kept calls is called later, too.
    later = {file.scopes.of_function[f] for f in kept}
    named = [(n.variable, f) for n, f in map(_named, s.walk(file.block)) if n and f in at_once]
    while called := {
        f
        for v, f in named
        if f not in kept and any(where.within(k) for _, where in v.reads for k in later)
    }:
        kept |= called
        later |= {file.scopes.of_function[f] for f in called}
    return sorted(kept, key=lambda f: f.start)


def _called_at_once(file: File, types: Inference) -> Iterator[s.Function]:
    used_here: set[s.Name] = set()  # names that are called, or given to who calls at once
    for node in s.walk(file.block):
        if isinstance(node, s.Call):
            given = [node.function]
            path = types.dotted(node.function) if node.method is None else None
            calls = path is not None and (path in _AT_ONCE or path.startswith("optim."))
            if calls or node.method in _METHODS_AT_ONCE:
                given += node.arguments
            for one in given:
                if isinstance(one, s.Function):
                    yield one
                elif isinstance(one, s.Name):
                    used_here.add(one)
    for node in s.walk(file.block):
        name, function = _named(node)
        if name is None or function is None or name.variable.is_global:
            continue
        if all(read in used_here for read, _ in name.variable.reads):
            yield function


def _named(node: s.Node) -> tuple[s.Name | None, s.Function | None]:
    """Return the variable that a statement gives a function, and the function."""
    if isinstance(node, s.Define) and isinstance(node.target, s.Name):
        return node.target, node.function
    target, value = s.single(node) or (None, None)
    if isinstance(target, s.Name) and isinstance(value, s.Function):
        return target, value
    return None, None
