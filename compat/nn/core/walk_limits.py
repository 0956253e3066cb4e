"""How far a walk through a net would go, found out by visiting each module once.

Torch7's methods call those of the modules inside. A module that lies in several places is met in
each, and what is met may double with every level of a net. Nets that a file describes are looked
over before anybody calls their methods. Those that a program makes are looked over where a walk has
found no end: the error says where.
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
    """Have ``check`` look over a module or criterion when its file has been read."""
    t7.when_read(check, thing)


def check(things: Iterable[Any]) -> None:
    """Ask for what walks through these nets take; a net may lie in another.

    Raises:
        T7Error: one that lies in itself, or too deep, or in too many places.
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
    """Return how many modules a walk through ``net`` comes to; raises T7Error as ``check`` does."""
    known: dict[int, tuple[int, int]] = {}
    _count(net, known, set())
    return known[id(net)][0]


def objection(net: Any) -> str:
    """Return what in ``net`` no walk gets through, and where; empty if nothing is there."""
    try:
        walked(net)
    except t7.T7Error as error:
        return f"{error.path}: {error.found}; {error.expected} is accepted"
    return ""


def tell_ends(cls: type) -> None:
    """Have the ``WALKS`` that ``cls`` defines say what in the net they failed at."""
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
    """Note of everything below ``root`` how many a walk meets, and how many lie in each other."""
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
    """Tell modules of unknown classes which of the modules that they know hold them themselves."""
    for group in cycles(things, _known):
        ids = set(map(id, group))
        for thing in group:
            if hasattr(type(thing), "around"):
                thing.around = [item for item in _known(thing) if id(item) in ids]


def _known(thing: Any) -> list[Any]:
    """Return the modules and criterions that an object leads to, as a field or in tables."""
    held = contents([value for name, value in vars(thing).items() if name != "around"])
    return [item for item in held if isinstance(item, Convertible)]


def _below(thing: Any) -> list[Any]:
    """Return what a walk goes on to from a module or criterion."""
    # Of the class: a field of the file may have the name of a method.
    children = getattr(type(thing), "children", None)
    fields = getattr(thing, "fields", None) or vars(thing)
    held = [fields.get(name) for name in _CRITERIONS] if children is None else children(thing)
    return [item for item in contents(held) if isinstance(item, Convertible)]


def _refused(stack: list[_Open], found: str, expected: str) -> t7.T7Error:
    """Return the error for the last of a stack, with the way to it."""
    error = t7.T7Error(found, expected)
    names = []
    for (thing, below, _), (child, _, _) in pairwise(stack):
        number = next(i for i, other in enumerate(below, 1) if other is child)
        names.append(f"{thing.typename}[{number}]")
    if len(names) > 2 * _SHOWN:
        names[_SHOWN:-_SHOWN] = [f"…{len(names) - 2 * _SHOWN} more…"]
    error.path = " ".join([*names, stack[-1][0].typename])
    return error
