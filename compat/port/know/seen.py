"""Types of expressions that a run saw, and that tests in the code tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.files import Class
from compat.port.know.form.narrowing import Test
from compat.port.know.form.narrowing import tested as test_of
from compat.port.know.registry import TYPES
from compat.port.know.structures import Table
from compat.port.know.trace import MADE
from compat.port.know.types import Kind, Type, tensor
from compat.port.read import syntax as s
from compat.t7.objects import registry

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

# What Lua calls tables, and Python holds otherwise.
_NO_PLAIN_TABLES = {Kind.OPTIONS, Kind.CLASS, Kind.MODULE, Kind.OBJECT}


def note_sorted(known: Inference) -> None:
    """Note that a comparison is given any two entries of a list: what a run saw of one, the other
    may be in the draft, which has the entries in another order.
    """
    facts = dict(known.facts)
    for file in known.files:
        calls = [n for n in s.walk(file.block) if isinstance(n, s.Call) and len(n.arguments) > 1]
        for call in (n for n in calls if s.describe(n.function) == "table.sort"):
            for function in known.clues.put_into(call.arguments[1]):
                given = function.parameters if isinstance(function, s.Function) else []
                reads = [read for name in given for read, _ in name.variable.reads]
                places = [(file.path, n.start, n.end) for n in reads]
                seen = {fact for place in places for fact in facts.get(place, ())}
                facts |= {place: sorted(seen) for place in places if place in facts}
    known.facts = facts


def may_be_nil(known: Inference, node: s.Node) -> bool:
    """Return whether an expression may be nil where it stands."""
    value = known.clues.given.get(node)
    may_be = known.type(node if value is None else value).may_be_nil
    return may_be and node not in known.clues.present


def is_whole(known: Inference, node: s.Node) -> bool:
    """Return whether a number is an int in Python, as far as a run can tell.

    A run sees no difference between 4 and 4.0: a quotient or root is a float, and a parameter
    may be an entry of a tensor.
    """
    if known.owner(node).is_int:
        return True
    if isinstance(node, s.Binary) and node.operator in "+-*%":
        return known.is_whole(node.left) and known.is_whole(node.right)
    facts = known.facts.get((known.file.path, node.start, node.end))
    own = TYPES[type(node)](known, node).atoms
    is_float = isinstance(node, s.Binary) or Kind.FLOAT in own
    is_float |= isinstance(node, s.Call) and Kind.NUMBER in own  # it may be an entry of a tensor
    is_float |= isinstance(node, s.Name) and node.variable.is_parameter
    return bool(facts) and set(facts or ()) <= {"int"} and not is_float


def seen_table(known: Inference, node: s.Node, facts: list[str], is_given: bool) -> Table:
    """Return what a run saw of tables that come from elsewhere: of those that the program has made
    the code tells more. ``is_given``: by nets, which give lists for them.
    """
    found = known.seen_tables.get(node)
    if found is None:
        found = known.seen_tables[node] = Table()
    for fact in facts:
        if fact in ("list", "dict", "mixed", "sparse"):
            found.root().keys.add({"list": "list", "dict": "name"}.get(fact, "other"))
        if fact in ("mixed", "sparse") or facts == ["empty"]:
            found.root().uses.add("either")
    made_at = known.facts.get((known.file.path + MADE, node.start, node.end), ())
    for place in () if is_given else made_at:
        made = known.makers.get(place)
        if made is not None and made.shape is not None:
            shape = made.shape.root()
            if shape.klass is None and not shape.is_options:
                found.unify(shape)
    return found


def tested(known: Inference, node: s.Name, own: Type) -> Type:
    """Return what tests leave of a variable's possibilities."""
    for test in known.clues.tests[node]:
        own = _left(known, node, own, test)
    return own


def _left(known: Inference, node: s.Name, own: Type, test: Test) -> Type:
    put = [known.type(value) for value in test.values]
    others = {atom for kind in put for atom in kind.atoms}
    if not test.is_true:
        return own.less(test.kinds - others)
    left = own.atoms & (test.kinds | others)
    if "loaded" in own.classes and not left and node.variable in known.either:
        return own  # nets are tables, too
    if not left and not known.is_told:
        return Type()  # calls may yet tell more
    if test.answer == Kind.TABLE and not left:
        return Type(Kind.TABLE, table=known.tested_tables.setdefault(node.variable, Table()))
    if test.answer == Kind.TENSOR and not left:
        return tensor()
    found = own.without(*own.atoms - left) if left else Type(test.answer)
    if all(kind.is_known for kind in put) and test.answer != Kind.TABLE:
        found.close()
    found.lacking = any(kind.may_be_nil for kind in put)
    return found


