"""The numbers of values that expressions give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.calls import by_name, called_event
from compat.port.know.form.shapes import is_open
from compat.port.know.scopes import RUN
from compat.port.know.structures import Signature
from compat.port.know.types import Kind
from compat.port.library import function_results, results
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def count(known: Inference, node: s.Node) -> int | None:
    """Return how many values an expression at the end of a list gives; None if that is open."""
    if not is_open(node):
        return 1
    if isinstance(node, s.Vararg):
        return None
    assert isinstance(node, s.Call)
    seen_counts = known.facts.get((known.file.path, -node.start, node.end))
    found = known.known_count(node)
    if found is None and seen_counts and len(seen_counts) == 1:
        return int(seen_counts[0])
    return found


def selected(known: Inference, node: s.Call) -> tuple[s.Call, int] | None:
    """Return the call of ``select(2, f())`` and 2, where that many results or more are known."""
    place = s.constant(node.arguments[0]) if len(node.arguments) == 2 else None
    call = node.arguments[-1]
    if not isinstance(call, s.Call) or not isinstance(place, int) or place < 1:
        return None
    return (call, place) if (count(known, call) or 0) >= place else None


def own_count(known: Inference, name: str, of_layers: bool = False) -> int | None:
    """Return how many values the program's own functions of a name give; None: it has none.

    -1 where they give different numbers, or that is open. ``of_layers``: not those of classes that
    are none.
    """
    found = set(known.clues.own_methods.get(name, ()))
    for klass in known.classes.values() if of_layers else ():
        if name in klass.methods and not klass.is_layer(known.classes):
            found.discard(klass.methods[name].function)
    if not found:
        return None
    counts = {known.signature(function).root().count for function in found}
    count = counts.pop() if len(counts) == 1 else None
    return -1 if count is None else count


def _count_by_name(known: Inference, node: s.Call) -> int | None:
    """Return how many values all functions of a name give, whatever has them."""
    found, is_theirs = by_name(known, node)
    counts = {signature.count for signature in found}
    if not is_theirs:
        is_one = node.method is not None and results.gives_one(node.method)
        counts.add(1 if is_one else None)
    return counts.pop() if len(counts) == 1 else None


def put_instead(known: Inference, path: str) -> list[Signature]:
    """Return the functions that the program puts into a package."""
    found = (
        known.signature(put) if isinstance(put, s.Function) else known.type(put).signature
        for put in known.replaced[path]
    )
    return [signature.root() for signature in found if signature is not None]


def _replaced_count(known: Inference, path: str) -> int | None:
    """Return how many values a function gives that the program puts into a package."""
    counts = {signature.count for signature in known.put_instead(path)}
    if not counts and all(
        (known.dotted(put) or "").startswith("nn.") for put in known.replaced[path]
    ):
        return 1  # one class of nn for another
    return counts.pop() if len(counts) == 1 else None


def known_count(known: Inference, node: s.Call) -> int | None:
    """Return how many values every call gives that stands there; None if that is open."""
    path = None
    if node.method is None:
        path = known.dotted(node.function) or known.of_tensors(node.function)
        path = path or known.class_of_nn(node.function)
    if path in known.replaced:
        return _replaced_count(known, path)
    if path is not None:
        if path in known.classes:
            return 1
        if path in RUN:
            file = known.file_of(node)
            if file is not None:
                return file.gives.count
            numbers = {count for like in known.files_like(node) for count in like.gives.counts}
            return max(numbers) if len(numbers) == 1 and min(numbers) > 0 else None
        if path in ("unpack", "table.unpack") and len(node.arguments) == 1:
            subject = node.arguments[0]
            if isinstance(subject, s.Name) and subject in known.clues.lengths:
                return known.clues.lengths[subject]
            kind = known.owner(subject)
            is_told = known.is_settled and kind.is_list() and kind.shape is not None
            return kind.shape.length if is_told and kind.shape is not None else None
        if path == "select" and (chosen := selected(known, node)) is not None:
            call, place = chosen
            return (count(known, call) or place) - place + 1
        if path in ("pcall", "xpcall", "unpack", "table.unpack", "select", "assert"):
            return None
        if results.passes_with_total(path):
            return 2
        if path == "cutorch.withDevice" and len(node.arguments) > 1:
            signature = known.type(node.arguments[1]).signature
            return None if signature is None else signature.count
        found = function_results.count(path, node)
        if found is not None:
            return found
    if node.method is None:
        callee = known.type(node.function)
        event = called_event(known, callee)
        if event is not None:
            return event.count
        if known.makes_node(callee):
            return results.count_of_object(known.as_of_nn(callee), len(node.arguments))
        if callee.atoms & {Kind.CLASS, Kind.MODULE}:
            return 1
        signature = callee.signature
        if isinstance(node.function, s.Index) and isinstance(s.constant(node.function.key), str):
            owner = known.owner(node.function.object)
            own = known.methods(owner, str(s.constant(node.function.key)))
            if len(own) > 1:  # self.f(), which classes that derive from its own have, too
                counts = {one.count for _, one in own}
                return counts.pop() if len(counts) == 1 else None
        if signature is not None and (signature.nodes or signature.counts or signature.choices):
            return signature.count
        return None if callee.atoms else _count_by_name(known, node)
    owner = known.owner_of_method(node)
    if not owner.atoms:
        return _count_by_name(known, node)
    if owner.is_tensor:
        found = len(known.results(node))
        is_several = bool(node.arguments) or node.method not in ("max", "min")
        return None if found == 1 and node.method in results.SEVERAL and is_several else found
    if results.gives_total(owner, node.method):
        return 2
    if owner.is_string:
        path = f"string.{node.method}"
        is_own = path in known.replaced
        return _replaced_count(known, path) if is_own else function_results.count(path, node)
    if owner.only(Kind.MODULE):
        first = node.arguments[0] if node.arguments else None
        if node.method == "split" and isinstance(first, s.Constant):  # of a node of nngraph's
            return first.value if isinstance(first.value, int) else None
        found, theirs = results.module_count(node.method), known.own_count(node.method, True)
        return found if theirs in (None, found) or owner.classes else None
    if methods := known.methods(owner, node.method):
        counts = {signature.count for _, signature in methods}
        return counts.pop() if len(counts) == 1 else None
    is_layer = any(klass.is_layer(known.classes) for klass in known.classes_of(owner))
    if owner.only(Kind.MODULE, Kind.OBJECT, Kind.NIL) and (is_layer or Kind.MODULE in owner.atoms):
        return results.module_count(str(node.method))
    if owner.shape is not None:
        signature = owner.shape.name(node.method).signature
        if signature is not None and signature.nodes:
            return signature.count
    if owner.only(Kind.FILE, Kind.NIL):
        return len(results.file_method(node))
    if owner.only(Kind.SIZES, Kind.STORAGE):
        return 1
    return None if owner.only(Kind.TABLE, Kind.NIL, Kind.LUA) else _count_by_name(known, node)
