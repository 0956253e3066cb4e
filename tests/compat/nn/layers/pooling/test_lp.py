from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn


@pytest.mark.parametrize("p", [2, 3])
def test_spatial_lp_pooling_is_pytorchs(p: int) -> None:
    module = nn.SpatialLPPooling(2, p, 2, 3, 2, 1)
    x = torch.rand(2, 2, 6, 6)
    torch.testing.assert_close(module.forward(x), F.lp_pool2d(x, float(p), (3, 2), (1, 2)))
    assert module.parameters() == ([], [])
    assert module.reset() is module


@pytest.mark.parametrize("shape", [(9,), (9, 3), (9, 3, 4)])
@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_feature_lp_pooling(shape: tuple[int, ...], power: float) -> None:
    x = torch.rand(shape)
    wanted = x.unfold(0, 3, 2).pow(power).sum(-1).pow(1 / power)
    single = nn.FeatureLPPooling(3, 2, power)
    torch.testing.assert_close(single.forward(x), wanted)
    batch = nn.FeatureLPPooling(3, 2, power, True)
    torch.testing.assert_close(batch.forward(torch.stack([x, x])), torch.stack([wanted, wanted]))


def test_the_gradient_of_a_norm_of_zero_is_zero() -> None:
    module = nn.FeatureLPPooling(2, 2, 2)
    x = torch.tensor([0.0, 0.0, 3.0, 4.0])
    module.forward(x)
    torch.testing.assert_close(
        module.backward(x, torch.ones(2)), torch.tensor([0.0, 0.0, 0.6, 0.8])
    )


def test_prints() -> None:
    module = nn.FeatureLPPooling(3, 2, 2, True)
    assert repr(module) == "nn.FeatureLPPooling(w3 s2 power 2 batch 1)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.FeatureLPPooling(17, 1, 2), "width is 17; a whole number from 2 to 16"),
        (lambda: nn.FeatureLPPooling(2, 5, 2), "stride is 5; a whole number from 1 to 4"),
        (
            lambda: nn.FeatureLPPooling(4, 1, 2).forward(torch.zeros(3)),
            "input has 3 features; at least width, 4",
        ),
        (
            lambda: nn.FeatureLPPooling(2, 1, 2, True).forward(torch.zeros(3)),
            "input has 1 dimensions; 2, 3 or 4",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
