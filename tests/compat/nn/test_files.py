"""Recorded objects, loaded and saved, are the same to Lua: each is one, and none two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from support.nn_golden import case_names, load_case, restored
from support.paths import GOLDEN

from compat import nn, t7
from compat.tensor_tables import map_tensors, tensors

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


def transposed(value: Any) -> Any:
    """The same numbers, which lie in memory in another order."""

    def turned(tensor: torch.Tensor) -> torch.Tensor:
        order = tuple(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order)

    return map_tensors(turned, value)


@pytest.mark.parametrize(("name", "case"), {n: (n, c) for n, c in case_names("nn")}.values())
def test_results_have_memory_of_their_own(name: str, case: str) -> None:
    recorded = load_case("nn", name, case)
    if "gradOutput" not in recorded:
        return
    module = nn.Sequential(nn.Identity(), restored(recorded, "module"), nn.Identity())
    input = transposed(recorded["input"])
    module.forward(input)
    module.backward(input, transposed(recorded["gradOutput"]))
    _ = [(m.output, m.gradInput) for m in module.listModules()]
    written = t7.loads(t7.dumps(module), raw=True)
    storages: dict[int, str] = {}
    for typename, fields in objects(written):
        for field, value in fields.items():
            if isinstance(value, torch.Tensor) and "eight" not in field and "ias" not in field:
                assert value.is_contiguous(), f"{field} of {typename}"
            if field in ("output", "gradInput") and "Criterion" not in typename:
                for tensor in tensors(value):
                    if tensor.numel():
                        place = f"{field} of {typename}"
                        other = storages.setdefault(tensor.untyped_storage().data_ptr(), place)
                        assert other == place, f"{place} lies in {other}"


def objects(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects in what a raw load gives, with their fields."""
    stack, seen = [value], set()
    while stack:
        item = stack.pop()
        if id(item) not in seen and isinstance(item, (t7.TorchObject, list, dict)):
            seen.add(id(item))
            if isinstance(item, t7.TorchObject) and isinstance(item.fields, dict):
                yield item.typename, item.fields
            stack += parts(item).values()
