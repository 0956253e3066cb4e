"""NaN and infinity go the way that Torch7's comparisons send them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.nn_golden import assert_close, construct, copied
from support.paths import GOLDEN

from compat import nn, t7

RECORDED = t7.plain(t7.load(GOLDEN / "nonfinite" / "nonfinite.t7"))


pytestmark = pytest.mark.usefixtures("double_by_default")


@pytest.mark.parametrize("case", RECORDED["modules"], ids=lambda case: case["ctor"])
def test_modules(case: dict[str, Any]) -> None:
    module, input = construct(case), case["input"].clone()
    assert_close(module.forward(input), case["output"], 1e-10, "output")
    gradInput = module.backward(input, case["gradOutput"].clone())
    wanted = case["gradInput"]
    # Where the result is NaN the run has diverged, whatever the gradient is there.
    lost = case["output"].isnan()
    if lost.shape == wanted.shape:
        gradInput, wanted = gradInput.masked_fill(lost, 0), wanted.masked_fill(lost, 0)
        assert_close(gradInput, wanted, 1e-10, "gradInput")


@pytest.mark.parametrize("case", RECORDED["criterions"], ids=lambda case: case["ctor"])
def test_criterions(case: dict[str, Any]) -> None:
    criterion = construct(case)
    input, target = copied(case["input"]), copied(case["target"])
    assert_close(criterion.forward(input, target), case["output"], 1e-10, "output")
    gradInput = criterion.backward(input, target)
    assert_close(gradInput, case["gradInput"], 1e-10, "gradInput")


# The functions of THNN's C code for one element, and what they make of the gradient there.
C: dict[Any, tuple[Any, Any]] = {
    nn.ReLU: (lambda x: x if x > 0 else 0, lambda x, g: g if x > 0 else 0),
    lambda: nn.Threshold(0.5, -2): (
        lambda x: x if x > 0.5 else -2,
        lambda x, g: g if x > 0.5 else 0,
    ),
    nn.HardTanh: (
        lambda x: -1 if x < -1 else x if x <= 1 else 1,
        lambda x, g: 0 if x <= -1 or x >= 1 else g,
    ),
    nn.LeakyReLU: (lambda x: x if x > 0 else x * 0.01, lambda x, g: g if x > 0 else g * 0.01),
    nn.HardShrink: (
        lambda x: x if x > 0.5 or x < -0.5 else 0,
        lambda x, g: g if x > 0.5 or x < -0.5 else 0,
    ),
    nn.SoftShrink: (
        lambda x: x - 0.5 if x > 0.5 else x + 0.5 if x < -0.5 else 0,
        lambda x, g: g if x > 0.5 or x < -0.5 else 0,
    ),
}


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("make", C, ids=lambda make: repr(make()))
def test_comparisons_are_those_of_c(make: Any, times: int) -> None:
    """Also many elements: the kernels treat the last few in another way than the others."""
    function, slope = C[make]
    special = [torch.nan, torch.inf, -torch.inf, 0.0, 0.5, -0.5, 1.0, -1.0, 0.7, -3.0]
    pairs = [(x, g) for x in special for g in (1.0, -2.0, 0.0, torch.inf, torch.nan)] * times
    input, gradOutput = (torch.tensor(column) for column in zip(*pairs, strict=True))
    output = torch.tensor([float(function(x)) for x, _ in pairs])
    gradInput = torch.tensor([float(slope(x, g)) for x, g in pairs])
    module = make()
    torch.testing.assert_close(module.forward(input), output, equal_nan=True)
    found = module.backward(input, gradOutput)
    lost = output.isnan()
    torch.testing.assert_close(found[~lost], gradInput[~lost], equal_nan=True)
    assert input.isnan().any()


def test_l1_hinge_embedding_lets_the_gradient_of_nan_pass() -> None:
    """As Torch7; the slope at NaN itself is 1 or -1, drawn as where the two are equal."""
    input = [torch.tensor([torch.nan, 1, -torch.inf]), torch.tensor([1.0, -1, 1])]
    for target in (1, -1):
        first, second = nn.L1HingeEmbeddingCriterion(1).backward(input, target)
        assert torch.equal(first[1:], torch.tensor([1.0, -1]) * target)
        assert first[0].abs() == 1
        assert torch.equal(second, -first)
