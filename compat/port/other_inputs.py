"""Calls of ``backward`` with another input than ``forward`` had.

Torch7's layers then go back with what they hold of forward, and read the new input besides; those
of ``compat`` go forward again with the new one, which gives other numbers.
"""

from __future__ import annotations

from compat.port import syntax as s
from compat.port.inference import File, Inference

FORWARD = frozenset({"forward", "updateOutput"})
BACKWARD = frozenset({"backward", "updateGradInput", "accGradParameters"})
_DRAWN = {"rand", "randn", "randperm", "uniform", "normal", "random", "bernoulli"}


def other_inputs(file: File, types: Inference) -> set[s.Call]:
    """The calls that go back with another input: seen in a run, or told by the code.

    Where no run was, an input counts as another if it is drawn there and then, or if the function
    goes forward through the same module with other expressions of which it names nothing.
    """
    types.file = file
    found: set[s.Call] = set()
    bodies = [file.block, *(n.body for n in s.walk(file.block) if isinstance(n, s.Function))]
    for body in bodies:
        calls = [n for n in _own(body) if isinstance(n, s.Call) and n.arguments]
        forward: dict[bytes, list[s.Node]] = {}
        for call in calls:
            if call.method in FORWARD:
                forward.setdefault(_text(file, call.function), []).append(call.arguments[0])
        for call in calls:
            if call.method not in BACKWARD or not types.type(call.function).may("module"):
                continue
            given = call.arguments[0]
            facts = types.facts.get((file.path, -given.start, -given.end))
            before = forward.get(_text(file, call.function), [])
            is_new = before and not any(
                _text(file, node) == _text(file, given) or _named(node) & _named(given)
                for node in before
            )
            if "other" in facts if facts else is_new or _is_drawn(given):
                found.add(call)
    return found


def _own(body: s.Block) -> list[s.Node]:
    """What is in a body, and not in a function inside it."""
    found: list[s.Node] = []
    left: list[s.Node] = [body]
    while left:
        node = left.pop()
        found.append(node)
        left += [child for child in node.children() if not isinstance(child, s.Function)]
    return found


def _text(file: File, node: s.Node) -> bytes:
    return file.source[node.start : node.end]


def _named(node: s.Node) -> set[str]:
    """The variables in an expression."""
    return {n.id for n in s.walk(node) if isinstance(n, s.Name)} - {"torch"}


def _is_drawn(node: s.Node) -> bool:
    """Whether an expression draws random numbers."""
    for call in s.walk(node):
        if isinstance(call, s.Call):
            function = call.function
            key = function.key if isinstance(function, s.Index) else None
            name = call.method or (key.value if isinstance(key, s.Constant) else None)
            if name in _DRAWN:
                return True
    return False
