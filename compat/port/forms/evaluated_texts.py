"""Texts that are evaluated at once: ``loadstring("return " .. text)()`` is one call, and
``loadstring("opt.sizes = " .. text)()`` puts what it gives into the field.
"""

from __future__ import annotations

import re

from compat.port.know.scopes import EVALUATE
from compat.port.read import syntax as s

_TARGET = re.compile(r"\s*([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)\s*=\s*")


def evaluate_texts(block: s.Block) -> None:
    """Write them so."""
    for inner in [node for node in s.walk(block) if isinstance(node, s.Block)]:
        inner.statements[:] = [_assignment(node) or node for node in inner.statements]
    several = {node for part in s.walk(block) for node in _several(part)}
    for node in s.walk(block):
        text = _run_text(node) if node not in several else None
        if isinstance(node, s.Call) and text is not None and _begin(text).strip() == "return":
            node.function, node.arguments = s.Name(EVALUATE), [text.right]
            s.put_at(node.function, node)


def _several(node: s.Node) -> list[s.Node]:
    """Return the expression whose values all count: a text may give more than one."""
    if isinstance(node, (s.Local, s.Assign)):
        return node.values[-1:] if len(node.targets) > len(node.values) else []
    if isinstance(node, s.Call):
        return node.arguments[-1:]
    if isinstance(node, s.Table):
        return [field.value for field in node.fields[-1:] if field.key is None]
    return node.values[-1:] if isinstance(node, (s.Return, s.ForEach)) else []


def _assignment(node: s.Statement) -> s.Assign | None:
    """Return a statement that puts a value into a global variable, or a field of one."""
    text = _run_text(node.call) if isinstance(node, s.Do) else None
    found = _TARGET.fullmatch(_begin(text)) if text is not None else None
    if text is None or found is None:
        return None
    target: s.Node = s.Name(found[1], is_global=True)  # a text knows no local variables
    for name in found[2].split(".")[1:]:
        target = s.Index(target, s.Constant(name))
    made = s.Assign([target], [s.Call(s.Name(EVALUATE), [text.right])])
    made.before = node.before
    s.put_at(made, node)
    return made


def _run_text(node: s.Node) -> s.Binary | None:
    """Return the text that is put together for ``loadstring(text)()``, maybe asserted."""
    if not isinstance(node, s.Call) or node.arguments or node.method is not None:
        return None
    made = node.function
    for name in ("assert", "loadstring"):
        if isinstance(made, s.Call) and s.describe(made.function) == name and made.arguments:
            made = made.arguments[0]
        elif name == "loadstring":
            return None
    return made if isinstance(made, s.Binary) and made.operator == ".." else None


def _begin(text: s.Binary) -> str:
    begin = s.constant(text.left)
    return begin if isinstance(begin, str) else ""
