"""Every Torch7 module does in three replicas, with an uneven batch, what it does alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.nn_golden import assert_close, case_names, copied, is_nothing, load_case, restored
from torch import Tensor

from compat import nn
from compat.tensor_tables import map_tensors, tensors
from dptable import DataParallelTable

ROWS, SLICES = 7, ((0, 3), (3, 5), (5, 7))

CASES: dict[str, list[str]] = {}
for _name, _case in case_names("nn"):
    CASES.setdefault(_name, []).append(_case)

# {class: why a batch of it cannot be split}
WHOLE = {
    "CriterionTable": "its output is a number",
    "Index": "its indices name rows of the whole batch",
    "IndexLinear": "its tables have an entry per sample, not a dimension",
    "Kmeans": "it moves its centers by the mean over the batch",
    "LayerNormalization": "as in Torch7, the means that it subtracts are those of other samples",
    "MaskedSelect": "its output has no batch",
    "Parallel": "the recorded ones join their outputs along the batch",
    "SpatialFractionalMaxPooling": "it draws its regions",
}


pytestmark = [pytest.mark.devices(3), pytest.mark.usefixtures("double_by_default")]


def repeated(tensor: Tensor) -> Tensor:
    """The samples of a batch over and over."""
    copies = [math.ceil(ROWS / tensor.size(0)), *[1] * (tensor.dim() - 1)]
    return tensor.repeat(copies)[:ROWS].contiguous()


def stacked(tensor: Tensor) -> Tensor:
    """One sample over and over."""
    return torch.stack([tensor] * ROWS)


def ready(case: dict[str, Any]) -> Any:
    module = restored(case, "module").clone()
    if isinstance(module, nn.MapTable):
        module.resize(len(case["input"]))  # clones made later know nothing of the replicas
    return module.evaluate() if case["mode"] == "evaluate" else module.training()


def joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], Tensor):
        return torch.cat(parts)
    return [joined(list(entries)) for entries in zip(*parts, strict=True)]


def same(value: Any, other: Any) -> bool:
    try:
        assert_close(value, other, 1e-9, "output")
    except AssertionError:
        return False
    return True


def splits(case: dict[str, Any], input: Any) -> bool:
    """Whether the module does the same to a batch as to its parts."""
    if "float" in case["name"] or not all(t.dim() for t in tensors(input)):
        return False
    try:
        whole = copied(ready(case).forward(copied(input)))
        module = ready(case)
        parts = [
            copied(module.forward(map_tensors(lambda t, a=a, b=b: t[a:b].clone(), input)))
            for a, b in SLICES
        ]
        rows = {t.size(0) if t.dim() else 1 for t in tensors(whole)}
        return rows == {ROWS} and same(joined(parts), whole)
    except (ValueError, TypeError, RuntimeError, IndexError):
        # A sample where a batch is expected, or the other way round.
        return False


def batches(name: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """The recorded cases of a class that can be split, each with a batch."""
    for case_name in CASES[name]:
        case = {**load_case("nn", name, case_name), "class": name}
        for enlarge in (repeated, stacked):
            if all(isinstance(t, Tensor) and t.dim() for t in tensors(case["input"])):
                input = map_tensors(enlarge, case["input"])
                if splits(case, input):
                    yield case, input
                    break


@pytest.mark.parametrize("name", sorted(set(CASES) - set(WHOLE)))
def test_replicas_do_what_the_module_does(name: str) -> None:
    tried = 0
    for case, input in batches(name):
        if case["name"] == "size_average" and name == "L1Penalty":
            continue  # its penalty is a mean over the batch
        module, dpt = ready(case), DataParallelTable(1).add(ready(case), [1, 2, 3])
        dpt.evaluate() if case["mode"] == "evaluate" else dpt.training()
        given, given_alone = copied(input), copied(input)
        output = copied(module.forward(given_alone))
        assert_close(dpt.forward(given), output, 1e-10, "output")
        tried += 1
        if "gradOutput" not in case:
            continue
        gradOutput = map_tensors(torch.randn_like, output)
        module.zeroGradParameters()
        dpt.zeroGradParameters()
        wanted = module.backward(given_alone, copied(gradOutput))
        gradInput = dpt.backward(given, copied(gradOutput))
        if not is_nothing(wanted):
            assert_close(gradInput, wanted, 1e-10, "gradInput")
        found = dpt.get(1).parameters()[1]
        assert_close(found, module.parameters()[1], 1e-10, "gradParams")
    assert tried


def test_classes_that_are_left_out_are_known() -> None:
    assert set(WHOLE) < set(CASES)
