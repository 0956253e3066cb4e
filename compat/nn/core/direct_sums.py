"""Sums of gradients of parts, which are these parts beside one another.

Autograd gives each part of a tensor a gradient of the size of the whole, zeros elsewhere, and adds
them up. Where the parts are all there is, as those of the gates of a recurrent step are, the sum is
they themselves, side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.direct_writer import LoggedCall
from compat.tensor_tables import tensors

_aten = torch.ops.aten


def without_zeros(
    calls: Sequence[LoggedCall], needed: Sequence[Tensor]
) -> tuple[list[LoggedCall], dict[int, LoggedCall]]:
    """The calls, with parts put side by side where they were padded and added.

    Returns also the calls that are left out, by the identity of their result. ``needed`` are
    results that have to be there whatever else needs them.
    """
    made = {id(c.result): c for c in calls if isinstance(c.result, Tensor)}
    uses = Counter(id(t) for c in calls for value in (c.args, c.kwargs) for t in tensors(value))
    uses.update(map(id, needed))
    inner = {
        id(t)
        for c in calls
        if _is_sum(c)
        for t in c.args
        if uses[id(t)] == 1 and id(t) in made and _is_sum(made[id(t)])
    }
    found: list[LoggedCall] = []
    left_out: dict[int, LoggedCall] = {}
    replaced: dict[int, list[LoggedCall]] = {}
    for call in calls:
        if not _is_sum(call) or id(call.result) in inner:
            continue
        sums, terms = [call, *_sums(call, made, inner)], list(_terms(call, made, inner))
        parts = [made[id(t)] for t in terms if id(t) in made and uses[id(t)] == 1]
        parts = [c for c in parts if c.operator in _PARTS]
        others = [t for t in terms if not any(t is c.result for c in parts)]
        beside = _side_by_side(parts)
        if beside is None:
            continue
        total, steps = beside.result, [beside]
        for other in others:
            result = total + other
            steps.append(LoggedCall(_aten.add.Tensor, (total, other), {}, result))
            total = result
        steps[-1] = steps[-1]._replace(result=call.result)
        replaced[id(call.result)] = steps
        for c in (*sums, *parts):
            left_out[id(c.result)] = c
    for call in calls:
        identity = id(call.result)
        if identity in replaced:
            left_out.pop(identity)
            found += replaced[identity]
        elif identity not in left_out:
            found.append(call)
    return found, left_out


def _is_sum(call: LoggedCall) -> bool:
    alike = call.operator is _aten.add.Tensor and not call.kwargs and len(call.args) == 2
    return alike and all(isinstance(t, Tensor) and t.shape == call.result.shape for t in call.args)


def _sums(call: LoggedCall, made: dict[int, LoggedCall], inner: set[int]) -> Iterator[LoggedCall]:
    """The sums that go into a sum alone."""
    for tensor in call.args:
        if id(tensor) in inner:
            yield made[id(tensor)]
            yield from _sums(made[id(tensor)], made, inner)


def _terms(call: LoggedCall, made: dict[int, LoggedCall], inner: set[int]) -> Iterator[Tensor]:
    for tensor in call.args:
        if id(tensor) in inner:
            yield from _terms(made[id(tensor)], made, inner)
        else:
            yield tensor


def _slice(call: LoggedCall) -> Any:
    _, sizes, dim, start, end, step = call.args
    dim %= len(sizes)
    end = min(end, sizes[dim])
    return (tuple(sizes), dim), start, end if step == 1 and 0 <= start < end else None


def _select(call: LoggedCall) -> Any:
    _, sizes, dim, index = call.args
    dim %= len(sizes)
    return (tuple(sizes), dim), index % sizes[dim], index % sizes[dim] + 1


_PARTS = {
    _aten.slice_backward.default: (_slice, _aten.cat.default),
    _aten.select_backward.default: (_select, _aten.stack.default),
}


def _side_by_side(parts: Sequence[LoggedCall]) -> LoggedCall | None:
    """The call that puts parts beside one another; None where they are not all, or overlap."""
    if len(parts) < 2 or any(c.operator is not parts[0].operator for c in parts):
        return None
    place_of, operator = _PARTS[parts[0].operator]
    places = [(*place_of(c), c.args[0]) for c in parts]
    whole = places[0][0]
    if any(place[0] != whole or place[2] is None for place in places):
        return None
    places.sort(key=lambda place: place[1])
    sizes, dim = whole
    if [place[1] for place in places] + [sizes[dim]] != [0] + [place[2] for place in places]:
        return None
    gradients = [place[3] for place in places]
    return LoggedCall(operator, (gradients, dim), {}, operator(gradients, dim))