def is_tested_list(known: Inference, node: s.Node) -> bool:
    """Return whether an expression asks whether a variable is a table, and only lists will do."""
    found = test_of(node)
    shape = None if found is None else known.tested_tables.get(found[0].variable)
    if found is None or shape is None or found[1] != Kind.TABLE:
        return False
    own = known.of(found[0].variable).shape  # what has become known of it since
    return shape.root().is_list and (own is None or "meta" not in own.uses)


def seen_class(known: Inference, facts: list[str]) -> Class | None:
    """Return the class of the program that all values were of that a run saw."""
    return known.classes.get(facts[0].removeprefix("class ")) if len(facts) == 1 else None


def believed(known: Inference, own: Type, facts: list[str]) -> Type:
    """Return what a run saw, put together with what the code says."""
    if facts == ["nil"] and own.atoms:  # it is there at other times
        return own.joined(Type(Kind.NIL))
    if own.is_lua_s and all(fact == "nil" or fact.startswith("class ") for fact in facts):
        return own
    both = Type()
    both.buffer, both.zero = own.buffer, own.zero
    for fact in facts:
        klass = known.seen_class([fact])
        both.join(_seen_type(fact, own.is_given_by_lua) if klass is None else klass.object)
    if Kind.NUMBER in both.atoms and own.atoms & {Kind.INT, Kind.FLOAT}:
        both.atoms |= own.atoms & {Kind.INT, Kind.FLOAT}
        both.atoms -= {Kind.NUMBER} if Kind.NUMBER not in own.atoms else set()
    if own.shape is not None and Kind.TABLE in both.atoms:
        for fact in facts:
            if fact in ("list", "dict", "mixed", "sparse"):
                kind = {"list": "list", "dict": "name"}.get(fact, "other")
                if kind not in own.shape.keys:
                    own.shape.keys.add(kind)
                    known.changed = True
    both.table = own.table if own.table is not None else both.table
    both.function = own.function
    if Kind.OBJECT in both.atoms | own.atoms or both.only(Kind.FUNCTION):
        both.classes |= own.classes
    if Kind.TABLE in both.atoms and own.atoms & _NO_PLAIN_TABLES:
        if Kind.TABLE not in own.atoms:
            both.atoms.discard(Kind.TABLE)
        both.atoms |= own.atoms & _NO_PLAIN_TABLES
    if own.atoms & {Kind.OBJECT, Kind.CLASS}:
        kept = own.atoms & {Kind.OBJECT, Kind.CLASS, *(both.atoms & {Kind.MODULE})}
        both.atoms = (both.atoms - {Kind.MODULE, Kind.LUA, Kind.OBJECT}) | kept
        # A table with a metatable is an object, too.
        both.open = own.open and "object" in facts and Kind.TABLE in own.atoms
    if own.dtypes == {"Long"} and both.dtypes == {"Double"}:
        both.dtypes = own.dtypes  # a permutation of indices
    if facts == ["object"] and Kind.MODULE in own.atoms:
        return Type(Kind.MODULE)  # of a class of the runtime's that has no name
    is_plain = own.shape is not None and own.shape.klass is None
    if Kind.OBJECT in both.atoms and is_plain and not own.classes:
        both.atoms = (both.atoms - {Kind.OBJECT}) | {Kind.TABLE}
        both.open = own.open and Kind.OPTIONS in own.atoms  # the options, or what asks them
    if Kind.SIZES in both.atoms and Kind.STORAGE in own.atoms:
        both.atoms = (both.atoms - {Kind.SIZES}) | {Kind.STORAGE}
    if Kind.LUA in both.atoms and own.atoms & {Kind.FILE, Kind.MODULE, Kind.POINTER}:
        both.atoms -= {Kind.LUA}
        both.atoms |= own.atoms & {Kind.FILE, Kind.MODULE, Kind.POINTER}
    return both


def was_seen(known: Inference, node: s.Node) -> bool:
    """Return whether a trace reached an expression."""
    return (known.file.path, node.start, node.end) in known.facts


def _seen_type(description: str, is_given_by_lua: bool) -> Type:
    """Return the type that a trace saw: ``tensor Double 2``, ``class nn.Linear``, ``int``,
    ``list`` …
    """
    kind, *more = description.split()
    is_known = kind != "object" and (kind != "class" or registry.provide(more[0]))
    is_known = is_known and not (is_given_by_lua and description.startswith("class tds."))
    if not is_known and (is_given_by_lua or kind == "class"):
        return Type(Kind.LUA)
    if kind == "tensor":
        made = tensor([more[0]], [int(more[1])])
        made.strided = more[2:] == ["strided"]
        return made
    if kind in ("list", "dict", "mixed", "empty", "sparse"):
        return Type(Kind.TABLE)
    if kind in ("int", "float"):
        return Type(Kind.NUMBER)
    if kind == "class":
        made = Type(Kind.MODULE)
        made.classes = {more[0]}
        return made
    is_plain = kind in (*("nil", "boolean", "string", "function", "object", "storage", "sizes"),)
    return Type(Kind(kind) if is_plain else Kind.LUA)
