"""Pieces of Python text that know how strongly they bind."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

LAMBDA, TERNARY, OR, AND, NOT, COMPARE, ADD, MULTIPLY, UNARY, POWER, ATOM = range(11)
_OPERATORS = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">=", "is", "is not", "in", "not in"), COMPARE),
    **dict.fromkeys("+-", ADD),
    **dict.fromkeys(("*", "/", "%", "@", "//"), MULTIPLY),
    "**": POWER,
}


@dataclass(frozen=True)
class Code:
    """An expression of Python.

    Attributes:
        level: how strongly its outermost operator binds; ``ATOM`` for names, calls and brackets.
        mask: the tensor of bools that it is made of, where Torch7 has bytes.
        pair: its results with indices from 0, where Torch7 counts from 1.
        every: a tuple of all its results, where it is only the first of them.
        tells: the second of its results may be the text of an error.
        spread: how many values it stands for: 1, or another number (None: open) as a tuple.
    """

    text: str
    level: int = ATOM
    mask: str = ""
    pair: str = ""
    spread: int | None = 1
    every: str = ""
    tells: bool = False

    @property
    def all_results(self) -> str:
        """The call that gives ``every``, one by itself; ``every`` where it is none."""
        head, found, call = self.every.partition("lua.values(")
        return call[:-1] if found and not head else self.every

    def at(self, level: int) -> str:
        """Return its text, in parentheses where something binds more strongly."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def atom(self) -> str:
        """The text where a dot or bracket follows."""
        if self.text.isdigit():
            return f"({self.text})"
        return self.at(ATOM)

    def __str__(self) -> str:
        return self.text


def call(function: str, *arguments: Code | str) -> Code:
    """Return a call."""
    return Code(f"{function}({', '.join(map(str, arguments))})")


def single(function: str, every: Code, arguments: Sequence[Code | str], count: int | None) -> Code:
    """Return a call of what gives one result where ``every`` gives all, of which there are so
    many.
    """
    made = call(function, *arguments)
    return made if count == 1 else Code(made.text, every=f"lua.values({every})")


def binary(left: Code, operator: str, right: Code) -> Code:
    """Return an operator with its two operands."""
    level = _OPERATORS[operator]
    if level == COMPARE:
        return Code(f"{left.at(level + 1)} {operator} {right.at(level + 1)}", level)
    if operator == "**":
        return Code(f"{left.at(ATOM)} ** {right.at(UNARY)}", level)
    return Code(
        f"{left.at(level)} {operator} {right.at(level + (operator not in ('or', 'and')))}", level
    )


def sliced(first: str, last: str) -> str:
    """``first:last`` in brackets; with blanks where there is more than a name or number."""
    simple = all(re.fullmatch(r"-?\w*", part) for part in (first, last))
    return f"{first}:{last}" if simple else f"{first} : {last}".strip()


_OPPOSITES = (
    (" is not ", " is "), (" is ", " is not "), (" == ", " != "), (" != ", " == "),
    (" not in ", " in "), (" in ", " not in "),
)  # fmt: skip


def ternary(value: Code, condition: Code, other: Code) -> Code:
    """``value if condition else other``."""
    return Code(f"{value.at(OR)} if {condition.at(OR)} else {other.at(TERNARY)}", TERNARY)


def negated(condition: Code) -> Code:
    """``not condition``."""
    if condition.text in ("True", "False"):
        return Code(str(condition.text == "False"))
    if condition.text.startswith("not ") and condition.level == NOT:
        inner = condition.text[4:]
        return Code(inner, COMPARE)
    if condition.level == COMPARE:
        for one, other in _OPPOSITES:
            places = [m.start() for m in re.finditer(one, condition.text)]
            if len(places) == 1 and not _is_inside(condition.text[: places[0]]):
                return Code(condition.text.replace(one, other), COMPARE)
    return Code(f"not {condition.at(NOT)}", NOT)


def _is_inside(left: str) -> bool:
    """Return whether what follows is in a string or in brackets."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", left)
    pairs = (bare.count("(") - bare.count(")"), bare.count("[") - bare.count("]"))
    return '"' in bare or any(pairs)


def text_of(value: str) -> str:
    """Return the text of a string of Lua, whose bytes are UTF-8 wherever they can be."""
    return value.encode("latin-1").decode("utf-8", "surrogateescape")


def _is_text(text: str) -> bool:
    """Return whether all of its bytes are UTF-8."""
    return not any("\udc80" <= letter <= "\udcff" for letter in text)


def string(value: str) -> Code:
    """Return a string of Lua."""
    text = text_of(value)
    return Code(f'"""{text}"""' if _is_text(text) and _has_lines(text) else quoted(text))


def _has_lines(text: str) -> bool:
    """Return whether a text is shown in lines, between three quotes."""
    is_plain = text.replace("\n", "").isprintable() and "\\" not in text
    return text.count("\n") > 1 and is_plain and '"""' not in text and not text.endswith('"')


