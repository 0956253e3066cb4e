"""The arguments of a call of a function of the script's."""

from __future__ import annotations

from compat.port.know.structures import Signature
from compat.port.read import syntax as s
from compat.port.write.code import Code
from compat.port.write.draft import Draft


def fitting(node: s.Call, known: list[Signature], draft: Draft, own: int = 0) -> list[Code]:
    """Return the arguments of a call: of the last call's results as many as the function takes.

    ``known``: the functions that it may call. ``own``: how many parameters the call does not show,
    ``self``.
    """
    last = node.arguments[-1] if node.arguments else None
    nodes = [n for signature in known for n in signature.root().nodes]
    taken = {-1 if n.is_vararg else len(n.parameters) - own for n in nodes}
    if not isinstance(last, s.Call) or len(taken) != 1:
        return draft.arguments(node)
    left = taken.pop() - len(node.arguments) + 1
    if left == 1 and draft.types.count(last) != 1:
        return [*map(draft.value, node.arguments)]
    made = draft.arguments(node)
    if made[-1].text.startswith("*") and left >= 0 and draft.types.count(last) != left:
        inner = made[-1].text[1:].removeprefix("lua.values(")
        inner = inner[:-1] if inner != made[-1].text[1:] else inner
        if not inner.endswith(")"):  # a list, which is one value
            inner = f"(*{inner},)"
        made[-1] = Code(f"*lua.adjust({inner}, {left})")
    return made
