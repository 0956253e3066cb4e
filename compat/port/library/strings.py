"""Functions of strings that a template cannot say."""

from __future__ import annotations

import re

from compat.port.library.function_results import gives_one_match
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import place


def sub(node: s.Call, draft: Draft) -> Code | None:
    """``string.sub``: a slice, where the ends are known."""
    text, first, *rest = node.arguments
    a = draft.value(first)
    owner = draft.value(text)
    if not rest:
        if a.text.isdigit() and int(a.text) > 0:
            return Code(f"{owner.atom}[{code.sliced(str(code.shifted(a)), '')}]")
        if re.fullmatch(r"-\d+", a.text):
            return Code(f"{owner.atom}[{a}:]")
        return code.call("lua.sub", owner, a)
    b = draft.value(rest[0])
    if a.text == b.text and draft.types.type(first).is_int and not a.text.startswith("-"):
        return Code(f"{owner.atom}[{place(first, draft)} : {a}]" if not a.text.isdigit() else
                    f"{owner.atom}[{place(first, draft)}:{a}]")  # fmt: skip
    if a.text.isdigit() and int(a.text) > 0 and re.fullmatch(r"-?\d+", b.text):
        end = int(b.text)
        stop = "" if end == -1 else str(end + 1 if end < 0 else end)
        start = "" if a.text == "1" else str(int(a.text) - 1)
        return Code(f"{owner.atom}[{start}:{stop}]")
    return code.call("lua.sub", owner, a, b)


def _plain(pattern: str) -> str | None:
    """Return the text that a pattern stands for, if it is nothing but text."""
    is_text = re.fullmatch(r"(?:%[^a-zA-Z0-9]|[^$^*+?.()\[\]%-])*", pattern)
    return re.sub("%(.)", r"\1", pattern, flags=re.S) if is_text else None


def match(node: s.Call, draft: Draft) -> Code:
    """``string.match``, whose pattern tells how many values it gives."""
    made = code.call("lua.match", *draft.arguments(node))
    return Code(made.text, spread=1 if gives_one_match(node) else None)


def gsub(node: s.Call, draft: Draft) -> Code | None:
    """``string.gsub`` of plain text: ``replace``, and how often."""
    if len(node.arguments) != 3:
        return None
    text, pattern, new = node.arguments
    if (
        isinstance(pattern, s.Constant)
        and isinstance(pattern.value, str)
        and isinstance(new, s.Constant)
        and isinstance(new.value, str)
        and "%" not in new.value
        and (plain := _plain(pattern.value))
    ):
        made = f"{draft.value(text).atom}.replace({code.string(plain)}, {code.string(new.value)})"
        count = f"{draft.value(text).atom}.count({code.string(plain)})"
        return Code(made, every=f"({made}, {count})")
    return None


def condition(node: s.Call, draft: Draft) -> Code | None:
    """Return a call as a condition, where that says more than its value."""
    path = draft.types.dotted(node.function) if node.method is None else None
    arguments = node.arguments
    if node.method == "isContiguous" and draft.types.type(node.function).is_tensor:
        return Code(f"{draft.prefix(node.function).atom}.is_contiguous()")
    if node.method == "find" and draft.types.type(node.function).is_string:
        path, arguments = "string.find", [node.function, *node.arguments]
    pattern = arguments[1] if path == "string.find" and len(arguments) == 2 else None
    if isinstance(pattern, s.Constant) and (plain := _plain(str(pattern.value))):
        text = draft.value(arguments[0])
        return Code(f"{code.string(plain)} in {text.at(code.ADD)}", code.COMPARE)
    return None
