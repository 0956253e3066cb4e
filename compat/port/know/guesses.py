"""Guesses: a thing that nothing is known of is what its uses leave, the surest first."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from compat.port.know import saved
from compat.port.know.evidence import TOLD, Thing, Things, is_entry, key, passed, things
from compat.port.know.prototypes import names
from compat.port.know.registry import TYPES
from compat.port.know.scopes import RUN, Variable
from compat.port.know.structures import Table
from compat.port.know.types import NUMBERS, Kind, Type, tensor
from compat.port.library import results
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

# Kinds whose fields are written alike, so that it may be any of them.
_ALIKE = ({Kind.TABLE, Kind.OPTIONS}, {Kind.OBJECT, Kind.CLASS})
_FEWEST = 2  # fields that tell something


def guess(known: Inference) -> bool:
    """Take what nothing is known of for what its places leave; returns whether there is such."""
    found = things(known)
    return any(step(known, found) for step in _STEPS)


def _take(known: Inference, unknown: Type, guess: Type) -> None:
    unknown.join(guess)
    if not (known.is_settled or "loaded" in unknown.classes):
        unknown.dims.discard(-1)  # what else is guessed may yet tell how many
    known.guessed.add(unknown)


def end(known: Inference) -> None:
    """Take the dimensions of tensors for open where not all sources of these tell them."""
    doubted = {
        known.of(variable)
        for variable, given in known.clues.sources.items()
        if any(not known.type(value).atoms for value in given)
    }
    for kind in {*known.guessed, *known.variables.values()}:
        is_told = (kind.dims and kind not in doubted) or kind not in known.guessed
        if Kind.TENSOR in kind.atoms and (kind.open or "loaded" in kind.classes or not is_told):
            kind.dims.add(-1)
            kind.deep = False


def _seen(known: Inference, _things: Things) -> bool:
    """Take variables and fields for what a run saw of them elsewhere."""
    unknown: dict[Type, Type] = {}
    forms: dict[Type, set[bool]] = {}  # whether its tables are lists
    for node in known.nodes() if known.facts else ():
        facts = known.facts.get((known.file.path, node.start, node.end))
        own = known.stored(node) if facts else None
        if facts is None or own is None or own.atoms or TYPES[type(node)](known, node).atoms:
            continue  # it is known, maybe as any entry of its table
        kind = known.believed(Type(), facts)
        if Kind.TABLE in kind.atoms:
            kind.table = table = known.seen_table(node, facts, own.buffer).root()
            forms.setdefault(own, set()).update({table.is_list} if table.keys else ())
        if len(forms.get(own, ())) < 2:  # args[1] and args[2] may be a list and a dict
            unknown.setdefault(own, Type()).join(kind)
    one = {own: kind for own, kind in unknown.items() if len(forms.get(own, ())) < 2}
    found = {own: kind for own, kind in one.items() if kind.atoms - {Kind.NIL}}
    for own, kind in found.items():
        _take(known, own, kind)
    return bool(found)


def _given(known: Inference, things: Things) -> bool:
    """Take parameters for what all their places leave: other variables follow from them."""
    parameters = {v: kind for v, kind in known.variables.items() if v.is_parameter}
    given = {kind for v, kind in parameters.items() if v not in known.clues.sources}
    return _left(known, {k: thing for k, thing in things.items() if thing.own in given})


def _left(known: Inference, things: Things) -> bool:
    """Take variables and fields for what all their places leave."""
    found = False
    for thing in things.values():
        own = thing.own
        kind = thing.kind() if own is not None else None
        if own is None or kind is None or own in known.counting:
            continue
        if own.is_given_by_lua and kind.atoms & {Kind.TABLE, Kind.OBJECT, Kind.MODULE}:
            continue
        if not own.atoms - {Kind.NIL} and not own.is_of_lua:
            if any(isinstance(n, s.Index) and known.type(n).atoms - {Kind.NIL} for n in thing.left):
                continue  # any entry of its table
            _take(known, own, kind)
            found = True
        elif own.atoms - {Kind.NIL} == kind.atoms:
            known.guessed.add(own)  # what else it is given is the same
    return found


def _objects(known: Inference, things: Things) -> bool:
    """Take what a package gives for an object where it has methods that nothing of Torch7's has."""
    found = False
    for thing in things.values():
        own = thing.own
        if own is None or own.atoms - {Kind.NIL} or not own.is_given_by_lua:
            continue
        if any(is_lua_s(known, name) for name in thing.methods):
            _take(known, own, Type(Kind.LUA))
            found = True
    return found


