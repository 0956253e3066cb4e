"""Telling where in a net an error came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Protocol

from compat.checks import prefix
from compat.nn.checks.tensors import UNCLEAR


class Named(Protocol):
    """What can be told in an error: a module, a criterion."""

    typename: ClassVar[str]


class Explaining(Named, Protocol):
    """Something that knows what it accepts."""

    def objection(self, **arguments: Any) -> Exception | None:
        """What is wrong with the arguments of a computation that failed, if that is clear."""


class Parent(Named, Protocol):
    """Something in a tree of modules."""

    def children(self) -> Sequence[Any]:
        """What is directly below."""


def locate(error: Exception, module: Named, index: int | None = None) -> None:
    """Put the place of ``module`` before the message of ``error``.

    With ``index``, ``module`` is the container and the error came from its child of that number,
    counted from 1: ``nn.Sequential[3] nn.Linear(256 -> 120): input has 400 features``.
    The error stays the same object, of the same class.
    """
    if index is None:
        if error.__dict__.get("places"):
            return
        head = str(module).splitlines()[0]
        place = f"{module.typename if head.endswith(' {') else head}: "
    else:
        place = f"{module.typename}[{index}] "
    prefix(error, place)


def locate_within(error: Exception, module: Named, net: Parent | None) -> None:
    """``locate``, with the way from ``net`` down to ``module``."""
    locate(error, module)
    for container, index in reversed(_way(module, net) or []):
        locate(error, container, index)


def _way(module: Named, net: Parent | None) -> list[tuple[Named, int]] | None:
    """The containers from ``net`` down to ``module``, each with the number of its child there."""
    if net is None or net is module:
        return []
    for i, child in enumerate(net.children(), 1):
        below = _way(module, child)
        if below is not None:
            return [(net, i), *below]
    return None


def fail(error: Exception, module: Explaining, **arguments: Any) -> NoReturn:
    """Raise ``error`` with its place, or a clearer one if something is wrong with an argument."""
    clearer = None
    try:
        if isinstance(error, UNCLEAR) and not error.__dict__.get("places"):
            clearer = module.objection(**arguments)
        if clearer is not None:
            locate(clearer, module)
            raise clearer from error
        locate(error, module)
        raise error
    finally:
        # An error that refers to this frame, which refers to it, would keep the net alive.
        del error, clearer
