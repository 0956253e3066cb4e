"""``print``, ``io.write``, ``tostring`` and ``string.format``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code

if TYPE_CHECKING:
    from compat.port.write.values import Values


def print_(node: s.Call, ex: Values) -> Code | None:
    """``print``: Python's, of numbers and strings in an f-string."""
    kinds = [ex.types.type(a) for a in node.arguments]
    if not node.arguments:
        return Code("print()")
    last = node.arguments[-1]
    is_open = isinstance(last, (s.Call, s.Vararg)) and ex.types.count(last) != 1
    if not is_open and all(k.is_number or k.is_string for k in kinds):
        if len(kinds) == 1 and (kinds[0].is_string or kinds[0].is_int):
            made = ex.value(last)
            may_be_nil = ".get(" in made.text and not made.text.startswith('f"')
            is_shown = may_be_nil or ex.may_be_sizes(last)
            return code.call("lua.print" if is_shown else "print", made)
        return code.call("print", ex.formatted(node.arguments, "\t"))
    return code.call("lua.print", *ex.arguments(node))


def tostring(node: s.Call, ex: Values) -> Code | None:
    """``tostring``."""
    kind = ex.types.type(node.arguments[0])
    made = ex.value(node.arguments[0])
    if kind.is_string:
        return made
    if kind.is_int:
        return code.call("str", made)
    return code.call("lua.tostring", made)


def write(node: s.Call, ex: Values) -> Code | None:
    """``io.write``."""
    kinds = [ex.types.type(a) for a in node.arguments]
    last = node.arguments[-1] if node.arguments else None
    is_open = isinstance(last, (s.Call, s.Vararg)) and ex.types.count(last) != 1
    if not is_open and node.arguments and all(k.is_number or k.is_string for k in kinds):
        return Code(f'print({ex.formatted(node.arguments)}, end="")')
    return code.call("lua.write", *ex.arguments(node))


_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d*)(\.\d+)?([a-zA-Z%])")


def format_(node: s.Call, ex: Values) -> Code | None:
    """``string.format``: an f-string, where that means the same."""
    first, *rest = node.arguments
    while isinstance(first, s.Paren):
        first = first.inner
    if not isinstance(first, s.Constant) or not isinstance(first.value, str):
        return None
    if rest and isinstance(rest[-1], (s.Call, s.Vararg)) and ex.types.count(rest[-1]) != 1:
        return None
    template = code.text_of(first.value)
    pieces: list[str | tuple[str, str]] = []
    at, left = 0, list(rest)
    for directive in _DIRECTIVE.finditer(template):
        if "%" in template[at : directive.start()]:
            return None
        pieces.append(template[at : directive.start()])
        at = directive.end()
        if directive[4] == "%":
            pieces.append("%")
            continue
        if not left:
            return None
        made = _directed(directive, left.pop(0), ex)
        if made is None:
            return None
        pieces.append(made)
    if left or "%" in template[at:]:
        return None
    return code.f_string([*pieces, template[at:]])


def _directed(directive: re.Match[str], argument: s.Node, ex: Values) -> tuple[str, str] | None:
    """An expression and its format for a directive such as ``%-5.2f``."""
    flags, width, precision, letter = directive.groups()
    precision = precision or ""
    kind = ex.types.type(argument)
    made = ex.value(argument)
    if letter == "s":
        text = made.text if kind.is_string or kind.is_int else f"lua.tostring({made})"
        if (kind.is_int and (width or precision)) or set(flags) - {"-"}:
            return None
        side = "" if not width else "<" if "-" in flags else ">"
        return text if made.level > code.LAMBDA else f"({text})", f"{side}{width}{precision}"
    if not kind.is_number or letter not in "dieEfgGxX":
        return None
    if letter in "dixX":
        if precision:
            return None
        letter = "d" if letter in "di" else letter
        text = made.text if kind.is_int else f"int({made})"
        if not width and not flags and letter == "d":
            return text, ""
    else:
        text = made.text
    side = "<" if "-" in flags else ""
    plain = flags.replace("-", "")
    sign = "".join(c for c in "+ " if c in plain)[:1]
    other = "#" if "#" in plain else ""
    zero = "0" if "0" in plain and not side else ""
    return text, f"{side}{sign}{other}{zero}{width}{precision}{letter}"
