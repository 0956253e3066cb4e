"""Comments above functions and classes, as what Python shows of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compat.port.polish.source import Change, Edit, Source

_DECORATION = re.compile(r"^[-=*#~\s]*|[-=*#~\s]*$")
_NO_TEXT = re.compile(r"port: |noqa|fmt: |type: |!|.*copyright|.*licen[cs]e", re.I)
# Lua that somebody has taken out.
_CODE = re.compile(r"(local|function|end|return|require|if .* then|for .* do|\w+ *=|[\w.:]+\()")
_LINE = re.compile(r"\s*(local \w|function [\w.:]+ *\(|end\b[,)]*$)")


def docstring(lines: list[str], indent: str = "") -> str | None:
    """Return lines of a comment as a docstring; None where they are none."""
    texts = [line.lstrip("#").removeprefix(" ").rstrip() for line in lines]
    if any(_NO_TEXT.match(text.strip()) for text in texts):
        return None
    while texts and not _DECORATION.sub("", texts[0]):
        texts.pop(0)
    while texts and not _DECORATION.sub("", texts[-1]):
        texts.pop()
    if not any(re.search(r"[^\W\d_]{2}", text) for text in texts):
        return None
    if _CODE.match(texts[0].strip()) or any(_LINE.match(text) for text in texts):
        return None
    if len(texts) == 1:
        texts = [_DECORATION.sub("", texts[0])]
    text = "\n".join(indent + line if line else "" for line in texts).strip()
    if '"""' in text or "\\" in text or text.endswith('"'):
        return None
    if re.match(r"[a-z]+[ ,.:]", text):
        text = text[0].upper() + text[1:]
    text += "." if text[-1].isalnum() or text[-1] in ")]'" else ""
    closing = f"\n{indent}" if len(texts) > 1 else ""
    return f'"""{text}{closing}"""'


def documented(source: Source) -> Iterator[Change]:
    """Turn a comment right above a function or class into its docstring."""
    for node in [*source.all(ast.FunctionDef), *source.all(ast.ClassDef)]:
        if ast.get_docstring(node) is not None:
            continue
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        top = first
        while (token := source.comments.get(top - 1)) and token.start[1] == node.col_offset:
            if token.line.strip() != token.string:
                break
            top -= 1
        head = node.body[0]
        if top == first or head.lineno == node.lineno:
            continue
        pad = " " * head.col_offset
        made = docstring([source.comments[n].string for n in range(top, first)], pad)
        if made is None:
            continue
        colon = source.head_end(node)
        yield [
            Edit(source.line(top), source.line(first), ""),
            Edit(colon, colon, f"\n{pad}{made}"),
        ]