_PLAIN = ("", "s")  # formats of what an f-string shows as it is


def f_string(pieces: list[str | tuple[str, str]]) -> Code:
    """Return an f-string of texts, and of expressions with their formats, "s" of what is a text.

    Before Python 3.12 an expression in it has neither its quotes nor backslashes: where one needs
    them, ``format`` is given the parts.
    """
    pieces = [p[0] if isinstance(p, tuple) and p[0].isdigit() and not p[1] else p for p in pieces]
    expressions = [p for p in pieces if isinstance(p, tuple) and not _is_f_string(p)]
    texts = "".join(p for p in pieces if isinstance(p, str))
    if not any(isinstance(piece, tuple) for piece in pieces):
        return Code(quoted(texts))
    inner = [e if "'" in e else e.replace('"', "'") for e, _ in expressions]
    if not _is_text(texts) or any("\\" in e or '"' in e or "\n" in e for e in inner):
        return _formatted(pieces)
    is_long = _has_lines(texts) and texts.count("\n") > 3
    body = ""
    single = iter(inner)
    for piece in pieces:
        if isinstance(piece, tuple) and _is_f_string(piece):
            body += piece[0][2:-1]
        elif isinstance(piece, tuple):
            text = next(single)
            text = f" {text}" if text.startswith("{") else text
            body += f"{{{text}}}" if piece[1] in _PLAIN else f"{{{text}:{piece[1]}}}"
        else:
            # With both kinds of quotes in it, repr takes single ones.
            plain = piece if is_long else repr("'\"" + piece)[4:-1].replace("\\'", "'")
            body += plain.replace("{", "{{").replace("}", "}}")
    if is_long:
        return Code(f'f"""{body}"""')
    if '"' in body and "'" not in body:
        return Code(f"f'{body}'")
    return Code('f"' + body.replace('"', '\\"') + '"')


def _is_f_string(piece: str | tuple[str, str]) -> bool:
    """Return whether a part is an f-string itself, whose text can be part of another's."""
    text = piece[0] if isinstance(piece, tuple) and piece[1] in _PLAIN else ""
    is_one = text.startswith('f"') and text.endswith('"') and '"' not in text[2:-1]
    return is_one and isinstance(ast.parse(text, mode="eval").body, ast.JoinedStr)


def _formatted(pieces: list[str | tuple[str, str]]) -> Code:
    """Return ``"{} of {:.2f}".format(a, b)``."""
    template, values = "", []
    for piece in pieces:
        if isinstance(piece, str):
            template += piece.replace("{", "{{").replace("}", "}}")
        else:
            template += "{}" if piece[1] in _PLAIN else f"{{:{piece[1]}}}"
            values.append(piece[0])
    return Code(f"{quoted(template)}.format({', '.join(values)})")


def quoted(value: str) -> str:
    """Return a string as Python writes it, in double quotes where that is as short."""
    if not _is_text(value):
        return f"lua.bytes_as_text({value.encode('utf-8', 'surrogateescape')!r})"
    text = repr(value)
    if text.startswith("'") and '"' not in text:
        text = f'"{text[1:-1]}"'
    elif text.startswith("'") and "'" not in text[1:-1]:
        pass
    return text


def shifted(index: Code, by: int = -1) -> Code:
    """Return an index counted from 0 instead of 1."""
    is_from_end = index.text.startswith("-") and index.level >= UNARY  # in both languages
    return index if is_from_end else plus(index, by)


def plus(index: Code, by: int) -> Code:
    """Return a number and a constant."""
    text = index.text
    if text.removeprefix("-").isdigit() and index.level >= UNARY:
        number = int(text)
        return Code(str(number + by), ATOM if number + by >= 0 else UNARY)
    if index.level == ADD:
        for sign, tail in ((1, " + "), (-1, " - ")):
            head, found, last = text.rpartition(tail)
            if found and last.isdigit() and head.count("(") == head.count(")"):
                number = sign * int(last) + by
                if number == 0:
                    simple = not any(c in head for c in "+-*/% ")
                    return Code(head, ATOM if simple else ADD)
                return Code(f"{head} {'+' if number > 0 else '-'} {abs(number)}", ADD)
    return Code(f"{index.at(ADD)} {'-' if by < 0 else '+'} {abs(by)}", ADD)


def is_cheap(made: Code) -> bool:
    """Return whether an expression may be computed though nobody needs it."""
    text = re.sub(r'(?<![f"])"[^"]*"', "", made.text)
    return re.search(r"[(\[]| [-+*/%<>]|(?<!\w)(?!self|math)[a-zA-Z_]\w*\.", text) is None
