"""Functions that only call the functions that they are given: what each call of them gives these.

``function pool:addjob(f, g) g(f()) end``: a ``g`` gets what the ``f`` beside it gives, and nothing
that any other gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.port.know.scopes import Variable
from compat.port.know.structures import Signature
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def given_on(known: Inference, function: s.Function) -> dict[s.Call, Variable]:
    """Return the calls of a function's parameters that give them nothing but what it is given, or
    what they give, and these parameters; those that are used in no other way.
    """
    found = known.given_on.get(function)
    if found is None:
        names = {p.variable for p in function.parameters} - known.clues.sources.keys()
        made = (n for n in s.walk(function.body) if isinstance(n, s.Call) and n.method is None)
        calls = {n: n.function.variable for n in made if isinstance(n.function, s.Name)}
        calls = {n: own for n, own in calls.items() if own in names}
        heads = {call.function for call in calls}
        others = {v for v in names if any(read not in heads for read, _ in v.reads)}
        found = {n: own for n, own in calls.items() if own not in others}
        found = {n: own for n, own in found.items() if all(_is_told(n, names, found))}
        inner = {part for call in found for part in call.arguments}
        is_any = any(isinstance(part, (s.Name, s.Call)) for part in inner)
        known.given_on[function] = found = found if is_any else {}
    return found


def _is_told(call: s.Call, names: set[Variable], calls: dict[s.Call, Variable]) -> Iterator[bool]:
    for part in call.arguments:
        if isinstance(part, s.Call) and part in calls:
            yield from _is_told(part, names, calls)
        else:
            yield isinstance(part, s.Constant) or getattr(part, "variable", None) in names


def give_on(known: Inference, signature: Signature, arguments: list[Type]) -> set[int]:
    """Note what a call of a function gives the functions that it is given; returns the places of
    these.
    """
    nodes = signature.nodes
    calls = given_on(known, nodes[0]) if len(nodes) == 1 else {}
    if not calls:
        return set()
    variables = [p.variable for p in nodes[0].parameters]
    own = dict(zip(variables, arguments, strict=False))
    inner = {part for call in calls for part in call.arguments}
    for call in calls.keys() - inner:
        _given(known, call, own)
    return {i for i, variable in enumerate(variables) if variable in calls.values()}


def _given(known: Inference, call: s.Call, own: dict[Variable, Type]) -> list[Type]:
    """Return what a call gives that is in a function which is given these."""
    signature = _signature(call, own)
    given: list[Type] = []
    for part in call.arguments:
        if isinstance(part, s.Call):
            found = _given(known, part, own)
            is_last = part is call.arguments[-1]
            given += found if is_last else found[:1]
            inner = _signature(part, own)
            if is_last and (inner is None or inner.count is None):
                if not known.is_told:  # it has not been looked at yet
                    return [Type()]
                if signature is not None:
                    signature.gets_any = True
        elif isinstance(part, s.Name):
            given.append(own.get(part.variable, Type(Kind.NIL)))
        else:
            given.append(known.type(part))
    results = known.call(signature, given)
    kept = known.by_site.setdefault(call, [])
    for i, kind in enumerate(results):
        kept += [Type()] * (i >= len(kept))
        known.join(kept[i], kind)
    return results


def _signature(call: s.Call, own: dict[Variable, Type]) -> Signature | None:
    """Return the function that a call means, one of those that are given."""
    kind = own.get(call.function.variable) if isinstance(call.function, s.Name) else None
    return None if kind is None else kind.signature
