"""Conditions that ask one thing twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compat.port.polish.names import is_plain
from compat.port.polish.source import Change, Edit, Source

_TURNED = {ast.GtE: "<=", ast.Gt: "<"}
_STRAIGHT = {ast.LtE: "<=", ast.Lt: "<"}


def one_of_several(source: Source) -> Iterator[Change]:
    """``x == "a" or x == "b"`` as ``x in ("a", "b")``; so ``!=`` with ``and``."""
    for node in source.all(ast.BoolOp):
        operator, word = (ast.Eq, "in") if isinstance(node.op, ast.Or) else (ast.NotEq, "not in")
        first = 0
        while first < len(node.values):
            asked = _asked(node.values[first], operator)
            last = first + 1
            while asked and last < len(node.values):
                other = _asked(node.values[last], operator)
                if other is None or ast.dump(other[0]) != ast.dump(asked[0]):
                    break
                last += 1
            if asked and last - first > 1:
                found = [_asked(v, operator) for v in node.values[first:last]]
                words = ", ".join(source.of(f[1]) for f in found if f is not None)
                text = f"{source.of(asked[0])} {word} ({words})"
                start, end = source.start(node.values[first]), source.end(node.values[last - 1])
                yield [Edit(start, end, text)]
            first = last


def _asked(node: ast.expr, operator: type[ast.cmpop]) -> tuple[ast.expr, ast.Constant] | None:
    """Return what is compared with which text or number."""
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not is_plain(node.left):
        return None
    other = node.comparators[0]
    if not isinstance(node.ops[0], operator) or not isinstance(other, ast.Constant):
        return None
    return (node.left, other) if isinstance(other.value, (str, int, float)) else None


def between(source: Source) -> Iterator[Change]:
    """``x >= 0 and x <= 1`` as ``0 <= x <= 1``."""
    for node in source.all(ast.BoolOp):
        if not isinstance(node.op, ast.And):
            continue
        for low, high in zip(node.values, node.values[1:], strict=False):
            lower, upper = _limit(low, _TURNED), _limit(high, _STRAIGHT)
            if lower and upper and ast.dump(lower[0]) == ast.dump(upper[0]):
                text = f"{source.of(lower[2])} {lower[1]} {source.of(lower[0])}"
                text = f"{text} {upper[1]} {source.of(upper[2])}"
                yield [Edit(source.start(low), source.end(high), text)]
                break


def _limit(
    node: ast.expr, signs: dict[type[ast.cmpop], str]
) -> tuple[ast.expr, str, ast.expr] | None:
    """Return what is compared, the sign, and the number that it is compared with."""
    if not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return None
    sign, other = signs.get(type(node.ops[0])), node.comparators[0]
    if sign is None or not (is_plain(node.left) and is_plain(other)):
        return None
    return node.left, sign, other
