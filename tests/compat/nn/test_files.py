"""Recorded objects, loaded and saved, are the same to Lua: each is one, and none two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from support.paths import GOLDEN

import compat.nn  # noqa: F401
from compat import t7

FILES = [path for folder in ("nn", "criterion", "composite") for path in GOLDEN.glob(f"{folder}/*")]
Whole = (list, dict, t7.Storage, t7.TorchObject, torch.Tensor)


def parts(value: Any) -> dict[Any, Any]:
    """What is in a table or object, by key."""
    if isinstance(value, t7.TorchObject):
        return value.fields or {}
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else {}


def pairs(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """What lies in the same place in both."""
    stack, seen = [(first, second)], set()
    while stack:
        a, b = stack.pop()
        if not isinstance(a, Whole) or type(a) is not type(b) or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        yield a, b
        stack += [(part, parts(b)[key]) for key, part in parts(a).items() if key in parts(b)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_identities_are_kept(path: Path) -> None:
    before = t7.load(path, raw=True)
    after = t7.loads(t7.dumps(t7.load(path)), raw=True)
    one: dict[int, Any] = {}
    other: dict[int, Any] = {}
    for a, b in pairs(before, after):
        assert one.setdefault(id(a), b) is b, "one has become two"
        assert other.setdefault(id(b), a) is a, f"two have become one: {a}"
        own = [part for part in parts(b).values() if isinstance(part, Whole)]
        known = [part for part in parts(a).values() if isinstance(part, Whole)]
        repeated = len(own) - len(set(map(id, own)))
        assert repeated <= len(known) - len(set(map(id, known))), f"two fields of {a} share a value"