def is_lua_s(known: Inference, name: str) -> bool:
    """Return whether only objects of packages that are Lua's have a method of this name."""
    return not results.is_method(name) and name not in known.clues.own_methods


def _saved(known: Inference, things: Things) -> bool:
    """Take what is loaded for what the program saves."""
    before = len(known.saved)
    known.saved |= dict(saved.loads(known, things)) if known.clues.loads_files else {}
    return len(known.saved) > before


def _loaded(known: Inference, things: Things) -> bool:
    """Take what is loaded from files, and read by name, for tables; not what has the fields of an
    object of the program that a file can hold.
    """
    found = False
    classes = {k.instance.root() for k in known.classes.values() if k.is_torch}
    ours = [has for kind, has in _holders(known) if kind.shape in classes]
    methods = {name for k in known.classes.values() if k.is_torch for name in k.methods}
    tables: dict[Type, Table] = {}
    entries: set[Type] = set()  # their methods, if they have any, tell first what they are
    eithers = _eithers(known)
    for node in known.nodes():
        if not isinstance(node, s.Index):
            continue
        kind = known.stored(node.object)
        if kind is None or kind.classes != {"loaded"} or kind in entries | eithers:
            continue
        names = things[kind].fields if kind in things else set()
        if names and any(names <= has for has in ours):
            continue
        if kind in things and things[kind].methods & methods:  # a file's tables have none
            continue
        added = kind.shape.items.shape if kind.shape is not None else None
        if added is not None and added.made and "loaded" not in added.uses:
            added.unify(Table(uses={"loaded"}))  # those that were there may have less
            found = True
        if not kind.atoms and known.type(node.key).is_string:  # by a number it may be a tensor
            tables[kind] = Table(uses={"loaded"})
            _take(known, kind, Type(Kind.TABLE, table=tables[kind]))
            found = True
        if kind in tables:
            by = known.type(node.key)
            if by.is_string and not isinstance(node.key, s.Constant):
                tables[kind].root().uses.add("dynamic")
            if by.atoms:
                tables[kind].root().keys.add("name" if by.is_string else "list")
        inner = known.stored(node)
        if inner is not None and not inner.atoms and not inner.classes:
            inner.classes.add("loaded")
            entries.add(inner)
            found = True
    return found


def _said(known: Inference, _things: Things) -> bool:
    """Take parameters for what rules of argcheck's say."""
    found = False
    functions = (node for node in known.nodes() if isinstance(node, s.Function) and node.types)
    for parameter, word in [(p, f.types.get(p.id)) for f in functions for p in f.parameters]:
        own = known.of(parameter.variable)
        kind = _named(known, (word or "").rstrip("?"))
        if kind is not None and not own.atoms - {Kind.NIL}:
            kind.lacking = str(word).endswith("?")
            _take(known, own, kind)
            found = True
    return found


def _named(known: Inference, name: str) -> Type | None:
    """Return the type that Torch7 calls so; of tables and functions more has to be known."""
    if name in ("number", "string", "boolean"):
        return Type(Kind(name))
    if re.fullmatch(r"torch\.\*?\w*Tensor", name):
        return tensor()
    klass = known.class_named(name)
    return klass.object if klass is not None else None


def _eithers(known: Inference) -> set[Type]:
    """Return the types of what is loaded, a net or a table with one."""
    return {own for own in map(known.of, known.either) if "loaded" in own.classes}


def _of_run_files(known: Inference) -> set[Type]:
    """Return the types of what ``dofile`` and such give, where no file of the program tells it."""
    return {
        known.of(variable)
        for variable, values in known.clues.sources.items()
        if any(
            isinstance(value, s.Call) and known.dotted(value.function) in RUN for value in values
        )
    }


