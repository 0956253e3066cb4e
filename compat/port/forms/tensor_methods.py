"""Methods that a program gives tensors, ``function torch.FloatTensor:center() … end``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import torch

from compat.port.library import results
from compat.port.read import syntax as s

# Methods of strings, files and testers that nothing but their calls tells of.
_OTHERS = {
    *("len", "format", "reverse", "dump", "lines", "write", "close", "seek", "flush", "setvbuf"),
    *("run", "disable", "assert", "assertError", "assertErrorMsg", "assertTensorEq"),
}


def use_functions(blocks: Sequence[s.Block]) -> None:
    """Write them as functions, ``function center(tensor) … end``, and ``x:center()`` as
    ``center(x)``, where nothing else of the program has their name.
    """
    nodes = [node for block in blocks for node in s.walk(block)]
    taken = {n.id for n in nodes if isinstance(n, s.Name)} | {*dir(torch.Tensor)} | _OTHERS
    places = Counter(n.value for n in nodes if isinstance(n, s.Constant))
    found = {
        name: node
        for block in blocks
        for node in block.statements
        if isinstance(node, s.Define) and (name := _method(node.target))
    }
    again: dict[str, list[tuple[s.Block, s.Assign]]] = defaultdict(list)
    for inner in [node for node in nodes if isinstance(node, s.Block)]:
        for node in [n for n in inner.statements if isinstance(n, s.Assign)]:
            name = _method(s.target(node))
            if name and _method(node.values[0]) == name:  # another type's is the same
                again[name].append((inner, node))
    for name, define in found.items():
        is_taken = name in taken or results.is_method(name)
        if is_taken or places[name] != 1 + 2 * len(again[name]):
            continue
        _as_function(name, define)
        for inner, node in again[name]:
            s.drop(node, inner)
        for call in [n for n in nodes if isinstance(n, s.Call) and n.method == name]:
            call.arguments.insert(0, call.function)
            call.function, call.method = s.Name(name), None
            s.put_at(call.function, call.arguments[0])


def _method(node: s.Node | None) -> str:
    """Return the method of ``torch.FloatTensor.method``, or ''."""
    kind = node.object if isinstance(node, s.Index) else None
    name = s.constant(node.key) if isinstance(node, s.Index) else None
    is_kind = isinstance(kind, s.Index) and str(s.constant(kind.key)).endswith("Tensor")
    is_torch = isinstance(kind, s.Index) and s.describe(kind.object) == "torch"
    return name if is_kind and is_torch and isinstance(name, str) else ""


def _as_function(name: str, define: s.Define) -> None:
    function = define.function
    define.target = s.Name(name)
    s.put_at(define.target, define)
    if not define.is_method:
        return
    inside = [n for n in s.walk(function) if isinstance(n, (s.Name, s.Define))]
    is_plain = not any(isinstance(n, s.Define) and n.is_method for n in inside)
    names = [n for n in inside if isinstance(n, s.Name)]
    if is_plain and all(n.id != "tensor" for n in names):
        for own in [n for n in names if n.id == "self"]:
            own.id = "tensor"
    define.is_method = False
