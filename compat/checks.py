"""Is an argument right? Checks for both packages; errors read "`x` is …; … is accepted"."""

from __future__ import annotations

from collections.abc import Collection
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Late where it is used: the checks of options need no PyTorch.
    from torch import Tensor


def given(value: Any, counted: bool = False) -> str:
    """Return what errors call an argument that is not accepted; ``counted``, with its entries."""
    if value is None:
        return "None"
    size = f" of {len(value)}" if counted and isinstance(value, (list, tuple, dict)) else ""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}{size}"


def shown(value: Any) -> str:
    """Return a value as Python writes it, or its type where that takes several lines."""
    text = repr(value)
    return given(value) if "\n" in text else text


def listed(values: Collection[Any], last: str = "or") -> str:
    """``1, 2 or 3``."""
    *first, end = map(str, values or ["none"])
    return f"{', '.join(first)} {last} {end}" if first else end


def wrong_type(value: Any, name: str, accepted: str) -> TypeError:
    """Return the error for an argument of another type than ``accepted``, such as "a tensor"."""
    return TypeError(f"{name} is {given(value)}; {accepted} is accepted")


def check_tensor(value: Any, name: str = "input") -> Tensor:
    """Refuse what is no tensor."""
    from torch import Tensor

    if not isinstance(value, Tensor):
        raise wrong_type(value, name, "a tensor")
    return value


def check_floating(value: Any, name: str) -> None:
    """Refuse what is no tensor of a floating point type."""
    if not check_tensor(value, name).is_floating_point():
        raise TypeError(f"{name} is {value.dtype}; a floating point tensor is accepted")


def check_some(values: Collection[Any], name: str, entry: str) -> None:
    """Refuse an empty list of what is called ``entry``."""
    if not len(values):
        raise ValueError(f"{name} is empty; at least one {entry} is accepted")


def check_choice(value: Any, name: str, accepted: Collection[Any]) -> None:
    """Refuse what is not among ``accepted``."""
    if value not in accepted:
        raise ValueError(f"{name} is {value!r}; {listed([repr(a) for a in accepted])} is accepted")


def whole(value: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """Check an argument that is a whole number, from ``least`` to ``most``."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} is {shown(value)}; a whole number is accepted")
    if (least is not None and value < least) or (most is not None and value > most):
        limit = "on" if most is None else f"to {most}"
        raise ValueError(f"{name} is {value}; a whole number from {least} {limit} is accepted")
    return value


def whole_or_none(value: Any, name: str, least: int | None = None) -> int | None:
    """``whole`` of an argument that may be missing."""
    return None if value is None else whole(value, name, least)


def number(value: Any, name: str) -> float:
    """Check an argument that is a plain number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; a number is accepted")
    return value


def number_or_none(value: float | None, name: str) -> float | None:
    """``number`` of an argument that may be missing."""
    return None if value is None else number(value, name)


def check_number(value: object, name: str) -> None:
    """Refuse what is no number, of Python, numpy or in a tensor without dimensions."""
    # Plain ones first: to find out about Real takes longer.
    if isinstance(value, (int, float, Real)):
        return
    from torch import Tensor

    if not (isinstance(value, Tensor) and value.dim() == 0):
        raise TypeError(f"{name} is {value!r}; a number is accepted")


def checked_scale(scale: Any) -> Any:
    """``scale``, 1 where it is None, as Lua passes what is left out."""
    if scale is None:
        return 1
    check_number(scale, "scale")
    return scale


def flag(value: bool | None, name: str = "ip") -> bool:
    """Check an argument that is True or False; None is False, as in Lua."""
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; True or False is accepted")
    return bool(value)


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
