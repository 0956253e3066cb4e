"""Guesses about variables without assignment: parameters that no call gives, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.port.know.calls import OF_LISTS
from compat.port.know.likeness import alike
from compat.port.know.scopes import Variable
from compat.port.know.shapes import calls, constant, required
from compat.port.know.types import Kind, Table, Type, tensor
from compat.port.library import results, tensors
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

Cause = tuple[Variable | None, str]
OF_PACKAGE: Cause = (None, "package")


def guess(known: Inference) -> bool:
    """Take variables that nothing is known of for what only one thing has methods of."""
    found = _guess_seen(known)
    known.with_methods = set()
    for file in known.files:
        known.file = file
        methods = (call for call in calls(file.block) if call.method is not None)
        known.with_methods |= {_name_of(known, call.function) for call in methods}
    nodes: list[tuple[s.Node, Type]] = []  # that are no variable or field
    for file in known.files:
        known.file = file
        for node in s.walk(file.block):
            for number in _numbers(known, node):
                own = known.stored(number)
                if own is not None and not own.atoms:
                    _take(known, own, Type(Kind.NUMBER))
                    found = True
            for target, kind in _owners(known, node):
                own = known.stored(target)
                if own is None:
                    nodes.append((target, kind))
                    continue
                if known.type(target).atoms <= {Kind.NIL}:
                    _take(known, own, kind)
                    found = True
                elif own.atoms - {Kind.NIL} == kind.atoms:
                    known.guessed.add(own)  # what else it is given is the same
    if found or _guess_loaded(known) or _guess_layers(known) or _guess_alike(known):
        return True
    if _guess_entries(known) or _guess_namesakes(known):
        return True
    guessed = [_guess_node(known, node, kind) for node, kind in nodes]
    return any(guessed)


def _guess_node(known: Inference, node: s.Node, kind: Type) -> bool:
    """Take an entry of what nobody knows, or what a call gives, for what has its method."""
    if known.type(node).atoms or known.dotted(node) is not None:
        return False
    known.guessed_nodes[node] = kind
    return True


def _guess_entries(known: Inference) -> bool:
    """Take the entries of a tensor for numbers, or for tensors, where one of them is used so."""
    told: dict[object, set[Kind]] = {}
    unknown: list[tuple[object, s.Index]] = []
    for file in known.files:
        known.file = file
        for node in s.walk(file.block):
            for tensor_, kind in _parted(known, node):
                told.setdefault(_name_of(known, tensor_), set()).add(kind)
            if not isinstance(node, s.Index) or known.type(node).atoms:
                continue
            if known.owner(node.object).is_tensor and known.type(node.key).is_number:
                unknown.append((_name_of(known, node.object), node))
    found = False
    for name, node in unknown:
        kinds = told.get(name, set())
        if len(kinds) == 1 and node not in known.guessed_nodes:
            known.guessed_nodes[node] = tensor() if Kind.TENSOR in kinds else Type(Kind.NUMBER)
            found = True
    return found


def _name_of(known: Inference, node: s.Node) -> object:
    """Return a key for what an expression names."""
    own = known.stored(node)
    if own is not None:
        return own
    name = s.describe(node)
    return node if "…" in name else (known.file.path, name)


_PASSES = {"forward", "backward", "updateOutput", "updateGradInput", "accGradParameters"}
_ARITHMETIC = {"+", "-", "*", "/", "%", "^", "<", ">", "<=", ">="}
_OF_DIMENSIONS = {"size", "select", "narrow", "stride"}  # which they are given first


def _parted(known: Inference, node: s.Node) -> Iterator[tuple[s.Node, Kind]]:
    """Yield what a node tells has entries that are numbers or tensors, and which of both."""
    parts = list(_numbers(known, node))
    if isinstance(node, s.Binary) and node.operator == "..":
        parts += [node.left, node.right]
    elif isinstance(node, s.Index):
        if isinstance(node.object, s.Index):
            yield node.object.object, Kind.TENSOR
        if known.owner(node.object).only(Kind.TABLE):
            parts.append(node.key)
        if isinstance(node.key, s.Table) and len(node.key.fields) > 1:
            yield node.object, Kind.TENSOR
    elif isinstance(node, s.Call) and node.method is not None:
        first = s.constant(node.arguments[0]) if node.arguments else None
        if node.method in _OF_DIMENSIONS and isinstance(first, int) and first > 1:
            yield node.function, Kind.TENSOR
        kinds = "".join(results.kind_of(known.type(a)) for a in node.arguments)
        is_pass = node.method in _PASSES
        taken = [{"t"}] * len(kinds) if is_pass else tensors.taken(node.method, kinds)
        for part, letters in zip((node.function, *node.arguments), ({"t"}, *taken), strict=False):
            if isinstance(part, s.Index) and letters in ({"t"}, {"n"}):
                yield part.object, Kind.TENSOR if letters == {"t"} else Kind.NUMBER
    for part in parts:
        if isinstance(part, s.Index):
            yield part.object, Kind.NUMBER


def _guess_seen(known: Inference) -> bool:
    """Take variables and fields for what a run saw of them elsewhere."""
    unknown: dict[Type, Type] = {}
    for file in known.files if known.facts else []:
        known.file = file
        for node in s.walk(file.block):
            facts = known.facts.get((file.path, node.start, node.end))
            own = known.stored(node) if facts else None
            if facts is None or own is None or own.atoms:
                continue
            kind = known.believed(Type(), facts)
            if Kind.TABLE in kind.atoms:
                kind.table = known.seen_table(node, facts)
            unknown.setdefault(own, Type()).join(kind)
    found = {own: kind for own, kind in unknown.items() if kind.atoms - {Kind.NIL}}
    for own, kind in found.items():
        _take(known, own, kind)
    return bool(found)


def _owners(known: Inference, node: s.Node) -> Iterator[tuple[s.Node, Type]]:
    """Yield what only one kind of thing has the methods or fields of, and that kind."""
    target: s.Node | None = None
    kind: Type | None = None
    if isinstance(node, s.Call) and node.method is not None:
        target, kind = node.function, known.told_by(node)
        if node.method in ("resizeAs", "expandAs", "viewAs") and len(node.arguments) == 1:
            yield node.arguments[0], tensor()
    elif isinstance(node, s.Call) and node.arguments:
        if known.dotted(node.function) in OF_LISTS:
            yield node.arguments[0], Type(Kind.TABLE, table=Table(uses={"ipairs"}))
    elif isinstance(node, s.Index) and isinstance(node.key, s.Constant):
        target, kind = node.object, results.owner_of_field(node.key.value)
        is_given = isinstance(target, s.Name) and target.variable.is_parameter
        if node.key.value == "new" and is_given:
            kind = tensor()
    if target is not None and kind is not None:
        yield target, kind
    for measured in _measured(known, node):
        # A container has a length, too; what Lua's packages give are tables of Lua's.
        is_list = _name_of(known, measured) not in known.with_methods
        if is_list and not _is_of_lua(known, measured):
            yield measured, Type(Kind.TABLE, table=Table(uses={"ipairs"}))


def _is_of_lua(known: Inference, node: s.Node) -> bool:
    """Return whether a value may come from a package that only the Lua runtime has."""
    part, key = known.cause(node)
    if isinstance(part, s.Name) and part.variable.is_parameter:
        return True  # what calls give is not known
    path = required(part) or known.dotted(part) or ""
    return key == OF_PACKAGE and path.split(".")[0] not in ("torch", "nn", "cudnn", "image")


def _measured(known: Inference, node: s.Node) -> Iterator[s.Node]:
    """Yield what has a length that is a number: no tensor."""
    parts = list(_numbers(known, node))
    if isinstance(node, s.Binary) and node.operator in _ARITHMETIC:
        parts += [node.left, node.right]
    elif isinstance(node, s.Index):
        own = s.describe(node.object)
        last = node.key.operand if isinstance(node.key, s.Unary) else None
        parts += [node.key] if last is not None and s.describe(last) == own != "…" else []
    for part in parts:
        if isinstance(part, s.Unary) and part.operator == "#":
            yield part.operand


def _numbers(known: Inference, node: s.Node) -> Iterator[s.Node]:
    """Yield what stands where Lua and Torch7 take numbers only."""
    if isinstance(node, s.ForRange):
        yield from filter(None, (node.first, node.last, node.step))
    elif isinstance(node, s.Binary) and node.operator in ("<", ">", "<=", ">="):
        if known.type(node.left).is_number:
            yield node.right
        if known.type(node.right).is_number:
            yield node.left
    elif isinstance(node, s.Binary) and node.operator in ("==", "~="):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, s.Constant) and constant(one.value).is_number:
                yield other
    elif isinstance(node, s.Call) and node.method is None:
        path = known.dotted(node.function) or ""
        if path in results.OF_NUMBERS or (
            path.startswith("math.") and path not in ("math.floor", "math.ceil")
        ):
            yield from node.arguments
        elif path == "image.crop":
            yield from node.arguments[1:] if len(node.arguments) == 5 else ()


def _guess_alike(known: Inference) -> bool:
    """Take variables and fields for what alone has all the fields that are used of them."""
    found = alike(known)
    for own, kind in found.items():
        _take(known, own, kind)
    known.namesakes |= {v for v, own in known.variables.items() if own in found and v.is_parameter}
    return bool(found)


def _guess_namesakes(known: Inference) -> bool:
    """Take parameters that no call gives for what all other variables of their name are."""
    alike: dict[str, list[Type]] = {}
    for variable, kind in known.variables.items():
        if kind.is_known and len(kind.atoms - {Kind.NIL}) == 1:
            alike.setdefault(variable.id, []).append(kind)
    found = False
    for variable, kind in list(known.variables.items()):
        others = alike.get(variable.id, [])
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


def cause(known: Inference, node: s.Node) -> tuple[s.Node, Cause]:
    """Return why the type of an expression is not known: the part of the program, and a key.

    A variable is followed to what is put into it; of lists all entries are one.
    """
    left, seen, found = [node], set(), None
    while left:
        part = left.pop()
        name = next((n for n in s.walk(part) if isinstance(n, s.Name)), None)
        variable = None if name is None else name.variable
        path = required(part) or known.dotted(part)
        if path is not None and (part is not name or path.split(".")[0] in known.absent):
            return part, OF_PACKAGE  # which has its own mark
        inner: s.Node | None = None
        if isinstance(part, s.Paren):
            inner = part.inner
        elif isinstance(part, s.Index):
            inner = part.object
        elif isinstance(part, s.Call):
            inner = part.function
        elif isinstance(part, s.Binary):
            unknown = [n for n in (part.left, part.right) if not known.type(n).atoms]
            inner = unknown[0] if unknown else None
        if isinstance(part, s.Name) and part.variable not in seen:
            seen.add(part.variable)
            left += known.sources.get(part.variable, [])
        if inner is not None and (not known.type(inner).atoms or known.dotted(inner)):
            left.append(inner)
            continue
        word = s.constant(part.key) if isinstance(part, s.Index) else None
        kind = type(part).__name__ if not isinstance(word, str) else word
        key: Cause = (variable, kind)
        if key in known.told or found is None:
            found = part, key
    assert found is not None
    return found


def _take(known: Inference, unknown: Type, guess: Type) -> None:
    unknown.join(guess)
    known.guessed.add(unknown)


def _guess_layers(known: Inference) -> bool:
    """Take what layers of the script's are given for tensors."""
    found = False
    for klass in known.classes.values():
        for name in ("updateOutput", "updateGradInput", "accGradParameters", "forward"):
            define = klass.methods.get(name)
            if define is None or not klass.parent:
                continue
            for parameter in define.function.parameters[1:3]:
                kind = known.of(parameter.variable)
                if not kind.atoms:
                    _take(known, kind, tensor())
                    found = True
    return found


def _guess_loaded(known: Inference) -> bool:
    """Take what is loaded from files, and read by name, for tables."""
    found = False
    tables: dict[Type, Table] = {}
    entries: set[Type] = set()  # their methods, if they have any, tell first what they are
    for file in known.files:
        known.file = file
        for node in s.walk(file.block):
            if not isinstance(node, s.Index):
                continue
            kind = known.stored(node.object)
            if kind is None or kind.classes != {"loaded"} or kind in entries:
                continue
            if not kind.atoms:
                tables[kind] = Table(uses={"loaded"})
                _take(known, kind, Type(Kind.TABLE, table=tables[kind]))
                found = True
            if kind in tables:
                is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
                tables[kind].root().keys.add("name" if is_word else "list")
            inner = known.stored(node)
            if inner is not None and not inner.atoms and not inner.classes:
                inner.classes.add("loaded")
                entries.add(inner)
                found = True
    return found
