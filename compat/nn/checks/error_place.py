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


class Origin:
    """Where an error came from, for who tells it in other words.

    ``owner`` is the module, criterion or class, ``method`` what it was doing, with ``arguments``;
    ``way``, the containers around it, the innermost first, each with the number of its child there.
    """

    def __init__(self, owner: Any, method: str, arguments: tuple[Any, ...]) -> None:
        self.owner, self.method, self.arguments = owner, method, arguments
        self.way: list[tuple[Any, int]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors travel to other processes; nets do not go with them.
        return type(None), ()


def blame(error: Exception, owner: Any, method: str, *arguments: Any) -> None:
    """Have ``error.origin`` tell where ``error`` came from, if nobody has yet."""
    if error.__dict__.get("origin") is None:
        error.__dict__["origin"] = Origin(owner, method, arguments)


def locate(error: Exception, module: Named, index: int | None = None) -> None:
    """Put the place of ``module`` before the message of ``error``.

    With ``index``, ``module`` is the container and the error came from its child of that number,
    counted from 1: ``nn.Sequential[3] nn.Linear(256 -> 120): input has 400 features``.
    The error stays the same object, of the same class; its ``origin`` knows the container, too.
    """
    blame(error, module, "")
    if index is None:
        if error.__dict__.get("places"):
            return
        head = str(module).splitlines()[0]
        place = f"{module.typename if head.endswith(' {') else head}: "
    else:
        error.__dict__["origin"].way.append((module, index))
        place = f"{module.typename}[{index}] "
    prefix(error, place)


def _way(module: Named, net: Parent | None) -> list[tuple[Named, int]] | None:
    """The containers from ``net`` down to ``module``, each with the number of its child there."""
    if net is None or net is module:
        return []
    for i, child in enumerate(net.children(), 1):
        below = _way(module, child)
        if below is not None:
            return [(net, i), *below]
    return None


def explained(
    error: Exception, module: Explaining, method: str, *arguments: Any, **more: Any
) -> Exception:
    """``error``, or a clearer one if something is wrong with the input, the first of ``arguments``.

    It arose in ``method`` of ``module``. ``more`` are further arguments that may be to blame, by
    name.
    """
    blame(error, module, method, *arguments, *more.values())
    forward = method == "updateOutput"
    if not (forward and isinstance(error, UNCLEAR)) or error.__dict__.get("places"):
        return error
    clearer = module.objection(input=arguments[0], **more)
    if clearer is None:
        return error
    clearer.__dict__["origin"] = error.__dict__["origin"]
    clearer.__cause__ = error
    locate(clearer, module)
    return clearer


def fail(error: Exception, module: Explaining, *others: Any, **arguments: Any) -> NoReturn:
    """Raise ``error`` with its place, or a clearer one if something is wrong with an argument.

    It arose in ``updateOutput`` of ``arguments`` and ``others``, with which nothing is wrong.
    """
    clearer = None
    blame(error, module, "updateOutput", *arguments.values(), *others)
    try:
        if isinstance(error, UNCLEAR) and not error.__dict__.get("places"):
            clearer = module.objection(**arguments)
        if clearer is not None:
            clearer.__dict__["origin"] = error.__dict__["origin"]
            locate(clearer, module)
            raise clearer from error
        locate(error, module)
        raise error
    finally:
        # An error that refers to this frame, which refers to it, would keep the net alive.
        del error, clearer
