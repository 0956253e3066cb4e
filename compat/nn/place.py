"""Telling where in a net an error came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compat.nn.typed import Typed


def locate(error: Exception, module: Typed, index: int | None = None) -> None:
    """Put the place of ``module`` before the message of ``error``.

    With ``index``, ``module`` is the container and the error came from its child of that number,
    counted from 1: ``nn.Sequential[3] nn.Linear(256 -> 120): input has 400 features``.
    The error stays the same object, of the same class.
    """
    if index is None:
        if error.__dict__.get("places"):
            return
        place = f"{str(module).splitlines()[0].removesuffix(' {')}: "
    else:
        place = f"{module.typename}[{index}] "
    prefix(error, place)


def prefix(error: BaseException, place: str) -> None:
    """Put ``place`` before the message of ``error``, which stays the same object."""
    places: list[str] = error.__dict__.setdefault("places", [])
    places.insert(0, place)
    if len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (place + error.args[0],)
        if isinstance(error, ImportError):
            error.msg = error.args[0]  # what it prints
    elif hasattr(error, "add_note"):
        error.add_note(f"in {''.join(places)}")
