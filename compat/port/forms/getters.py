"""Functions of classes for the entries of their objects: ``function C.__index(self, key)``."""

from __future__ import annotations

from compat.port.know.files import GETTER
from compat.port.know.form.shapes import defined
from compat.port.read import syntax as s


def name_getters(block: s.Block) -> None:
    """Write those of ``torch.class`` that give names what the class has as Python's, which is asked
    for everything else.
    """
    classes: set[str] = set()
    for node in s.walk(block):
        for target, made in s.assigned(node):
            if isinstance(made, s.Call) and s.describe(made.function) == "torch.class":
                classes.add(s.describe(target))
        found = defined(node) if isinstance(node, s.Define) else None
        if found is None or found[2] != "__index" or s.describe(found[1]) not in classes:
            continue
        define, owner, _ = found
        parameters = define.function.parameters
        if len(parameters) != 2 or not isinstance(define.target, s.Index):
            continue
        if _drop_names(define.function.body, parameters[1].id, s.describe(owner)):
            define.target.key = s.Constant(GETTER)
            s.put_at(define.target.key, define)


def takes_numbers(function: s.Function) -> bool:
    """Return whether a function of a table and a key does nothing for names: the key is one of
    something else's, or computed with.
    """
    if len(function.parameters) != 2 or function.is_vararg:
        return False
    name = function.parameters[1].id
    for node in s.walk(function.body):
        places = [n for n in node.children() if isinstance(n, s.Name) and n.id == name]
        is_number = isinstance(node, s.Binary) and node.operator in {*"+-*/%^<>", "<=", ">="}
        is_key = isinstance(node, s.Index) and places == [node.key]
        is_argument = isinstance(node, s.Call) and node.method and node.function not in places
        if places and not (is_number or is_key or is_argument):
            return False
    return True


def _drop_names(body: s.Block, key: str, owner: str) -> bool:
    """Drop ``if type(key) == 'string' then return C[key] end``, and keep what ``else`` does.

    Returns whether it stood there.
    """
    first = body.statements[0] if body.statements else None
    if not isinstance(first, s.If):
        return False
    (test, inner), *rest = first.clauses
    only = inner.statements[0] if len(inner.statements) == 1 else None
    gives = [s.describe(v) for v in only.values] if isinstance(only, s.Return) else []
    is_whole = [condition for condition, _ in rest] in ([], [None])
    if not is_whole or gives != [f"{owner}[{key}]"] or not _asks_for_text(test, key):
        return False
    body.statements[:1] = [n for _, block in rest for n in block.statements]
    return True


def _asks_for_text(test: s.Node | None, key: str) -> bool:
    """``type(key) == 'string'``."""
    sides = [test.left, test.right] if isinstance(test, s.Binary) and test.operator == "==" else []
    calls = [n for n in sides if isinstance(n, s.Call) and s.describe(n.function) == "type"]
    names = [s.describe(argument) for call in calls for argument in call.arguments]
    return names == [key] and "string" in map(s.constant, sides)
