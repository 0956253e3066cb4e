"""Facts about single nodes of a program that follow from their form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from compat.port.know.scopes import Variable
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s


def is_maker(define: s.Define) -> bool:
    """Return whether a method makes objects of the class that it is called of: ``function C:new()
    return setmetatable({}, self)``; or of C, whatever it is called of.

    It is a class method in Python, so that a class that derives from C makes its own objects.
    """
    if not define.is_method or not isinstance(define.target, s.Index):
        return False
    makes_any = s.constant(define.target.key) in ("new", "create")
    is_unused = makes_any and not define.function.parameters[0].variable.reads
    return is_unused or makes_objects(define)


def makes_objects(define: s.Define) -> bool:
    """Return whether a function makes objects of the class that it is given first."""
    parameters = define.function.parameters
    own = parameters[0].variable if parameters else None
    return own is not None and any(
        getattr(n.function, "id", "") == "setmetatable"
        and len(n.arguments) == 2
        and getattr(n.arguments[1], "variable", None) is own
        for n in s.walk(define.function.body)
        if isinstance(n, s.Call)
    )


def is_self(function: s.Function) -> bool:
    """Return whether its first parameter is called self."""
    return bool(function.parameters) and function.parameters[0].id == "self"


def is_name(value: Any) -> bool:
    """Return whether ``value`` can stand behind a dot."""
    return isinstance(value, str) and value.isidentifier()


def is_open(node: s.Node) -> bool:
    """Return whether an expression may give any number of values at the end of a list."""
    return isinstance(node, (s.Call, s.Vararg))


def followed(block: s.Block) -> Iterator[s.Node]:
    """Yield the entries and results that have methods or entries themselves, and the results that
    are put into what has later, if nobody asks for its type: these are no numbers.
    """
    put: dict[object, list[s.Node]] = {}
    for target, value in assigned(block):
        put.setdefault(place_of(target), []).append(value)
    for call in calls(block):
        if s.describe(call.function) in ("type", "torch.type", "torch.isTensor"):
            put.pop(place_of(call.arguments[0]) if call.arguments else None, None)
    for node in s.walk(block):
        owner: s.Node | None = None
        if isinstance(node, s.Call) and node.method is not None:
            owner = node.function
        elif isinstance(node, s.Index):
            owner = node.object
        if isinstance(owner, (s.Index, s.Call)):
            yield owner
        if isinstance(owner, (s.Index, s.Name)):
            values = (v for v in put.get(place_of(owner), ()) if isinstance(v, s.Call))
            yield from (value for value in values if value.end <= owner.start)


def assigned(block: s.Block) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield what declarations and assignments set, and the values."""
    return (pair for node in s.walk(block) for pair in s.assigned(node))


def length_of(node: s.Node | None) -> s.Node | None:
    """Return ``t`` of ``#t``."""
    return node.operand if isinstance(node, s.Unary) and node.operator == "#" else None


def next_of(key: s.Node) -> s.Node | None:
    """Return ``t`` of the key ``#t + 1``."""
    if not isinstance(key, s.Binary) or key.operator != "+" or s.constant(key.right) != 1:
        return None
    return length_of(key.left)


def is_same(node: s.Node | None, other: s.Node) -> bool:
    """Return whether two expressions are the same variable, or the same field of one."""
    shown = s.describe(other)
    return node is not None and s.describe(node) == shown and "…" not in shown


def place_of(node: s.Node) -> object:
    """Return what tells a place from others: its variable, or the text of an entry."""
    return node.variable if isinstance(node, s.Name) else s.describe(node)


def tested(block: s.Block) -> Iterator[s.Index]:
    """Return the entries that are conditions, or compared with nil or a boolean: these may be
    missing.
    """
    return (node for node in _conditions(block) if isinstance(node, s.Index))


def compared(block: s.Block) -> set[s.Node]:
    """Return what is compared with ``==``, which Lua does with what may be nil."""
    found = (n for n in s.walk(block) if isinstance(n, s.Binary) and n.operator in ("==", "~="))
    return {side for node in found for side in (node.left, node.right)}


def set_names(block: s.Block) -> Iterator[object]:
    """Yield the names of entries that something is put into."""
    for node in s.walk(block):
        targets = node.targets if isinstance(node, s.Assign) else []
        for target in [node.target] if isinstance(node, s.Define) else targets:
            if isinstance(target, s.Index):
                yield s.constant(target.key)


def given_names(block: s.Block) -> Iterator[object]:
    """Yield the names of entries that get what a function is given."""
    for target, value in assigned(block):
        is_given = isinstance(value, s.Name) and value.variable.is_parameter
        if isinstance(target, s.Index) and is_given:
            yield s.constant(target.key)


