"""The arguments of calls: all that the last of them stands for, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.form.shapes import is_open
from compat.port.know.structures import Signature
from compat.port.know.types import NUMBERS, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def with_rest(known: Inference, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Return the arguments with all that ``...`` stands for: what calls of the function around
    give it behind its names.
    """
    if not node.arguments or not isinstance(node.arguments[-1], s.Vararg):
        return arguments
    return [*arguments[:-1], *(rest(known, node.arguments[-1]) or [Type()])]


def rest(known: Inference, node: s.Node) -> list[Type]:
    """Return the types of ``...``: what calls of the function around give behind its names; none
    where that is not known, or it is another expression.
    """
    function = known.clues.around.get(node) if isinstance(node, s.Vararg) else None
    around = None if function is None else known.signature(function).root()
    if around is None or around.gets_any or around.is_hook:
        return []
    names = max(len(f.parameters) for f in around.nodes if f.is_vararg)
    rest = [kind.joined(Type()) for kind in around.parameters[names:]]
    for place, kind in enumerate(rest, names):
        kind.lacking |= place >= min(around.calls, default=0)
    return rest


def note_spread(known: Inference, node: s.Call, owner: Type | None) -> None:
    """Note what parameters get of the values behind the first that the last argument gives."""
    last = node.arguments[-1] if node.arguments else None
    if last is None or not is_open(last):
        return
    others = known.all_results(last)[1:] if isinstance(last, s.Call) else []
    called = known.called(node, owner)
    if len({len(f.parameters) for one in called for f in one.nodes}) > 1:
        is_any = isinstance(last, s.Call) and known.count(last) is None
        for signature in called if is_any else ():
            known.changed |= not signature.gets_more
            signature.gets_more = True  # a list is given to functions that take different numbers
    for signature in called:
        takes = max((len(f.parameters) for f in signature.nodes), default=0)
        first = len(node.arguments) + (node.method is not None)
        if any(f.is_vararg for f in signature.nodes):
            takes = first + len(others)
            is_any = known.is_told and known.count(last) is None
            known.changed |= is_any and not signature.gets_any
            signature.gets_any |= is_any
        for i, kind in zip(range(first, takes), others, strict=False):
            known.join(signature.parameter(i), kind)


def with_sizes(known: Inference, node: s.Call, arguments: list[Type]) -> list[Type]:
    """Return the arguments, of which the last may stand for several sizes: ``unpack(sizes)``."""
    last = node.arguments[-1] if node.arguments else None
    may_be_sizes = last is not None and is_open(last) and not arguments[-1].atoms - NUMBERS
    if last is None or not may_be_sizes or known.count(last) == 1:
        return arguments
    count = known.count(last)
    any_number = Type()
    any_number.open = True
    all_sizes = known.all_results(last)[:count] if count else [any_number]
    return [*arguments[:-1], *all_sizes]


def given_to(
    known: Inference, node: s.Call, signature: Signature | None, arguments: list[Type]
) -> list[Type]:
    """Return the arguments with all results of the last, where functions take different numbers."""
    last = node.arguments[-1] if node.arguments else None
    taken = {len(f.parameters) for f in signature.nodes} if signature is not None else set()
    if isinstance(last, s.Vararg) or last is None or not is_open(last):
        return arguments
    gives_back = signature is not None and any(signature.root().origins.values())
    if (len(taken) < 2 and not gives_back) or not known.count(last):
        return arguments
    return [*arguments[:-1], *known.all_results(last)[: known.count(last)]]


def given_away(known: Inference, kinds: list[Type]) -> None:
    """Note functions that are called by nobody knows whom."""
    for signature in (kind.signature for kind in kinds):
        if signature is not None:
            signature.escapes = True
            signature.gets_any |= known.is_told
