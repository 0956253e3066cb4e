"""The values that statements put into variables, fields and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.port.know import calls, optional_results
from compat.port.know.entries import any_entry
from compat.port.know.form.shapes import captures, is_open, is_self, may_end
from compat.port.know.prototypes import copies
from compat.port.know.registry import EFFECTS, statement
from compat.port.know.scopes import SETTING
from compat.port.know.structures import Origin, Signature
from compat.port.know.types import FROM_LUA, Kind, Type, of_lua, tensor
from compat.port.library.results import KEEPING, METHODS, read_kinds
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def block(known: Inference, node: s.Block) -> None:
    """Note what the statements of a block do."""
    for part in node.statements:
        _statement(known, part)


def _statement(known: Inference, node: s.Statement) -> None:
    effect = EFFECTS.get(type(node))
    if effect is not None:
        effect(known, node)
    if node not in known.parts:
        known.parts[node] = [*_parts(node)]
    if isinstance(node, s.ForEach) and _is_of_nothing(known, node):
        return
    for part in known.parts[node]:
        if isinstance(part, s.Block):
            known.block(part)
        else:
            _body(known, part)


def _is_of_nothing(known: Inference, node: s.ForEach) -> bool:
    """Return whether a loop goes through what is never there, as an optional argument that no call
    gives: what it does is never done.
    """
    call = node.values[0]
    if not isinstance(call, s.Call) or known.dotted(call.function) not in ("ipairs", "pairs"):
        return False
    return bool(call.arguments) and known.type(call.arguments[0]).only(Kind.NIL)


@statement(s.Local)
def _local(known: Inference, node: s.Local) -> None:
    for name, kind in zip(node.names, _spread(known, node.values, len(node.names)), strict=False):
        known.join(known.of(name.variable), kind)


@statement(s.Assign)
def _assigned(known: Inference, node: s.Assign) -> None:
    kinds = _spread(known, node.values, len(node.targets))
    for i, (target, kind) in enumerate(zip(node.targets, kinds, strict=False)):
        value = node.values[i] if i < len(node.values) else s.Constant(None)
        if not _keeps_kind(target, value):
            if kind.only(Kind.NIL) and not isinstance(value, s.Constant):
                kind = kind.without()
                kind.lacking = True
            _assign(known, target, kind)
        if isinstance(target, s.Index) and isinstance(
            node.values[min(i, len(node.values) - 1)], s.Index
        ):
            _note_owner(known, known.type(target.object), target.key, kind)


def _keeps_kind(target: s.Node, value: s.Node) -> bool:
    """Return whether an entry gets another value of its kind or stays:
    ``opt[k] = os.getenv(k) or opt[k]``.
    """
    while isinstance(value, s.Binary) and value.operator == "or":
        value = value.right
    if isinstance(value, s.Call) and s.describe(value.function) == SETTING:
        value = value.arguments[1]
    own = s.describe(target)
    return isinstance(target, s.Index) and own == s.describe(value) != "…" and "…" not in own


@statement(s.Define)
def _define(known: Inference, node: s.Define) -> None:
    signature = known.signature(node.function)
    _assign(known, node.target, Type(Kind.FUNCTION, function=signature))
    if node.is_method and isinstance(node.target, s.Index):
        owner = known.type(node.target.object)
        if owner.shape is not None and owner.shape.klass is None:
            known.join(signature.parameter(0), owner)
        path = known.dotted(node.target.object) or ""
        if path.startswith("torch.") and path.endswith("Tensor"):
            known.join(signature.parameter(0), tensor([path[6:-6]] if path[6:-6] else []))


@statement(s.Do)
def _do(known: Inference, node: s.Do) -> None:
    known.all_results(node.call)


@statement(s.If)
def _if(known: Inference, node: s.If) -> None:
    for condition, _ in node.clauses:
        if condition is not None:
            known.type(condition)


@statement(s.While)
@statement(s.Repeat)
def _loop(known: Inference, node: s.While | s.Repeat) -> None:
    known.type(node.condition)


@statement(s.ForRange)
def _for_range(known: Inference, node: s.ForRange) -> None:
    first = known.type(node.first)
    known.type(node.last)
    step = known.type(node.step) if node.step is not None else Type(Kind.INT)
    if not (first.atoms and step.atoms) and not known.is_settled:
        known.counting.add(known.of(node.name.variable))
        return
    is_int = first.is_int and step.is_int
    signed = (p.operand if isinstance(p, s.Unary) else p for p in (node.first, node.step))
    numbers = [n for n in map(s.constant, signed) if isinstance(n, float)]
    is_part = any(number % 1 for number in numbers)  # -0.5
    own = Type(Kind.INT if is_int else Kind.FLOAT if is_part else Kind.NUMBER)
    own.zero = first.zero or s.is_negative(node.first)
    known.join(known.of(node.name.variable), own)


@statement(s.ForEach)
def _for_each(known: Inference, node: s.ForEach) -> None:
    for source, target in copies(known, node):
        given, own = known.type(source), known.type(target)
        if given.shape is None or own.shape is None:
            continue
        name, value = (name.variable for name in node.names)
        known.copied |= {value} if len(value.reads) == 1 else set()
        if given.shape.keys == {"name"} and not given.shape.has_unknown_names:
            known.copied.add(name)
        for word in list(given.shape.names):
            field = s.Constant(word)
            kind = known.entry(given, given.shape, field)
            known.store(own.shape, field, kind)
            _note_owner(known, own, field, kind)
    for each, kind in zip(node.names, known.loop_types(node), strict=False):
        known.join(known.of(each.variable), kind)


def _parts(node: s.Node) -> Iterator[s.Block | s.Function]:
    """Yield the blocks and functions below a node that are in no other."""
    for child in node.children():
        if isinstance(child, (s.Block, s.Function)):
            yield child
        else:
            yield from _parts(child)


def _body(known: Inference, node: s.Function) -> None:
    signature = known.signature(node).root()
    for i, name in enumerate(node.parameters):
        given = signature.parameter(i)
        if given.atoms or given.open or given.classes:  # else no call in the program gives it
            known.join(known.of(name.variable), given)
    counts: set[int] = set()
    known.returns.append((signature, counts))
    known.block(node.body)
    known.returns.pop()
    if may_end(node.body) or not counts:
        counts.add(0)
    known.changed |= counts != signature.by_node.get(node)
    signature.by_node[node] = counts
    if -1 not in signature.counts:
        for i in range(min(signature.counts), len(signature.results)):
            _note_result(known, signature, i, Type(Kind.NIL))


@statement(s.Return)
def _return(known: Inference, node: s.Return) -> None:
    signature, counts = known.returns[-1][0].root(), known.returns[-1][1]
    is_own = False
    kinds = [known.type(v) for v in node.values[:-1]]
    count: int | None = len(node.values)
    if node.values:
        last = node.values[-1]
        kinds += known.all_results(last)
        if is_open(last):
            if signature.spreads:
                known.spread_out(last)
            is_own = isinstance(last, s.Call) and known.called(last) == [signature]
            extra = known.count(last)
            count = None if extra is None else len(node.values) - 1 + extra
    if not is_own:  # else it gives what the others give
        counts.add(-1 if count is None else count)
    for i, kind in enumerate(kinds):
        value = node.values[i] if i < len(node.values) else None
        if not optional_results.note(known, signature, node, i, kind):
            _note_result(known, signature, i, kind, value)


def _note_result(
    known: Inference, signature: Signature, i: int, kind: Type, value: s.Node | None = None
) -> None:
    """Note what a result of a function is: which parameters it may be, and what else."""
    known.join(signature.result(i), kind)
    nodes = signature.nodes
    parts = list(_origins(known, value, nodes[0])) if len(nodes) == 1 and value else []
    places = {part for part in parts if isinstance(part, tuple)}
    known.changed |= not places <= signature.origins[i]
    signature.origins[i] |= places
    others = [known.type(part) for part in parts if isinstance(part, s.Node)] if places else [kind]
    for other in others:
        known.join(signature.other[i], other)


def _origins(known: Inference, node: s.Node, function: s.Function) -> Iterator[Origin | s.Node]:
    """Yield what a value may be: a function's parameters by their places, their entries under the
    names that others have, and expressions.
    """
    places = {p.variable: i for i, p in enumerate(function.parameters)}
    waiting, seen = [node], set()
    while waiting:
        part = waiting.pop()
        variable = part.variable if isinstance(part, s.Name) else None
        own = known.clues.sources.get(variable, []) if variable is not None else []
        if variable is not None and variable in seen:
            continue
        kept = as_kept(part)
        if variable in places:
            yield places[variable], None
        elif isinstance(part, s.Call) and isinstance(kept, s.Name) and kept.variable in places:
            yield places[kept.variable], part
        elif (chosen := _chosen(part)) is not None:
            waiting += chosen
        elif isinstance(part, s.Index):
            table, key = (
                places.get(n.variable) if isinstance(n, s.Name) else None
                for n in (part.object, part.key)
            )
            yield part if table is None or key is None else (table, key)
        elif variable is None or variable.is_global or len(own) != len(variable.writes):
            yield part
            continue
        seen.add(variable)
        waiting += own


def as_kept(node: s.Node) -> s.Node:
    """Return what methods are called of that give the same in another type, or a copy."""
    while isinstance(node, s.Call) and node.method in KEEPING:
        node = node.function
    return node


def _chosen(node: s.Node) -> list[s.Node] | None:
    """Return the two values of ``condition and value or other``, of which the first is there."""
    if not isinstance(node, s.Binary) or node.operator != "or":
        return None
    left = node.left
    if not isinstance(left, s.Binary) or left.operator != "and":
        return None
    is_there = as_kept(left.right) is not left.right
    return [left.right, node.right] if is_there else None


def _spread(known: Inference, values: list[s.Node], count: int) -> list[Type]:
    """Return the types of the first ``count`` values of a list of expressions."""
    kinds = [known.type(v) for v in values[:-1]]
    if values:
        last = values[-1]
        kinds += known.all_results(last) if is_open(last) else [known.type(last)]
        if is_open(last) and kinds[-1].is_given_by_lua and not kinds[-1].atoms:
            kinds += [of_lua(FROM_LUA)] * (count - len(kinds))
        first = len(values) - 1
        if not kinds[first].atoms:  # a run may have seen it
            seen = known.type(last)
            kinds[first] = seen if seen.atoms - {Kind.NIL} else kinds[first]
    is_known = not values or not is_open(values[-1])
    if known.is_settled and not is_known:
        is_known = known.count(values[-1]) is not None
    kinds += [Type(Kind.NIL) if is_known else Type() for _ in range(count - len(kinds))]
    for kind in kinds[len(values) :] if values and isinstance(values[-1], s.Vararg) else ():
        kind.lacking = True
    return kinds


def _assign(known: Inference, target: s.Node, kind: Type) -> None:
    if isinstance(target, s.Name):
        known.join(known.of(target.variable), kind)
        return
    assert isinstance(target, s.Index)
    owner = known.type(target.object)
    is_of_tables = known.is_settled and owner.present.only(Kind.TABLE)
    if isinstance(target.key, s.Table) and not is_of_tables:
        return  # a part of a tensor
    if owner.shape is not None:
        known.store(owner.shape, target.key, kind)
    elif owner.present.only(Kind.MODULE) and isinstance(name := s.constant(target.key), str):
        if name not in METHODS:
            known.join(known.own_fields.name(name), kind)
        elif kind.signature:
            kind.signature.root().is_hook = True


def _note_owner(known: Inference, owner: Type, key: s.Node, kind: Type) -> None:
    """Note a method, from elsewhere, in a field of an object: calls give it the object."""
    nodes = kind.signature.root().nodes if kind.signature is not None else []
    if Kind.OBJECT in owner.atoms and nodes and all(map(is_self, nodes)):
        known.changed |= s.constant(key) not in known.given_owner
        known.given_owner.add(s.constant(key))


def loop_types(known: Inference, node: s.ForEach) -> list[Type]:
    """Return the types of the names of ``for … in``."""
    call = node.values[0]
    if isinstance(call, s.Call) and len(node.values) == 1:
        path = known.dotted(call.function) if call.method is None else None
        if path in ("ipairs", "pairs") and call.arguments:
            kind = known.type(call.arguments[0])
            shape = kind.shape
            if kind.only(Kind.SIZES):
                return [Type(Kind.INT), Type(Kind.INT)]
            if shape is None:
                return [Type(Kind.INT) if path == "ipairs" else Type(), Type()]
            shape.uses.add(path)
            if path == "ipairs":
                return [Type(Kind.INT), shape.items]
            key, value = Type(), Type()
            key.join(shape.key)
            if not known.copied & {name.variable for name in node.names[1:]}:
                above = shape.klass.line(known.classes) if shape.klass is not None else ()
                for part in (shape, *(k.instance for k in above if k is not shape.klass)):
                    value.join(any_entry(part))
            if shape.names:
                key.join(Type(Kind.STRING))
            if shape.keys & {"next", "list"} or "append" in shape.uses:
                key.join(Type(Kind.INT))
            return [key, value]
        if path == "string.gmatch" or call.method == "gmatch":
            is_known = isinstance(s.constant(call.arguments[-1]), str)
            count = captures(call.arguments[-1]) if is_known else len(node.names)
            return [Type(Kind.STRING if i < count else Kind.NIL) for i in range(len(node.names))]
        if call.method == "lines" or path == "io.lines":
            read = read_kinds(call.arguments[path == "io.lines" :])
            return [Type(kind, *(Kind.NIL,) * (i > 0)) for i, kind in enumerate(read)]
        if path in ("paths.files", "paths.iterfiles", "paths.iterdirs", "paths.dir", "lfs.dir"):
            return [Type(Kind.STRING)]
    kinds = _spread(known, node.values, 3)
    step, given = kinds[0].signature, kinds[1:3]
    if step is None:
        step, given = calls.called_event(known, kinds[0]), [kinds[0], *given]
    if step is not None:
        found = known.call(step, given)
        names = found[: len(node.names)] + [Type() for _ in node.names[len(found) :]]
        return [kind.without(Kind.NIL) if i == 0 else kind for i, kind in enumerate(names)]
    return [Type() for _ in node.names]
