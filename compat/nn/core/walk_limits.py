"""Find nets that a walk would not get through, by visiting each module once.

Torch7's methods call those of the inner modules. A module in several places is visited in each,
and the number of visits may double with every level of a net. Nets from files are checked before
any of their methods is called. Nets that a program makes are checked after a walk has failed, so
that the error names the place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from compat import t7
from compat.nn.checks.error_place import seen_from
from compat.nn.core.convertible import Convertible
from compat.nn.core.node import cycles
from compat.tensor_tables import contents

DEEPEST = 100
"""How many modules may lie inside each other in a file."""

WALKS = (
    *("parameters", "getParameters", "zeroGradParameters", "updateParameters", "share", "reset"),
    *("apply", "listModules", "findModules", "replace", "training", "evaluate", "clearState"),
    *("type", "clone", "keepResults", "as_autograd", "to_torch", "named_modules", "__repr__"),
)
"""The methods of a module that go through the net below it; passes tell their place by themselves.
"""

_Open = tuple[Any, list[Any], Iterator[Any]]  # a module, what is below it, and what is left of that
_CRITERIONS = ("criterion", "criterions")
_SHOWN = 3  # modules of a place, at either end


def note(thing: Convertible) -> None:
    """Register a module or criterion for ``check``, after its file has been read."""
    t7.when_read(check, thing)


def check(things: Iterable[Any]) -> None:
    """Check that walks through these nets end; one net may be inside another.

    Raises:
        T7Error: a net contains itself, or is too deep, or has modules in too many places.
    """
    things = list(things)
    if any(hasattr(type(thing), "around") for thing in things):
        _tell_what_is_around(things)
    known: dict[int, tuple[int, int]] = {}
    inside: set[int] = set()
    # What was restored last is what the others lie in.
    for thing in reversed(things):
        if id(thing) not in known:
            _count(thing, known, inside)
            try:
                t7.claim(entries=known[id(thing)][0])
            except t7.T7Error as error:
                error.path = thing.typename
                raise


def walked(net: Any) -> int:
    """Return how many modules a walk through ``net`` visits; raise T7Error as ``check`` does."""
    known: dict[int, tuple[int, int]] = {}
    _count(net, known, set())
    return known[id(net)][0]


def objection(net: Any) -> str:
    """Return what in ``net`` no walk gets through, with its place; empty if there is nothing."""
    try:
        walked(net)
    except t7.T7Error as error:
        return f"{error.path}: {error.found}; {error.expected} is accepted"
    return ""


def explain_failures(cls: type) -> None:
    """Wrap the ``WALKS`` methods of ``cls``: if one fails, the error names the place in the net."""
    for name in WALKS:
        method = vars(cls).get(name)
        if callable(method) and not hasattr(method, "__wrapped__"):
            setattr(cls, name, _telling(method))


def _telling(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def walk(net: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(net, *arguments, **named)
        except RecursionError as error:
            seen_from(net, error)
            raise

    return walk


def _count(root: Any, known: dict[int, tuple[int, int]], open_: set[int]) -> None:
    """Count, for everything below ``root``, the visits of a walk and the depth."""
    stack: list[_Open] = []

    def enter(thing: Any) -> None:
        below = _below(thing)
        stack.append((thing, below, iter(below)))
        open_.add(id(thing))

    enter(root)
    while stack:
        thing, below, rest = stack[-1]
        for child in rest:
            if id(child) in open_:
                raise _refused(stack, f"a {child.typename} inside itself", "a net that ends")
            if id(child) not in known:
                enter(child)
                break
        else:
            counts = [known[id(child)] for child in below]
            height = 1 + max((height for _, height in counts), default=0)
            if height > DEEPEST:
                raise _refused(
                    stack, f"more than {DEEPEST} modules in each other", "a net with fewer"
                )
            stack.pop()
            open_.discard(id(thing))
            known[id(thing)] = 1 + sum(count for count, _ in counts), height


def _tell_what_is_around(things: Sequence[Any]) -> None:
    """Tell modules of unknown classes which known modules contain them."""
    for group in cycles(things, _known):
        ids = set(map(id, group))
        for thing in group:
            if hasattr(type(thing), "around"):
                thing.around = [item for item in _known(thing) if id(item) in ids]


def _known(thing: Any) -> list[Any]:
    """Return the modules and criterions in an object's fields and tables."""
    held = contents([value for name, value in vars(thing).items() if name != "around"])
    return [item for item in held if isinstance(item, Convertible)]


def _below(thing: Any) -> list[Any]:
    """Return the objects that a walk visits after a module or criterion."""
    # Of the class: a field of the file may have the name of a method.
    children = getattr(type(thing), "children", None)
    fields = getattr(thing, "fields", None) or vars(thing)
    held = [fields.get(name) for name in _CRITERIONS] if children is None else children(thing)
    return [item for item in contents(held) if isinstance(item, Convertible)]


def _refused(stack: list[_Open], found: str, expected: str) -> t7.T7Error:
    """Return the error for the last entry of a stack, with the path to it."""
    error = t7.T7Error(found, expected)
    names = []
    for (thing, below, _), (child, _, _) in pairwise(stack):
        number = next(i for i, other in enumerate(below, 1) if other is child)
        names.append(f"{thing.typename}[{number}]")
    if len(names) > 2 * _SHOWN:
        names[_SHOWN:-_SHOWN] = [f"…{len(names) - 2 * _SHOWN} more…"]
    error.path = " ".join([*names, stack[-1][0].typename])
    return error
