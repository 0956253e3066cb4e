"""Variables whose value must be there: ``local x = assert(t[k], "none")``."""

from __future__ import annotations

from compat.port.read import syntax as s


def require_values(block: s.Block) -> None:
    """Write ``local x = assert(value, message)`` as ``local x = value`` and ``assert(x, message)``
    behind it, and ``local x = value or error(message)`` with ``if not x then error(message) end``.
    """
    declared = {n.id for node in s.walk(block) for n in _declared(node)}
    if declared & {"assert", "error"}:  # the program's own
        return
    for inner in [node for node in s.walk(block) if isinstance(node, s.Block)]:
        for node in [n for n in inner.statements if isinstance(n, s.Local)]:
            if isinstance(name := s.target(node), s.Name):
                value, check = _required(node.values[0], name)
                if check is not None:
                    node.values, check.after, node.after = [value], node.after, None
                    s.put_at(check, value)
                    inner.statements.insert(inner.statements.index(node) + 1, check)


def _declared(node: s.Node) -> list[s.Name]:
    if isinstance(node, s.Local):
        return node.names
    return [node.target] if isinstance(node, s.Define) and isinstance(node.target, s.Name) else []


def _required(value: s.Node, name: s.Name) -> tuple[s.Node, s.Statement | None]:
    """Return the value, and what tells that it is missing."""
    call = value.right if isinstance(value, s.Binary) and value.operator == "or" else value
    called = s.describe(call.function) if isinstance(call, s.Call) else ""
    own = s.Name(name.id)
    check: s.Statement
    if isinstance(call, s.Call) and called == "assert" and call is value:
        if len(call.arguments) != 2:
            return value, None
        found, message = call.arguments
        check = s.Do(s.Call(call.function, [own, message]))
    elif called == "error" and isinstance(value, s.Binary):
        found, message = value.left, call
        check = s.If([(s.Unary("not", own), s.Block([s.Do(call)]))])
    else:
        return value, None
    names = {part.id for part in s.walk(message) if isinstance(part, s.Name)}
    return (value, None) if name.id in names else (found, check)
