"""Comparison of two printouts, and of two files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from compat.port.check.copies import PLACE

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|-?nan|-?inf")
_AT = re.compile(r"\b([\w-]+)\.(?:lua|py):\d+:")  # where an error is, in Lua and in Python
TOLERANCE = 1e-9
NEAR = 200  # lines that may change places: those of a table


def alike(one: str, other: str, tolerance: float = TOLERANCE) -> bool:
    """Return whether two lines are the same but for the last digits of their numbers."""
    if one == other:
        return True
    one, other = (_AT.sub(r"\1:", line.rstrip()) for line in (one, other))
    if [w.strip() for w in _NUMBER.split(one)] != [w.strip() for w in _NUMBER.split(other)]:
        return False
    return all(
        _near(a, b, tolerance)
        for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    )


def _near(one: str, other: str, tolerance: float) -> bool:
    a, b = float(one), float(other)
    if one == other or (a != a and b != b):
        return True
    digits = len(one.partition(".")[2].partition("e")[0])
    mantissa = one.partition("e")[2]
    unit = 10.0 ** (int(mantissa or 0) - digits) if digits else 0.0
    size = max(abs(a), abs(b))
    # The last of many digits may be rounded another way; one of few is a difference.
    rounded = 1.01 * unit if unit <= 1e-3 * size else 0.0
    return abs(a - b) <= max(tolerance * size, rounded)


def permuted(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the least number of lines after which both have printed the same, in any order; or
    0.
    """
    surplus: Counter[str] = Counter()
    for i, (one, other) in enumerate(zip(a, b, strict=False), 1):
        surplus[one] += 1
        surplus[other] -= 1
        if not any(surplus.values()):
            return i
    return 0


def difference(a: Any, b: Any, place: str, tolerance: float, seen: set[int]) -> str | None:
    """Return where two values of files differ first; ``seen`` holds those that are being
    compared.
    """
    import torch

    if id(a) in seen:
        return None
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{place}: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}"
        a, b = a.double(), b.double()
        largest = a.nan_to_num(0, 0, 0).abs().max().item() if a.numel() else 0.0
        same = torch.allclose(a, b, rtol=1e-6, atol=max(tolerance, 1e-6 * largest), equal_nan=True)
        return None if same else f"{place}: the elements differ"
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        near = a == b or abs(a - b) <= max(1e-6 * abs(a), tolerance) or (a != a and b != b)
        return None if near else f"{place}: {a} and {b}"
    if isinstance(a, (list, dict)) or hasattr(a, "__dict__"):
        seen.add(id(a))
        one, other = _entries(a), _entries(b)
        for key in one:
            if key not in other:
                return f"{place}.{key} is missing in Python's"
            found = difference(one[key], other[key], f"{place}.{key}", tolerance, seen)
            if found is not None:
                return found
        return None
    if isinstance(a, str) and isinstance(b, str):
        same = PLACE.sub("", a) == PLACE.sub("", b)
        return None if same else f"{place}: {a!r} and {b!r}"
    if isinstance(a, (str, bool)) or a is None:
        return None if a == b else f"{place}: {a!r} and {b!r}"
    return None


def _entries(value: Any) -> dict[Any, Any]:
    from compat import nn, t7

    if isinstance(value, t7.TorchObject):
        value = value.fields  # of a class of the program's
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return dict(enumerate(value, 1))
    if isinstance(value, nn.Module):
        names = ("weight", "bias", "modules")
        found = {n: getattr(value, n, None) for n in names}
        return {n: v for n, v in found.items() if v is not None}
    return {}
