"""``print``, ``io.write``, ``tostring`` and ``string.format``."""

from __future__ import annotations

import re

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.text import formatted, is_text_of_itself, may_be_nil, may_be_sizes


def print_(node: s.Call, draft: Draft) -> Code | None:
    """``print``: Python's, of numbers and strings in an f-string."""
    kinds = [draft.types.type(a) for a in node.arguments]
    if all(s.constant(a) == "" for a in node.arguments[:1]) and len(node.arguments) < 2:
        return Code("print()")
    last = node.arguments[-1]
    is_open = draft.is_open(node.arguments)
    if not is_open and len(kinds) == 1 and is_text_of_itself(last, draft):
        made = draft.value(last)
        is_shown = may_be_nil(last, made, draft) or may_be_sizes(last, draft)
        return code.call("lua.print" if is_shown else "print", made)
    if not is_open and all(k.is_number or k.is_string for k in kinds):
        return code.call("print", formatted(node.arguments, draft, "\t"))
    return code.call("lua.print", *draft.arguments(node))


def tostring(node: s.Call, draft: Draft) -> Code | None:
    """``tostring``."""
    kind = draft.types.type(node.arguments[0])
    made = draft.value(node.arguments[0])
    if may_be_nil(node.arguments[0], made, draft):
        return code.call("lua.tostring", made)
    if kind.is_string:
        return made
    return code.call("str" if is_text_of_itself(node.arguments[0], draft) else "lua.tostring", made)


def write(node: s.Call, draft: Draft) -> Code | None:
    """``io.write``."""
    kinds = [draft.types.type(a) for a in node.arguments]
    if (
        b"io.output(" not in draft.file.source
        and draft.asked is node
        and not draft.is_open(node.arguments)
        and node.arguments
        and all(k.is_number or k.is_string for k in kinds)
    ):
        return Code(f'print({formatted(node.arguments, draft)}, end="")')
    return code.call("lua.write", *draft.arguments(node))


def printf(node: s.Call, draft: Draft) -> Code | None:
    """``utils.printf`` of Penlight's: ``io.write`` of what ``string.format`` makes."""
    made = format_(node, draft) or code.call("lua.format", *draft.arguments(node))
    return Code(f'print({made}, end="")')


_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d*)(\.\d+)?([a-zA-Z%])")


def format_(node: s.Call, draft: Draft) -> Code | None:
    """``string.format``: an f-string, where that means the same."""
    first, *rest = node.arguments
    if not isinstance(first, s.Constant) or not isinstance(first.value, str):
        return None
    if draft.is_open(rest):
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
        made = _directed(directive, left.pop(0), draft)
        if made is None:
            return None
        pieces.append(made)
    if left or "%" in template[at:]:
        return None
    return code.f_string([*pieces, template[at:]])


def _directed(directive: re.Match[str], argument: s.Node, draft: Draft) -> tuple[str, str] | None:
    """Return an expression and its format for a directive such as ``%-5.2f``."""
    flags, width, precision, letter = directive.groups()
    precision = precision or ""
    kind = draft.types.type(argument)
    made = draft.value(argument)
    if letter == "s":
        is_plain = is_text_of_itself(argument, draft) and not may_be_nil(argument, made, draft)
        text = made.text if is_plain else f"lua.tostring({made})"
        if (not kind.is_string and (width or precision)) or set(flags) - {"-"}:
            return None
        side = "" if not width else "<" if "-" in flags else ">"
        return text if made.level > code.LAMBDA else f"({text})", f"{side}{width}{precision}"
    if not kind.is_number or letter not in "dieEfgGxX":
        return None
    if letter in "dixX":
        if precision or (letter in "xX" and not isinstance(argument, s.Constant)):
            return None  # of a negative one Lua shows 64 bits
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
