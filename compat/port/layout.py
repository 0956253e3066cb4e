"""Lines of Python as a formatter would leave them."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

WIDTH = 100
_OPEN, _CLOSE = "([{", ")]}"


def arranged(lines: Iterable[tuple[int, str, str | None]]) -> str:
    """The text of lines: indentation, statement, comment behind it."""
    out: list[str] = []
    bodies: list[int] = []  # how far the functions and classes are indented that we are in
    previous = ""
    for indent, text, comment in lines:
        if not text and not comment:
            if out and out[-1] and not previous.endswith(":"):
                out.append("")
            continue
        pad = " " * (4 * indent)
        if text.startswith("#"):
            out += _statement(text, pad)
            continue
        ended = [body for body in bodies if indent <= body]
        bodies = [body for body in bodies if indent > body]
        starts = re.match(r"(def|class)\b|@", text) is not None
        if previous.startswith("@"):
            pass
        elif starts:
            _space(out, 2 if indent == 0 else 1, pad)
        elif ended:
            _space(out, 2 if 0 in ended else 1, pad)
        if starts and not text.startswith("@"):
            bodies.append(indent)
        body = _statement(text, pad)
        if comment:
            if len(body) == 1 and len(body[0]) + len(comment) + 4 <= WIDTH:
                body[0] += f"  # {comment}"
            else:
                body.insert(0, f"{pad}# {comment}")
        out += body
        previous = text
    text = "\n".join(out).strip("\n")
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    return text + "\n" if text else ""


def _space(out: list[str], wanted: int, pad: str) -> None:
    """Have so many blank lines before what follows, and before the comments above it."""
    place = len(out)
    while place > 0 and out[place - 1].startswith(f"{pad}#"):
        place -= 1
    if place == 0 or out[place - 1].rstrip().endswith(":"):
        return
    while place > 0 and not out[place - 1]:
        del out[place - 1]
        place -= 1
    out[place:place] = [""] * wanted


def _statement(text: str, pad: str) -> list[str]:
    if text.startswith("#"):
        return [f"{pad}{line}".rstrip() for line in text.split("\n")]
    if "\n" not in text and len(pad) + len(text) <= WIDTH:
        return [pad + text]
    if '"""' in text:
        return (pad + text).split("\n")
    return _in_parentheses(text, pad) or _asserted(text, pad) or _wrapped(text, pad)


def _asserted(text: str, pad: str) -> list[str] | None:
    """``assert condition, message`` with the message on its own line."""
    if not text.startswith("assert ") or "\n" in text:
        return None
    parts = _split(text[7:])
    if len(parts) != 2 or len(pad) + len(parts[0]) + 10 > WIDTH:
        return None
    inner = f"{pad}    "
    return [f"{pad}assert {parts[0]}, (", *_wrapped(parts[1], inner), f"{pad})"]


def _in_parentheses(text: str, pad: str) -> list[str] | None:
    """A condition on several lines, one for each operand of its ``and`` or ``or``."""
    match = re.match(r"(if|elif|while|return|assert) (.*?)(:?)$", text)
    if match is None or "\n" in text:
        return None
    operands = _operands(match[2], ("and", "or"))
    if len(operands) < 2 or (match[1] == "assert" and len(_split(match[2])) > 1):
        return None
    inner = f"{pad}    "
    lines = [line for part in operands for line in _wrapped(part, inner)]
    return [f"{pad}{match[1]} (", *lines, f"{pad}){match[3]}"]


def _operands(text: str, words: tuple[str, ...]) -> list[str]:
    """What stands between operators outside brackets, each with the operator before it."""
    places = [0]
    depth = 0
    for kind, place in _marks(text):
        depth += (kind in _OPEN) - (kind in _CLOSE)
        if depth == 0 and kind in words and place:
            places.append(place)
    if any(kind in ("lambda", "if", "for") for kind, _ in _marks(text)):
        return [text]
    return [text[a:b].strip() for a, b in zip(places, [*places[1:], len(text)], strict=True)]


