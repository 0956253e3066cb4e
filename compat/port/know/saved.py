"""The contents of the files that the program itself saves, where it loads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from compat.port.know.files import File
from compat.port.know.scopes import Variable
from compat.port.know.structures import Table
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.evidence import Things
    from compat.port.know.inference import Inference

# What a file gives back as it was; numbers may be whole there.
_KEPT = {Kind.BOOLEAN, Kind.INT, Kind.STRING, Kind.TENSOR, Kind.MODULE, Kind.OBJECT, Kind.NIL}
_PLAIN = {Kind.TABLE, Kind.OPTIONS}
_JOINING = {"paths.concat", "path.join", "pl.path.join"}

Saved = tuple[File, s.Node]  # an expression for what is saved, and where it stands


def loads(known: Inference, things: Things) -> Iterator[tuple[s.Node, list[Saved]]]:
    """Yield the calls of ``torch.load``, and what the program saves under such a name; where no
    part of the name is written, the tables with all fields that are read.
    """
    given, saves, asked = _given(known), [], []
    for file, node in _calls(known):
        path = known.dotted(node.function)
        names = set(_names(known, node.arguments[0], given, 4)) if node.arguments else set()
        if path == "torch.load":
            asked.append((node, names))
        elif path == "torch.save" and len(node.arguments) > 1:
            saves.append((names, (file, node.arguments[1])))
    holders = {value: known.of(v) for v, values in known.clues.sources.items() for value in values}
    for node, names in asked:
        found = [v for own, v in saves if any(_meet(a, b) for a in own for b in names)]
        fields = things[holders[node]].fields if holders.get(node) in things else set()
        if not found and len(fields) > 1 and all(name.startswith("<") for name in names):
            found = [v for _, v in saves if fields <= _fields(known, *v)]
        if found:
            yield node, found


def _calls(known: Inference) -> Iterator[tuple[File, s.Call]]:
    for node in known.nodes():
        if isinstance(node, s.Call):
            yield known.file, node


def _fields(known: Inference, file: File, node: s.Node) -> set[str]:
    """Return the names that a table has something under."""
    before, known.file = known.file, file
    shape = known.type(node).shape
    known.file = before
    return {name for name, kind in shape.names.items() if kind.atoms} if shape else set()


def _meet(one: str, other: str) -> bool:
    """Return whether two names may be one, which more than their endings say."""
    if one == other:
        return True
    are_told = all(name.rpartition(".")[0].strip("*") for name in (one, other))
    return are_told and (fnmatchcase(one, other) or fnmatchcase(other, one))


def _given(known: Inference) -> dict[Variable, list[s.Node]]:
    """Return what calls give for parameters."""
    found: dict[Variable, list[s.Node]] = {}
    for _, node in _calls(known):
        functions = [f for called in known.called(node) for f in called.root().nodes]
        for parameters in (f.parameters[node.method is not None :] for f in functions):
            for name, value in zip(parameters, node.arguments, strict=False):
                found.setdefault(name.variable, []).append(value)
    return found


def _names(
    known: Inference, node: s.Node, given: dict[Variable, list[s.Node]], depth: int
) -> Iterator[str]:
    """Yield the last parts of the names that an expression may be, with ``*`` for what is open."""
    values = []
    if isinstance(node, s.Name) and depth:
        values = [*known.clues.sources.get(node.variable, ()), *given.get(node.variable, ())]
    for value in values:
        yield from _names(known, value, given, depth - 1)
    if not values:
        name, shown = os.path.basename(_text(known, node)), s.describe(node)
        if name.strip("*"):
            yield re.sub(r"\*+", "*", name)
        elif isinstance(node, s.Index) and "…" not in shown:
            yield f"<{shown}>"
        else:  # the same variable, or what is put into it
            yield f"<{id(node.variable if isinstance(node, s.Name) else node)}>"


def _text(known: Inference, node: s.Node) -> str:
    """Return a text as far as it is written, with ``*`` for the rest."""
    if isinstance(node, s.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, s.Binary) and node.operator == "..":
        return _text(known, node.left) + _text(known, node.right)
    path = known.dotted(node.function) if isinstance(node, s.Call) and not node.method else None
    if isinstance(node, s.Call) and path in _JOINING:
        return "/".join(_text(known, part) for part in node.arguments)
    if isinstance(node, s.Call) and path == "string.format" and node.arguments:
        return re.sub(r"%[-+ #0-9.]*[a-zA-Z]", "*", _text(known, node.arguments[0]))
    return "*"


def result(known: Inference, values: list[Saved]) -> Type:
    """Return what a call of ``torch.load`` gives, where one of these is saved."""
    made, file, kinds = Type(), known.file, []
    made.classes = {"loaded"}
    for known.file, value in values:
        given = known.type(value)
        kinds.append(_loaded(known, given, set()))
        if given.atoms and not kinds[-1].atoms:  # as a list or a dict, which is not told
            known.file = file
            return made
    known.file = file
    told = [kind for kind in kinds if kind.atoms]
    forms = {(frozenset(kind.atoms), bool(kind.shape and kind.shape.is_list)) for kind in told}
    for kind in kinds if len(forms) == 1 else ():
        made.open |= known.is_settled and not kind.atoms
        made.join(kind)
    if made.atoms & {Kind.TENSOR, Kind.MODULE}:
        made.classes.discard("loaded")  # nothing of it is open
    return made


def _loaded(known: Inference, kind: Type, done: set[Table]) -> Type:
    """Return what is loaded where this is saved: options and objects of no class are tables."""
    if not kind.atoms or kind.open or kind.atoms - _KEPT - _PLAIN - {Kind.FLOAT, Kind.NUMBER}:
        return Type()
    made = Type()
    made.join(kind.without(*kind.atoms - _KEPT))
    made.table, made.buffer = None, False
    if kind.atoms & {Kind.FLOAT, Kind.NUMBER}:
        made.atoms.add(Kind.NUMBER)
    shape = kind.shape
    if shape is None:
        return made if not kind.atoms & _PLAIN else Type()
    if shape.klass is not None:
        made.table = shape
        return made if shape.klass.is_torch and not kind.atoms & _PLAIN else Type()
    is_numbered = shape.is_dict and (shape.keys - {"name", "empty"} or "dynamic" in shape.uses)
    if shape.is_own_meta or (is_numbered and not shape.key.is_string):
        return Type()  # what counts from 1 is loaded as a list
    made.atoms.add(Kind.TABLE)
    made.table = _table(known, shape, done)
    return made


def _table(known: Inference, saved: Table, done: set[Table]) -> Table:
    """Return the tables that are loaded where these are saved."""
    if "loaded" in saved.uses:
        return saved
    made = known.loaded_tables.get(saved)
    if made is None:
        made = known.loaded_tables[saved] = Table(uses={"loaded"})
    if saved.is_list or saved.keys - {"empty"}:  # else what is loaded tells
        made.root().keys.add("list" if saved.is_list else "name")
    if saved not in done:  # it may hold itself
        done.add(saved)
        if "dynamic" in saved.uses:
            made.root().uses.add("dynamic")
        for name, kind in list(saved.names.items()):
            known.join(made.name(name), _loaded(known, kind, done))
        if saved.items.atoms or saved.items.open:  # of fields alone there are no others
            known.join(made.root().items, _loaded(known, saved.items, done))
            known.join(made.root().key, saved.key)
    return made.root()