def _layers(known: Inference, things: Things) -> bool:
    """Take what layers of the script's are given for tensors, or tables where they have fields.

    All methods of a layer get the same input, and a gradient that has the form of its output.
    """
    found = False
    ours = [has for kind, has in _holders(known) if kind.only(Kind.OBJECT)]
    for given, output in passed(known):
        owns = [known.of(variable) for variable in given]
        forms = [kind for kind in [*owns, output] if kind.only(Kind.TABLE)]
        alike = {own: things.get(own, Thing(own)) for own in owns}
        left = [thing.kinds({Kind.TABLE}) for thing in alike.values() if not thing.tested]
        for own, thing in alike.items():
            kinds = thing.kinds({Kind.TENSOR, Kind.TABLE}) if not own.atoms else set()
            if kinds and forms and all(left):
                _take(known, own, Type(Kind.TABLE, table=forms[0].table))
                shape = own.shape
                if shape and "given" in shape.uses and _hold_tensors(known, given, things):
                    known.join(shape.items, tensor())
                found = True
            elif Kind.TENSOR in kinds:
                _take(known, own, tensor())
                found = True
            elif kinds and not any(thing.fields <= has for has in ours):
                _take(known, own, Type(Kind.TABLE, table=Table({"name"}, {"loaded"})))
                found = True
    return found


def _hold_tensors(known: Inference, tables: list[Variable], things: Things) -> bool:
    """Return whether all places leave the entries of tables to be tensors."""
    entries: set[s.Node] = set()
    for variable in tables:
        function = variable.scope.node if variable.scope is not None else None
        inner = s.walk(function.body) if function is not None else ()
        entries |= {n for n in inner if isinstance(n, s.Index) and names(n.object, variable)}
    keys = {key(known, entry) for entry in entries}
    keys |= {known.of(v) for v, values in known.clues.sources.items() if entries & {*values}}
    used = [things[k] for k in keys if k in things]
    return all(Kind.TENSOR in thing.kinds({Kind.TENSOR}) for thing in used)


def _alike(known: Inference, things: Things) -> bool:
    """Take variables and fields for what alone has all the fields and methods that they have."""
    holders = _holders(known)
    found: dict[Type, Type] = {}
    others = _eithers(known) | _of_run_files(known)
    for thing in things.values():
        own, names = thing.own, thing.fields | thing.methods
        if own is None or own.atoms - {Kind.NIL} or own.is_of_lua or own.is_given_by_lua:
            continue
        if len(names) < _FEWEST or all(map(results.is_of_module, names)) or own in others:
            continue
        like = [kind for kind, has in holders if names <= has]
        atoms = {atom for kind in like for atom in kind.atoms}
        if any(atoms and atoms <= kinds for kinds in _ALIKE):
            found[own] = Type()
            for kind in like:
                found[own].join(kind)
    for own, kind in found.items():
        _take(known, own, kind)
    known.namesakes |= {v for v, own in known.variables.items() if own in found and v.is_parameter}
    return bool(found)


def _holders(known: Inference) -> list[tuple[Type, set[str]]]:
    """Return the classes, their objects, tables and options of the program, and what they have."""
    found = []
    for klass in known.classes.values():
        names = set(klass.methods)
        for base in klass.bases(known.classes):
            names |= set(base.methods) | _filled(base.instance)
        found.append((klass.object, names | _filled(klass.instance)))
        if not klass.is_torch:
            found.append((known.class_type(klass), names | _filled(klass.members)))
    shapes = [n.shape.root() for n in known.nodes() if isinstance(n, s.Table) and n.shape]
    for table in {id(shape): shape for shape in shapes}.values():
        if table.klass is None and table.is_dict:
            found.append((Type(Kind.TABLE, table=table), _filled(table)))
    options = known.command_line
    if options is not None:
        found.append((Type(Kind.OPTIONS, table=options), options.root().always | _filled(options)))
    return found


