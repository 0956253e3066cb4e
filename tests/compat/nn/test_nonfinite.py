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


@pytest.mark.parametrize("size", [1, 7, 33, 1000])
def test_relu_is_the_same_for_every_element_of_a_vector(size: int) -> None:
    """The kernels treat the last few elements in another way than the others."""
    input = torch.full((size,), torch.nan)
    for module, output, slope in (
        (nn.ReLU(), 0, 0),
        (nn.HardTanh(), 1, 1),
        (nn.HardShrink(), 0, 0),
    ):
        assert torch.equal(module.forward(input), torch.full((size,), float(output)))
        wanted = torch.full((size,), float(slope))
        assert torch.equal(module.backward(input, torch.ones(size)), wanted)
    assert input.isnan().all()


def test_l1_hinge_embedding_lets_the_gradient_of_nan_pass() -> None:
    """As Torch7; the slope at NaN itself is 1 or -1, drawn as where the two are equal."""
    input = [torch.tensor([torch.nan, 1, -torch.inf]), torch.tensor([1.0, -1, 1])]
    for target in (1, -1):
        first, second = nn.L1HingeEmbeddingCriterion(1).backward(input, target)
        assert torch.equal(first[1:], torch.tensor([1.0, -1]) * target)
        assert first[0].abs() == 1
        assert torch.equal(second, -first)
