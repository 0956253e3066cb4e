"""``assert``, ``pcall`` and ``xpcall``."""

from __future__ import annotations

from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.python_names import method_name


def assert_(node: s.Call, draft: Draft) -> Code | None:
    """``assert(io.open(path))``, whose error says why it cannot be opened."""
    tried = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(tried, s.Call) or draft.types.dotted(tried.function) != "io.open":
        return None
    return code.call("lua.must_open", *draft.arguments(tried))


def pcall(node: s.Call, draft: Draft) -> Code:
    """``pcall``."""
    bound = _bound(node, draft)
    made = code.call("lua.pcall", *(draft.arguments(node) if bound is None else bound))
    tried = node.arguments[0] if node.arguments else None
    is_told = isinstance(tried, s.Function) and draft.in_lua.get(tried) == ""  # by Lua itself
    return Code(made.text, spread=None, tells=not is_told)


def _bound(node: s.Call, draft: Draft) -> list[Code] | None:
    """Return what ``pcall(x.method, x, …)`` is given: the method of an object in Python has its
    ``x``.
    """
    if len(node.arguments) < 2:
        return None
    function, *arguments = node.arguments
    if not (isinstance(function, s.Index) and isinstance(function.key, s.Constant)):
        return None
    kind = draft.types.type(function.object)
    if not kind.only(Kind.MODULE, Kind.OBJECT) or (kind.only(Kind.OBJECT) and kind.shape is None):
        return None
    if s.describe(function.object) != s.describe(arguments[0]):
        return None
    rest = s.Call(node.function, arguments[1:], None)
    made = f"{draft.value(function.object).atom}.{method_name(str(function.key.value))}"
    return [Code(made), *draft.arguments(rest)]


def xpcall(node: s.Call, draft: Draft) -> Code:
    """Write ``xpcall``, whose handler gets the error."""
    draft.tell()
    return Code(code.call("lua.xpcall", *draft.arguments(node)).text, spread=None)