def _filled(table: Table) -> set[str]:
    """Return the names that something is put under."""
    root = table.root()
    return {name for name, kind in root.names.items() if kind.atoms} | root.always


def _entries(known: Inference, things: Things) -> bool:
    """Take the entries of a tensor for numbers, or for tensors; not of one that has one dimension
    at some places, and more at others.
    """
    unknown = [n for n in known.nodes() if is_entry(known, n) and not known.type(n).atoms]
    found = False
    for node in unknown:
        assert isinstance(node, s.Index)
        ranks = known.owner(node.object).ranks
        if 1 in ranks and ranks - {1, -1}:
            continue
        thing = things.get(key(known, node), Thing(None))
        atoms = thing.kinds({Kind.TENSOR, Kind.NUMBER})
        if len(atoms) == 1 and node not in known.guessed_nodes:
            known.guessed_nodes[node] = tensor() if Kind.TENSOR in atoms else Type(Kind.NUMBER)
            found = True
    return found


def _namesakes(known: Inference, things: Things) -> bool:
    """Take parameters that no call gives for what all other variables of their name are, of those
    that have the same fields.
    """
    alike: dict[str, list[Type]] = {}
    for variable, kind in known.variables.items():
        if kind.is_known and len(kind.atoms - {Kind.NIL}) == 1:
            alike.setdefault(variable.id, []).append(kind)
    found = False
    for variable, kind in list(known.variables.items()):
        fields = things.get(kind, Thing(kind)).fields
        others = alike.get(variable.id, [])
        others = [one for one in others if one.shape is None or fields <= _filled(one.shape)]
        if kind.atoms or not variable.is_parameter or not others:
            continue
        atoms = {frozenset(other.atoms - {Kind.NIL}) for other in others}
        shapes = {id(other.shape) for other in others}
        if len(atoms) == 1 and (
            len(shapes) == 1 or not others[0].atoms & {Kind.TABLE, Kind.OBJECT}
        ):
            guess = Type(*others[0].atoms - {Kind.NIL}, table=others[0].table)
            if guess.is_number:  # it may be whole elsewhere alone
                guess.atoms = {Kind.NUMBER}
            for other in others:
                guess.dims |= other.dims
                guess.dtypes |= other.dtypes
                guess.classes |= other.classes
            own = (known.classes.get(name) for name in guess.classes)
            if any(klass is not None and klass.is_layer(known.classes) for klass in own):
                guess.atoms = guess.atoms | {Kind.MODULE}  # one layer is seldom alone
            _take(known, kind, guess)
            known.namesakes.add(variable)
            found = True
    return found


def _keys(known: Inference, things: Things) -> bool:
    """Have tables take keys that can only be tables, which Python's dict does not."""
    found = False
    for node in known.nodes():
        own = known.owner(node.object).shape if isinstance(node, s.Index) else None
        if own is None or not isinstance(node, s.Index) or known.type(node.key).atoms:
            continue
        thing = things.get(key(known, node.key), Thing(None))
        if thing.left and not thing.kinds(TOLD) - {Kind.TABLE, Kind.OBJECT, Kind.MODULE}:
            found |= "meta" not in own.uses
            own.uses.add("meta")
    return found


def _expressions(known: Inference, things: Things) -> bool:
    """Take an entry of what nobody knows, or what a call gives, for what its place leaves."""
    kinds = {n: t.kind(n) for t in things.values() if t.own is None for n in t.left}
    found = False
    for node in known.nodes():
        kind = kinds.get(node)
        if kind is not None and node not in known.guessed_nodes and not known.type(node).atoms:
            known.guessed_nodes[node] = kind
            found = True
        is_tensor = kind is not None and kind.is_tensor and node not in known.clues.followed
        if is_tensor and known.type(node).only(Kind.TENSOR, *NUMBERS):
            known.clues.followed.add(node)
            found |= not known.type(node).is_tensor
    return found


_STEPS: tuple[Callable[[Inference, Things], bool], ...] = (
    _objects, _seen, _said, _saved, _given, _layers, _left, _loaded, _alike, _entries, _namesakes,
    _keys, _expressions,
)  # fmt: skip