def tested_later(block: s.Block) -> set[s.Node]:
    """Return the entries that are put into a variable that is tested, ``local v = t[i]; if v
    then``, and those that a function gives of which a result is tested.
    """
    conditions = [*_conditions(block)]
    asked = {node.variable for node in conditions if isinstance(node, s.Name)}
    found = [*sources(block)]
    conditions += [value for variable, value in found if variable in asked]
    names = {n.method or last_word(n.function) for n in conditions if isinstance(n, s.Call)}
    for node in s.walk(block):
        if isinstance(node, s.Define) and last_word(node.target) in names:
            given = [value for r in own_returns(node.function.body) for value in r.values]
            variables = {n.variable for n in given if isinstance(n, s.Name)}
            conditions += given + [value for variable, value in found if variable in variables]
    entries: set[s.Node] = {node for node in conditions if isinstance(node, s.Index)}
    return entries - {*tested(block)}


def last_word(node: s.Node) -> str:
    """Return the last of the names of an expression: of ``a.b.c`` it is ``c``."""
    return s.describe(node).rpartition(".")[2]


def tested_calls(block: s.Block) -> Iterator[s.Call]:
    """Yield the calls ``net:get(i)`` and ``net:parameters()`` that are conditions: there may be
    none. Where the default for parameters is an empty table, Python's empty list does.
    """
    asked = [*_conditions(block)]
    empty = {left for left, right in defaulted(block) if _is_empty(right)}
    names = {node.variable for node in asked if isinstance(node, s.Name)}
    asked += [value for variable, value in sources(block) if variable in names]
    for node in asked:
        if isinstance(node, s.Call) and (
            node.method == "get" or (node.method == "parameters" and node not in empty)
        ):
            yield node


def deep_copies(block: s.Block) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield the calls that read what the same function puts into memory, and that."""
    texts: dict[object, list[s.Node]] = {}
    for variable, value in sources(block):
        texts.setdefault(variable, []).append(value)
    for part in (node for node in s.walk(block) if isinstance(node, (s.Block, s.Function))):
        found = list(calls(part))
        if "torch.MemoryFile" in map(_function_of, found):
            put = [call.arguments for call in found if call.method == "writeObject"]
            read = [call for call in found if call.method == "readObject"]
            if len(put) == 1 and "torch.DiskFile" not in map(_function_of, found):
                yield from ((call, what) for call in read for what in put[0][:1])
    for call in calls(block):
        text = call.arguments[0] if call.arguments else None
        made = texts.get(text.variable, []) if isinstance(text, s.Name) else [text]
        inner = made[0] if len(made) == 1 else None
        is_copy = isinstance(inner, s.Call) and _function_of(inner) == "torch.serialize"
        if isinstance(inner, s.Call) and is_copy and _function_of(call) == "torch.deserialize":
            yield from ((call, what) for what in inner.arguments[:1])


def _function_of(call: s.Call) -> str:
    return s.describe(call.function) if call.method is None else ""


def defaulted(block: s.Block) -> Iterator[tuple[s.Node, s.Node]]:
    """Yield the sides of ``x or y``."""
    found = (node for node in s.walk(block) if isinstance(node, s.Binary))
    return ((node.left, node.right) for node in found if node.operator == "or")


def _is_empty(node: s.Node) -> bool:
    return isinstance(node, s.Table) and not node.fields


def _conditions(block: s.Block) -> Iterator[s.Node | None]:
    for node in s.walk(block):
        conditions: list[s.Node | None] = []
        if isinstance(node, s.If):
            conditions = [condition for condition, _ in node.clauses]
        elif isinstance(node, (s.While, s.Repeat)):
            conditions = [node.condition]
        elif isinstance(node, s.Unary) and node.operator == "not":
            conditions = [node.operand]
        elif isinstance(node, s.Call) and s.describe(node.function) == "assert":
            conditions = list(node.arguments[:1])
        elif isinstance(node, s.Binary):
            is_nil = isinstance(node.right, s.Constant) and (
                node.right.value is None or isinstance(node.right.value, bool)
            )
            if node.operator in ("and", "or") or (node.operator in ("==", "~=") and is_nil):
                conditions = [node.left, node.right]
        yield from conditions


def captures(pattern: s.Node | None) -> int:
    """Return how many values each match of a pattern gives; one where the pattern is not written
    there.
    """
    text = s.constant(pattern)
    return max(len(re.findall(r"(?<!%)\(", text)), 1) if isinstance(text, str) else 1


def counts_up(node: s.Table) -> bool:
    """Return whether a table's keys are all given, as 1, 2, 3 and so on."""
    keys = [s.constant(f.key) for f in node.fields]
    return keys == list(range(1, len(keys) + 1))


def sources(block: s.Block) -> Iterator[tuple[Any, s.Node]]:
    """Yield variables, and what is put into them; of loops through tables the tables' entries."""
    for node in s.walk(block):
        for target, value in s.assigned(node):
            if isinstance(target, s.Name):
                yield target.variable, value
        if isinstance(node, s.ForEach) and isinstance(node.values[0], s.Call):
            for name in node.names[1:]:
                for table in node.values[0].arguments[:1]:
                    yield name.variable, s.Index(table, s.Vararg())


