"""``assert``, ``pcall`` and ``xpcall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code

if TYPE_CHECKING:
    from compat.port.write.values import Values


def assert_(node: s.Call, ex: Values) -> Code | None:
    """``assert(io.open(path))``, whose error says why it cannot be opened."""
    tried = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(tried, s.Call) or ex.types.dotted(tried.function) != "io.open":
        return None
    return code.call("lua.must_open", *ex.arguments(tried))


def pcall(node: s.Call, ex: Values) -> Code:
    """``pcall``."""
    bound = _bound(node, ex)
    made = code.call("lua.pcall", *(ex.arguments(node) if bound is None else bound))
    return Code(made.text, spread=None, tells=True)


def _bound(node: s.Call, ex: Values) -> list[Code] | None:
    """What ``pcall(x.method, x, …)`` is given: the method of an object in Python has its ``x``."""
    if len(node.arguments) < 2:
        return None
    function, *arguments = node.arguments
    if not (isinstance(function, s.Index) and isinstance(function.key, s.Constant)):
        return None
    kind = ex.types.type(function.object)
    if not kind.only("module", "object") or (kind.only("object") and kind.shape is None):
        return None
    if s.describe(function.object) != s.describe(arguments[0]):
        return None
    rest = s.Call(node.function, arguments[1:], None)
    return [Code(ex.value(function).text.removesuffix(".__func__")), *ex.arguments(rest)]


def xpcall(node: s.Call, ex: Values) -> Code:
    """``xpcall``, whose handler is told."""
    ex.tell()
    return Code(code.call("lua.xpcall", *ex.arguments(node)).text, spread=None)
