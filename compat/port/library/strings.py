"""Functions of strings that a template cannot say."""

from __future__ import annotations

import re

from compat.port.know.types import NUMBERS, Kind
from compat.port.library import patterns
from compat.port.library.function_results import gives_one_match
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft
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


def match(node: s.Call, draft: Draft) -> Code:
    """``string.match``, whose pattern tells how many values it gives."""
    made = code.call("lua.match", *draft.arguments(node))
    return Code(made.text, spread=1 if gives_one_match(node) else None)


def gsub(node: s.Call, draft: Draft) -> Code | None:
    """``string.gsub`` of a pattern by a text: ``replace`` or ``re.sub``, and how often."""
    if len(node.arguments) != 3:
        return None
    pattern, new = map(s.constant, node.arguments[1:])
    if not isinstance(pattern, str) or not isinstance(new, str):
        return None
    text = draft.value(node.arguments[0])
    if draft.types.type(node.arguments[0]).may(*NUMBERS):
        return None
    if (plain := patterns.plain(pattern)) and "%" not in new:
        made = f"{text.atom}.replace({code.string(plain)}, {code.string(new)})"
        return Code(made, every=f"({made}, {text.atom}.count({code.string(plain)}))")
    if not _is_text(node.arguments[0], draft):
        return None
    if (pattern, new) == ("^%s*(.-)%s*$", "%1"):
        made = f'{text.atom}.strip(" \\t\\n\\v\\f\\r")'
        return Code(made, every=f"({made}, 1)")
    regex = patterns.regex(pattern)
    put = None if regex is None or regex.nullable else regex.replacement(new)
    if regex is None or put is None:
        return None
    rest = f"({regex.literal}, {put}, {text})"
    return Code(f"re.sub{rest}", every=f"re.subn{rest}")


def each_match(node: s.Call, draft: Draft) -> Code | None:
    """``string.gmatch`` where a loop takes all: ``re.findall``."""
    text, pattern = [node.function, *node.arguments] if node.method else node.arguments
    known = s.constant(pattern)
    regex = patterns.regex(known) if isinstance(known, str) else None
    if regex is None or regex.nullable or regex.body.startswith("^") or not _is_text(text, draft):
        return None
    return Code(f"re.findall({regex.bare}, {draft.value(text)})")


def _is_text(node: s.Node, draft: Draft) -> bool:
    if isinstance(node, s.Call) and draft.types.dotted(node.function) == "tostring":
        return draft.how(node.arguments[0]) != "run"  # which sees the first values only
    kind = draft.types.type(node)
    return kind.is_string and Kind.NIL not in kind.atoms


def condition(node: s.Node, draft: Draft) -> Code | None:
    """Return a call as a condition, where that says more than its value."""
    if not isinstance(node, s.Call):
        return None
    if node.method == "isContiguous" and draft.types.type(node.function).is_tensor:
        return Code(f"{draft.prefix(node.function).atom}.is_contiguous()")
    return _searched(node, draft)


def found(node: s.Node, draft: Draft) -> Code | None:
    """Return whether a call finds something: True or False."""
    made = _searched(node, draft) if isinstance(node, s.Call) else None
    if made is not None and made.text.startswith("re."):
        return code.binary(made, "is not", NONE)
    return made


def _searched(node: s.Call, draft: Draft) -> Code | None:
    path, arguments = None, node.arguments
    if node.method is None:
        path = draft.types.dotted(node.function)
    elif node.method in ("find", "match") and draft.types.owner(node.function).is_string:
        path, arguments = f"string.{node.method}", [node.function, *arguments]
    if path not in ("string.find", "string.match") or len(arguments) < 2:
        return None
    pattern = s.constant(arguments[1])
    if draft.types.type(arguments[0]).may(*NUMBERS) or not isinstance(pattern, str):
        return None
    if [s.constant(a) for a in arguments[2:]] == [1, True]:
        return _contains(draft.value(arguments[0]), pattern)
    return _test(draft.value(arguments[0]), pattern) if len(arguments) == 2 else None


def _contains(text: Code, part: str) -> Code:
    return Code(f"{code.string(part)} in {text.at(code.ADD)}", code.COMPARE)


def _test(text: Code, pattern: str) -> Code | None:
    if plain := patterns.plain(pattern):
        return _contains(text, plain)
    if pattern.startswith("^") and (plain := patterns.plain(pattern[1:])):
        return Code(f"{text.atom}.startswith({code.string(plain)})")
    if pattern.endswith("$") and (plain := patterns.plain(pattern[:-1])):
        return Code(f"{text.atom}.endswith({code.string(plain)})")
    regex = patterns.regex(pattern)
    return regex and Code(f"re.search({regex.bare}, {text})")
