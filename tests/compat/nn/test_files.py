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


# The classes whose results lie in the memory of the input or of gradOutput, as Torch7's do: those
# that pass something on, make views of it, or work in place.
PASSING = {
    *(
        "Collapse",
        "ConcatTable",
        "Contiguous",
        "Convert",
        "Copy",
        "FlattenTable",
        "GradientReversal",
    ),
    *(
        "DontCast",
        "Decorator",
        "Identity",
        "L1Penalty",
        "NarrowTable",
        "ParallelTable",
        "PrintSize",
    ),
    *(
        "Replicate",
        "Reshape",
        "SelectTable",
        "SplitTable",
        "Squeeze",
        "Unsqueeze",
        "View",
        "ZeroGrad",
    ),
    *("ZipTable", "ZipTableOneToMany"),
}


def places(value: Any) -> set[int]:
    return {t.untyped_storage().data_ptr() for t in tensors(value) if t.numel()}


@pytest.mark.parametrize(("name", "case"), {n: (n, c) for n, c in case_names("nn")}.values())
def test_results_have_memory_of_their_own(name: str, case: str) -> None:
    recorded = load_case("nn", name, case)
    module = restored(recorded, "module")
    if "gradOutput" not in recorded or name in PASSING or getattr(module, "inplace", False):
        return
    input, gradOutput = transposed(recorded["input"]), transposed(recorded["gradOutput"])
    module.forward(input)
    module.backward(input, gradOutput)
    assert not places(module.output) & places(input)
    assert not places(module.gradInput) & places(gradOutput)
    assert not places(module.output) & places(module.gradInput)
    # Torch7's kernels write into buffers of the right size as if they were contiguous.
    for _, fields in objects(t7.loads(t7.dumps(module), raw=True)):
        for field, value in fields.items():
            if isinstance(value, torch.Tensor) and "eight" not in field and "ias" not in field:
                assert value.is_contiguous(), field


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


@pytest.mark.parametrize(
    "made",
    [
        lambda: nn.Sequential(nn.SpatialBatchNormalization(2), nn.SpatialMaxPooling(2, 2)),
        lambda: nn.Sequential(nn.SpatialMaxPooling(2, 2), nn.SpatialBatchNormalization(2)),
    ],
)
def test_a_file_written_between_forward_and_backward_goes_back(made: Any) -> None:
    net = made()
    input = torch.randn(3, 2, 4, 4)
    gradOutput = torch.randn_like(net.forward(input))
    again = t7.loads(t7.dumps(net))
    net.zeroGradParameters()
    again.zeroGradParameters()
    assert again.backward(input, gradOutput).equal(net.backward(input, gradOutput))
    for found, wanted in zip(again.parameters()[1], net.parameters()[1], strict=True):
        assert found.equal(wanted)
