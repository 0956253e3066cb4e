"""Entries that may be past the end of their list, where Lua gives nil."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from compat.port.know.form.shapes import is_name, last_word, length_of, sources
from compat.port.know.scopes import Variable
from compat.port.read import syntax as s

_OF_ANYTHING = {"print", "tostring", "tonumber", "type"}
_DRAWN = {"math.random", "torch.random"}


def passed_past(block: s.Block) -> Iterator[s.Node]:
    """Yield the computed keys of entries that are given back, printed, compared or have a default,
    which Lua does where there is none, or of a list that is empty by default, given to a function;
    not those of loops that end with the same table.
    """
    ends = dict(_loop_ends(block))
    found = dict(sources(block))
    defaults = ((variable, getattr(value, "right", None)) for variable, value in sources(block))
    empty = {v for v, given in defaults if isinstance(given, s.Table) and not given.fields}
    for node in s.walk(block):
        values = node.values if isinstance(node, s.Return) else []
        if isinstance(node, s.Call) and getattr(node.function, "id", "") in _OF_ANYTHING:
            values = node.arguments
        elif isinstance(node, s.Call):
            parts = (part for part in node.arguments if isinstance(part, s.Index))
            values = [part for part in parts if getattr(part.object, "variable", None) in empty]
        elif isinstance(node, s.Binary) and node.operator in ("==", "~="):
            values = [node.left, node.right]
        elif isinstance(node, s.Binary) and node.operator == "or":  # t and t[i] or default
            values = [node.left] if _last(node.left) is not node.left else []
        for value in values:
            if isinstance(value, s.Name) and len(value.variable.writes) == 1:
                value = found.get(value.variable, value)
            value = _last(value)
            if isinstance(value, s.Index) and _is_free(value, ends):
                yield value.key


def _last(node: s.Node) -> s.Node:
    """Return ``y`` of ``x and y`` and ``x or y``, which gives what y does."""
    if isinstance(node, s.Binary) and node.operator in ("and", "or"):
        return _last(node.right)
    return node


def _is_free(node: s.Index, ends: dict[Variable, str]) -> bool:
    """Return whether nothing in the key of an entry says that it is there."""
    key = node.key
    if isinstance(number := s.constant(key), int):
        return number > 1
    if isinstance(key, s.Name):
        return ends.get(key.variable) not in ("", s.describe(node.object))
    if isinstance(key, s.Index):
        return is_name(s.constant(key.key))
    operators = {s.Binary: "+", s.Unary: "#"}
    return getattr(key, "operator", None) == operators.get(type(key), "")


def _loop_ends(block: s.Block) -> Iterator[tuple[Variable, str]]:
    """Yield the variables of loops, and of ``i = math.random(#t)``, and the tables with which they
    end, where the text shows it.
    """
    for variable, value in sources(block):
        is_drawn = isinstance(value, s.Call) and s.describe(value.function) in _DRAWN
        last = value.arguments[-1] if isinstance(value, s.Call) and value.arguments else None
        if is_drawn and len(variable.writes) == 1 and (measured := length_of(last)):
            yield variable, s.describe(measured)
    takers = _takers(block)
    for node in s.walk(block):
        if isinstance(node, s.ForRange):
            last, measured = node.last, length_of(node.last)
            sums = [last] if isinstance(last, s.Binary) and last.operator == "+" else []
            is_past = any(length_of(one.left) is not None for one in sums)
            if not is_past and not any(_takes_away(n, measured, takers) for n in s.walk(node.body)):
                yield node.name.variable, s.describe(measured) if measured else ""
        elif isinstance(node, s.ForEach):
            call = node.values[0]
            yield from ((name.variable, "") for name in node.names[1:])
            is_list = isinstance(call, s.Call) and getattr(call.function, "id", "") == "ipairs"
            table = next(iter(call.arguments), None) if isinstance(call, s.Call) else None
            yield node.names[0].variable, s.describe(table) if is_list and table else ""


def _takers(block: s.Block) -> dict[str, set[str]]:
    """Return the functions that take an entry out of a list, by their names, and the last words of
    these lists; the empty one for an argument.
    """
    found: dict[str, set[str]] = {}
    for node in s.walk(block):
        pairs: list[tuple[s.Node, s.Node]] = s.assigned(node)
        if isinstance(node, s.Define):
            pairs = [(node.target, node.function)]
        for target, function in pairs:
            if isinstance(function, s.Function) and (taken := [*_taken_from(function.body)]):
                own = {p.id for p in function.parameters} - {"self"}
                words = {"" if getattr(t, "id", None) in own else last_word(t) for t in taken}
                found.setdefault(last_word(target), set()).update(words)
    return found


def _taken_from(block: s.Block) -> Iterator[s.Node]:
    for node in s.walk(block):
        if isinstance(node, s.Call) and s.describe(node.function) == "table.remove":
            yield from node.arguments[:1]


def _takes_away(node: s.Node, table: s.Node | None, takers: Mapping[str, Set[str]]) -> bool:
    """Return whether a call takes an entry out of a list: ``table.remove(t, 1)``, or a call of a
    function with such a call.
    """
    if table is None or not isinstance(node, s.Call):
        return False
    given = [s.describe(argument) for argument in node.arguments]
    if s.describe(node.function) == "table.remove":
        return s.describe(table) in given[:1]
    words = takers.get(node.method or last_word(node.function), set())
    return last_word(table) in words or ("" in words and s.describe(table) in given)