def functions_in(block: s.Block) -> Iterator[tuple[object, s.Function]]:
    """Yield the names under which functions are put into tables and classes, and the functions."""
    defines = (n for n in s.walk(block) if isinstance(n, s.Define))
    named = {n.target.id: n.function for n in defines if isinstance(n.target, s.Name)}
    for node in s.walk(block):
        pairs: list[tuple[s.Node | None, s.Node]] = []
        if isinstance(node, s.Define):
            pairs = [(node.target, node.function)]
        elif isinstance(node, s.Assign):
            pairs = [*s.assigned(node)]
        elif isinstance(node, s.Table):
            pairs = [(field.key, field.value) for field in node.fields]
        for key, value in pairs:
            function = named.get(value.id) if isinstance(value, s.Name) else value
            if isinstance(function, s.Function):
                yield s.constant(key.key if isinstance(key, s.Index) else key), function


def defined(node: s.Statement) -> tuple[s.Define, s.Node, str] | None:
    """``function owner.name() … end``, also written ``owner.name = function() … end``.

    Returns:
        The definition, the owner and the name; None for anything else.
    """
    if isinstance(node, s.Assign) and len(node.targets) == len(node.values) == 1:
        target, value = node.targets[0], node.values[0]
        if isinstance(target, s.Index) and isinstance(value, s.Function):
            made = s.Define(target, value, before=node.before, after=node.after)
            made.line, made.start, made.end = node.line, node.start, node.end
            node = made
    if not isinstance(node, s.Define) or not isinstance(node.target, s.Index):
        return None
    name = s.constant(node.target.key)
    return (node, node.target.object, name) if isinstance(name, str) else None


def may_end(block: s.Block) -> bool:
    """Return whether a function may come to the end of its block without a ``return``."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, s.If):
        bodies = [body for _, body in last.clauses]
        return last.clauses[-1][0] is not None or any(map(may_end, bodies))
    if isinstance(last, s.Scope):
        return may_end(last.body)
    if isinstance(last, (s.While, s.Repeat)):
        endless = last.condition
        goes_on = isinstance(endless, s.Constant) and endless.value is isinstance(last, s.While)
        return not goes_on or any(map(_breaks, last.body.statements))
    is_error = (
        isinstance(last, s.Do)
        and isinstance(last.call, s.Call)
        and isinstance(last.call.function, s.Name)
        and last.call.function.id in ("error", "assert")
    )
    return not isinstance(last, s.Return) and not is_error


def _breaks(node: s.Node) -> bool:
    """Return whether a statement may end the loop that it stands in."""
    if isinstance(node, (*s.LOOPS, s.Function)):
        return False
    if isinstance(node, s.Jump):
        return True
    return any(map(_breaks, node.children()))


def first_labels(statements: Sequence[s.Statement]) -> list[str]:
    """Return the labels that statements begin with."""
    labels = takewhile(lambda node: isinstance(node, s.Label), statements)
    return [n.name for n in labels if isinstance(n, s.Label)]


def constant(value: Any) -> Type:
    """Return the type of a constant."""
    if value is None:
        return Type(Kind.NIL)
    if isinstance(value, bool):
        return Type(Kind.BOOLEAN)
    made = Type({int: Kind.INT, float: Kind.FLOAT, str: Kind.STRING}[type(value)])
    made.zero = value == 0
    return made


def calls(block: s.Node) -> Iterator[s.Call]:
    """Return all calls in a block."""
    return (node for node in s.walk(block) if isinstance(node, s.Call))


def own_returns(node: s.Node) -> list[s.Return]:
    """Return what ends a part of a function or file, in its order."""
    if isinstance(node, s.Return):
        return [node]
    parts = [part for part in node.children() if not isinstance(part, s.Function)]
    return [found for part in parts for found in own_returns(part)]


def forwarding(block: s.Node) -> Iterator[s.Function]:
    """Yield the functions that give ``...`` on as the last arguments of calls, and ask nothing more
    of it.
    """
    for node in s.walk(block):
        if isinstance(node, s.Function) and node.is_vararg and not _keeps_rest(node.body):
            yield node


def _keeps_rest(node: s.Node) -> bool:
    """Return whether ``...`` is part of something else than the end of a call's arguments."""
    if isinstance(node, s.Function):
        return False
    parts = list(node.children())
    if isinstance(node, s.Call) and parts and isinstance(parts[-1], s.Vararg):
        del parts[-1]
    return any(isinstance(part, s.Vararg) or _keeps_rest(part) for part in parts)


def chain_root(node: s.Node) -> s.Node:
    """Return what the methods of ``x:add(a):add(b)`` are called of."""
    while isinstance(node, s.Call) and node.method is not None:
        node = node.function
    return node


def last_added(block: s.Block) -> set[s.Call]:
    """Return the calls ``net:add(m)`` that are the last of their net, as the text has them."""
    held: dict[s.Node, Variable] = {}
    last: dict[s.Node | Variable, s.Call] = {}
    for node in s.walk(block):
        for name, value in s.assigned(node):
            if isinstance(name, s.Name):
                held[chain_root(value)] = name.variable
        if isinstance(node, s.Call) and node.method == "add":
            root = chain_root(node)
            net = root.variable if isinstance(root, s.Name) else held.get(root, root)
            if net not in last or node.end > last[net].end:
                last[net] = node
    return set(last.values())