def _wrapped(text: str, pad: str) -> list[str]:
    """A statement on several lines, broken in its last brackets that hold enough."""
    flat = "\n" not in text
    if flat and len(pad) + len(text) <= WIDTH:
        return [pad + text]
    pair = _brackets(text, pad)
    if pair is None:
        return [pad + line for line in text.split("\n")]
    start, end = pair
    head, body, tail = text[: start + 1], text[start + 1 : end], text[end:]
    inner = f"{pad}    "
    out = [pad + head]
    parts = _split(body)
    can_join = "\n" not in body and len(inner) + len(body) <= WIDTH and not head.endswith("= (")
    is_comprehension = re.search(r"\sfor\s\w", body) is not None
    if can_join and (len(parts) == 1 or not _is_list(head, body)):
        out.append(inner + body)
    else:
        for i, part in enumerate(parts):
            if part.startswith("#"):
                out += [inner + line for line in part.split("\n")]
                continue
            comma = (
                ","
                if (len(parts) > 1 or not is_comprehension) and not part.startswith("**k")
                else ""
            )
            if len(parts) == 1 and (_operators(part) or head.rstrip("(")[-1:] in ("", " ")):
                comma = ""
            del i
            operands = _operands(part, ("and", "or")) if len(inner) + len(part) > WIDTH else [part]
            if len(operands) == 1 and len(inner) + len(part) > WIDTH:
                operands = _operands(part, ("+",))
            lines = [line for one in operands for line in _wrapped(one, inner)]
            lines[-1] += comma
            out += lines
    rest = _wrapped_tail(tail, pad)
    return out + rest


def _is_list(head: str, body: str) -> bool:
    return head.endswith(("[", "{")) and len(body) > WIDTH - 20


def _wrapped_tail(tail: str, pad: str) -> list[str]:
    if len(pad) + len(tail) <= WIDTH and "\n" not in tail:
        return [pad + tail]
    return _wrapped(tail, pad) if _brackets(tail, pad) else [pad + tail]


def _operators(part: str) -> bool:
    return bool(re.search(r" (and|or|if|else|\+) ", part))


def _brackets(text: str, pad: str) -> tuple[int, int] | None:
    """The brackets to break in: the first at the outside that make the head fit."""
    pairs = []
    stack: list[int] = []
    for kind, place in _marks(text):
        if kind in _OPEN:
            stack.append(place)
        elif kind in _CLOSE and stack:
            start = stack.pop()
            if not stack:
                pairs.append((start, place))
    pairs = [(a, b) for a, b in pairs if b > a + 1]
    if not pairs:
        return None
    long = [(a, b) for a, b in pairs if "\n" in text[a:b]]
    if long:
        return long[0]
    fitting = [
        (a, b) for a, b in pairs if len(pad) + a + 1 <= WIDTH and len(pad) + len(text) - b <= WIDTH
    ]
    if fitting:
        return max(fitting, key=lambda p: p[1] - p[0]) if len(fitting) > 1 else fitting[0]
    return pairs[-1] if len(pad) + pairs[-1][0] < WIDTH else pairs[0]


def _split(body: str) -> list[str]:
    """What stands between the commas of a body."""
    parts: list[str] = []
    depth = start = 0
    for kind, place in _marks(body):
        if kind in _OPEN:
            depth += 1
        elif kind in _CLOSE:
            depth -= 1
        elif kind == "," and depth == 0:
            parts.append(body[start:place])
            start = place + 1
        elif kind == "#" and depth == 0:
            line = body.find("\n", place)
            parts.append(body[place : line if line >= 0 else len(body)])
            start = line + 1 if line >= 0 else len(body)
    parts.append(body[start:])
    if any(re.match(r"\s*lambda\b[^:]*$", p) for p in parts):
        return [body.strip()]
    return [p.strip() for p in parts if p.strip()]


def _marks(text: str) -> list[tuple[str, int]]:
    """Brackets, commas and comments outside strings, with their places."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    inside = 0  # f-strings, whose parts are tokens from Python 3.12 on
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            place = starts[token.start[0] - 1] + token.start[1]
            name = tokenize.tok_name[token.type]
            inside += (name == "FSTRING_START") - (name == "FSTRING_END")
            if inside:
                continue
            if (token.type == tokenize.OP and token.string in "()[]{},+") or (
                token.string in ("and", "or", "if", "for", "lambda") and token.type == tokenize.NAME
            ):
                found.append((token.string, place))
            elif token.type == tokenize.COMMENT:
                found.append(("#", place))
    except (tokenize.TokenError, IndentationError):
        pass
    return found
