"""Summarises numbers: statistics and histograms of tensors, curves, tables of records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from compat.viewer.contents import kind, name_of, scalar, sizes

_BARS = 40
_FEW = 8  # elements that are listed
_SAMPLE = 1 << 16  # elements that statistics are made of
_POINTS = 400  # of a curve
_LONGEST = 1 << 20  # elements of a vector that is a curve
_ROWS = 100  # of a table of records
_COLUMNS = 12


def tensor(name: str, value: Tensor) -> dict[str, Any]:
    """Return the description of a tensor: name, type, sizes, memory."""
    about = {"name": name, "kind": kind(value), "sizes": sizes(value)}
    return {**about, "bytes": memory(value)}


def statistics(value: Tensor) -> dict[str, Any] | None:
    """Return statistics of a tensor's elements; None for an empty tensor.

    A small tensor has ``values``. Others have statistics of up to 65,536 elements, evenly spread:
    ``counts`` is a histogram from ``low`` to ``high``; ``odd`` is the number of elements that are
    infinite or NaN.
    """
    if not value.numel() or value.device.type == "meta" or value.is_complex():
        return None
    if value.numel() <= _FEW:
        return {"values": [scalar(item) for item in value.detach().reshape(-1).tolist()]}
    flat = _sample(value.detach()).cpu().double()
    finite = flat[flat.isfinite()]
    told: dict[str, Any] = {"sample": flat.numel(), "odd": flat.numel() - finite.numel()}
    if not finite.numel():
        return told
    low, high = float(finite.min()), float(finite.max())
    told |= {"low": _short(low), "high": _short(high), "mean": _short(float(finite.mean()))}
    told |= {"deviation": _short(float(finite.std(correction=0)))}
    told["zeros"] = int((finite == 0).sum())
    if _is_known(low) and _is_known(high):
        told["counts"] = [int(n) for n in torch.histc(finite, min(_BARS, flat.numel()))]
    return told


def memory(value: Tensor) -> int:
    """Return the bytes of a tensor; an expanded tensor counts the bytes of its storage."""
    return min(value.nbytes, value.untyped_storage().nbytes())


def curve(value: Any) -> dict[str, Any] | None:
    """Return the numbers of a table or vector over their keys; None for other values.

    A long curve keeps the least and the largest number of each stretch.
    """
    if isinstance(value, Tensor):
        fits = value.dim() == 1 and value.is_floating_point() and 2 <= value.numel() <= _LONGEST
        return _thinned(range(1, value.numel() + 1), value.tolist()) if fits else None
    if not isinstance(value, (list, tuple, dict)) or len(value) < 2:
        return None
    keys: Any = value if isinstance(value, dict) else range(1, len(value) + 1)
    numbers = value.values() if isinstance(value, dict) else iter(value)
    pairs = list(zip(keys, numbers, strict=True))
    if not all(_is_number(key) and _is_number(number) for key, number in pairs):
        return None
    pairs.sort(key=lambda pair: pair[0])
    return _thinned(*zip(*pairs, strict=True))


def records(value: Any) -> dict[str, Any] | None:
    """Return a list of tables with the same keys as one table; None for other values."""
    if not isinstance(value, (list, tuple)) or len(value) < 2:
        return None
    rows = list(iter(value))
    first = rows[0]
    if not isinstance(first, dict) or not 1 <= len(first) <= _COLUMNS:
        return None
    plain = (str, int, float)
    for row in rows:
        if not isinstance(row, dict) or row.keys() != first.keys():
            return None
        if not all(isinstance(item, plain) for item in row.values()):
            return None
    columns = {key: [row[key] for row in rows] for key in first}
    axis = next((key for key, column in columns.items() if _counts(column)), None)
    x: Any = range(1, len(rows) + 1) if axis is None else columns[axis]
    curves = {
        key: curve(dict(zip(x, column, strict=True)))
        for key, column in columns.items()
        if key != axis
    }
    return {
        "columns": [name_of(key) for key in columns],
        "rows": [[scalar(row[key]) for key in columns] for row in rows[:_ROWS]],
        "count": len(rows),
        "curves": [{"name": name_of(key), **found} for key, found in curves.items() if found],
    }


def _counts(column: list[Any]) -> bool:
    """Return whether a column holds increasing whole numbers, as epochs are."""
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in column)
    return whole and all(before < after for before, after in pairwise(column))


def _sample(value: Tensor) -> Tensor:
    """Return a sample of a tensor's elements without copying the tensor, which may be huge."""
    step = -(-value.numel() // _SAMPLE) | 1  # odd, so as not to meet one column of a matrix only
    if value.is_contiguous():
        return value.view(-1)[::step]
    places = torch.arange(0, value.numel(), step, device=value.device)
    return value[torch.unravel_index(places, value.shape)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _thinned(x: Any, y: Any) -> dict[str, Any]:
    count = len(y)
    places: Sequence[int] = range(count)
    if count > _POINTS:
        kept = {0, count - 1}
        step = -(-2 * count // _POINTS)
        for start in range(0, count, step):
            known = [i for i in range(start, min(start + step, count)) if _is_known(y[i])]
            if known:
                kept |= {min(known, key=y.__getitem__), max(known, key=y.__getitem__)}
        places = sorted(kept)
    return {
        "x": [_short(x[i]) for i in places],
        "y": [_short(y[i]) for i in places],
        "count": count,
    }


def _short(number: float) -> float | None:
    """Return a number in six digits for JSON; None for infinity and NaN."""
    return float(f"{number:.6g}") if _is_known(number) else None


def _is_known(number: float) -> bool:
    return abs(number) < 1e300
