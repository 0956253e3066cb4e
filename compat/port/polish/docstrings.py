"""Comments above functions and classes, as what Python shows of them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from compat.port.polish.source import Change, Edit, Source

_DECORATION = re.compile(r"^[-=*#~\s]*|[-=*#~\s]*$")
_DASHES = re.compile(r"^\s*--+(?= |$) ?")  # of a line inside --[[ … ]]
_NO_TEXT = re.compile(r"port: |noqa|fmt: |type: |!|.*copyright|.*licen[cs]e", re.I)
# Lua that somebody has taken out.
_CODE = re.compile(r"(local|function|end|return|require|if .* then|for .* do|\w+ *=|[\w.:]+\()")
_LINE = re.compile(r"\s*(local \w|function [\w.:]+ *\(|end\b[,)]*$)")


def docstring(lines: list[str], indent: str = "") -> str | None:
    """Return lines of a comment as a docstring; None where they are none."""
    texts = [line.lstrip("#").removeprefix(" ").rstrip() for line in lines]
    plain = [_DASHES.sub("", text) for text in texts]
    if plain != texts:
        texts = [plain[0], *textwrap.dedent("\n".join(plain[1:])).split("\n")]
    if any(_NO_TEXT.match(text.strip()) for text in texts):
        return None
    while texts and not _DECORATION.sub("", texts[0]):
        texts.pop(0)
    while texts and not _DECORATION.sub("", texts[-1]):
        texts.pop()
    if not any(re.search(r"[^\W\d_]{2}", text) for text in texts):
        return None
    if re.fullmatch(r"\s*[\w.-]+\.lua\s*", "".join(texts)):  # the file's name
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


def header(lines: list[str]) -> str:
    """Turn the comment that a file begins with into its docstring, if it can be one."""
    made = docstring(lines)
    if made is not None:
        return made
    texts = textwrap.dedent("\n".join(line.lstrip("#").rstrip() for line in lines)).strip("\n")
    return "\n".join(f"# {text}".rstrip() for text in texts.split("\n")) if texts else ""


def ended(source: Source) -> Iterator[Change]:
    """Nothing for ``#`` below a comment, where Lua's ``]]`` stood."""
    for number, token in source.comments.items():
        is_alone = token.string == "#" == token.line.strip()
        if is_alone and number - 1 in source.comments and number + 1 not in source.comments:
            yield [Edit(source.line(number), source.line(number + 1), "")]


def documented(source: Source) -> Iterator[Change]:
    """Turn a comment above a function or class, or alone at the beginning of its body, into its
    docstring.
    """
    nodes: list[ast.FunctionDef | ast.ClassDef] = [*source.all(ast.FunctionDef)]
    for node in nodes + source.all(ast.ClassDef):
        head = node.body[0]
        if ast.get_docstring(node) is not None or head.lineno == node.lineno:
            continue
        pad = " " * head.col_offset
        colon = source.head_end(node)
        above = _above(source, min([node.lineno, *(d.lineno for d in node.decorator_list)]), node)
        for lines in (above, _inside(source, node)):
            numbers = [n for n in lines if "# port:" not in source.comments[n].string]
            made = docstring([source.comments[n].string for n in numbers], pad) if numbers else None
            if made is not None:
                gone = [Edit(source.line(n), source.line(n + 1), "") for n in numbers]
                yield [*gone, Edit(colon, colon, f"\n{pad}{made}")]
                break


def _above(source: Source, line: int, node: ast.stmt) -> list[int]:
    """Return the lines of a comment that ends above a line, at a statement's column."""
    top = line
    while (token := source.comments.get(top - 1)) and token.start[1] == node.col_offset:
        if token.line.strip() != token.string:
            break
        top -= 1
    return list(range(top, line))


def _inside(source: Source, node: ast.FunctionDef | ast.ClassDef) -> list[int]:
    """Return the lines of a comment that a body begins with, before an empty line or as Lua's
    ``--[[ … ]]``, which ends with a line of its own.
    """
    if isinstance(node, ast.ClassDef):
        return []  # it is about the first statement
    head = node.body[0]
    line = head.lineno
    while line > node.lineno and not source.text_of_line(line - 1).rstrip().endswith(":"):
        line -= 1
    lines = []
    while (token := source.comments.get(line)) and token.line.strip() == token.string:
        lines.append(line)
        line += 1
    is_apart = bool(lines) and not source.text_of_line(line).strip()
    return lines if is_apart or (lines and source.comments[lines[-1]].string == "#") else []
