"""Telling where in a net an error came from."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Protocol

from compat.checks import prefix, wrong_type
from compat.nn.checks.tensors import UNCLEAR


class Named(Protocol):
    """A module or criterion, which an error can name."""

    typename: ClassVar[str]


class Explaining(Named, Protocol):
    """Something that knows what it accepts."""

    def objection(self, input: Any) -> Exception | None:
        """Return what is wrong with the input of a computation that failed, if that is clear."""


class Origin:
    """The origin of an error, for code that reports it in other words.

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
    if isinstance(error, RecursionError):
        # A place for each of the levels would be longer than anybody reads, and slow.
        seen_from(module, error)
        return
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


class _Depth:
    """The message of a RecursionError that came out of ``net``, made when somebody reads it."""

    def __init__(self, net: Any, said: Any) -> None:
        self.net, self.said = net, said

    def __str__(self) -> str:
        # Of the class: a field of the net may have any name. Criterions have none.
        find = getattr(type(self.net), "endless", None)
        return (find and find(self.net)) or str(self.said)

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)  # errors travel to other processes; nets do not go with them


def seen_from(net: Any, error: RecursionError) -> None:
    """Have ``error`` tell what in ``net`` it failed at; the outermost net counts."""
    said = error.args[0] if error.args else ""
    error.args = (_Depth(net, said.said if isinstance(said, _Depth) else said),)


def explained(error: Exception, module: Explaining, method: str, *arguments: Any) -> Exception:
    """``error``, or a clearer one if something is wrong with the input or gradOutput.

    It arose in ``method`` of ``module``; ``arguments`` begin with these.
    """
    blame(error, module, method, *arguments)
    if not isinstance(error, UNCLEAR) or error.__dict__.get("places"):
        return error
    clearer: Exception | None = None
    if method == "updateOutput":
        clearer = module.objection(arguments[0])
    elif arguments[1:2] == (None,) and "NoneType" in str(error):
        clearer = wrong_type(None, "gradOutput", "a gradient of the form of the output")
    if clearer is None:
        return error
    clearer.__dict__["origin"] = error.__dict__["origin"]
    clearer.__cause__ = error
    locate(clearer, module)
    return clearer


def fail(error: Exception, module: Explaining, method: str, *arguments: Any) -> NoReturn:
    """Raise ``error``, or a clearer one, with the place."""
    error = explained(error, module, method, *arguments)
    locate(error, module)
    try:
        raise error
    finally:
        del error  # its traceback holds this frame, which would keep the net alive
