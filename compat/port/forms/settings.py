"""Settings that the environment may have: ``tonumber(os.getenv(k)) or os.getenv(k) or opt[k]``."""

from __future__ import annotations

from compat.port.know.scopes import SETTING
from compat.port.read import syntax as s


def use_settings(block: s.Block) -> None:
    """Write them as one call."""
    for node in s.walk(block):
        if isinstance(node, (s.Local, s.Assign)):
            node.values[:] = [_setting(value) or value for value in node.values]


def _setting(node: s.Node) -> s.Call | None:
    asked, default = _or(node)
    number, text = _or(asked)
    name = _argument(text, "os.getenv")
    is_plain = isinstance(default, (s.Name, s.Index, s.Constant))  # it is looked at in any case
    if name is None or default is None or not is_plain:
        return None
    own = _argument(_argument(number, "tonumber"), "os.getenv")
    if own is None or s.describe(own) != s.describe(name) or "…" in s.describe(name):
        return None
    made = s.Call(s.Name(SETTING), [name, default])
    s.put_at(made, node)
    return made


def _or(node: s.Node | None) -> tuple[s.Node | None, s.Node | None]:
    if not isinstance(node, s.Binary) or node.operator != "or":
        return None, None
    return node.left, node.right


def _argument(node: s.Node | None, function: str) -> s.Node | None:
    """Return ``x`` of ``function(x)``."""
    if not isinstance(node, s.Call) or s.describe(node.function) != function:
        return None
    return node.arguments[0] if len(node.arguments) == 1 else None
