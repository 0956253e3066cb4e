from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn


def average(x: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """The weighted mean over all planes of what lies inside the image."""
    if kernel.dim() == 1:
        kernel = kernel[:, None] * kernel
    weight = kernel.expand(1, x.size(1), *kernel.shape)
    padding = [size // 2 for size in kernel.shape]
    return F.conv2d(x, weight, padding=padding) / F.conv2d(
        torch.ones_like(x), weight, padding=padding
    )


@pytest.mark.parametrize("kernel", [torch.rand(3, 5) + 0.1, torch.rand(3) + 0.1])
def test_neighbourhoods_are_averaged(kernel: torch.Tensor) -> None:
    x = torch.randn(2, 2, 6, 7)
    before = kernel.clone()

    subtractive = nn.SpatialSubtractiveNormalization(2, kernel)
    centred = x - average(x, kernel)
    torch.testing.assert_close(subtractive.forward(x), centred)
    torch.testing.assert_close(subtractive.forward(x[1]), centred[1])

    divisive = nn.SpatialDivisiveNormalization(2, kernel, 0.7, 2)
    weights = torch.where(torch.tensor(kernel.dim() == 1), kernel.sum() ** 2, kernel.sum())
    deviations = average_root(x, kernel, weights)
    wanted = x / torch.where(deviations > 0.7, deviations, 2.0)
    torch.testing.assert_close(divisive.forward(x), wanted)

    contrastive = nn.SpatialContrastiveNormalization(2, kernel, 0.7, 2)
    net = nn.Sequential().add(subtractive).add(divisive)
    torch.testing.assert_close(contrastive.forward(x), net.forward(x))
    assert torch.equal(kernel, before)


def average_root(x: torch.Tensor, kernel: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Torch7's deviation: the root of the sum, over the share of the kernel inside the image."""
    if kernel.dim() == 1:
        kernel = kernel[:, None] * kernel
    weight = (kernel / weights / x.size(1)).expand(1, x.size(1), *kernel.shape)
    padding = [size // 2 for size in kernel.shape]
    sums = F.conv2d(x.square(), weight, padding=padding)
    return sums.sqrt() / F.conv2d(torch.ones_like(x), weight, padding=padding)


def test_coefficients_follow_the_size_and_the_type() -> None:
    module = nn.SpatialSubtractiveNormalization(1, torch.ones(3, 3))
    for size in (5, 7):
        x = torch.full((1, size, size), 3.0)
        assert module.forward(x).abs().max() < 1e-5
    assert module.double().forward(x.double()).dtype == torch.float64


def test_the_kernels_are_not_trained() -> None:
    module = nn.SpatialContrastiveNormalization(1)
    x = torch.randn(1, 12, 12)
    module.forward(x)
    module.backward(x, torch.randn(1, 12, 12))
    assert module.parameters() == ([], [])
    inner = module.normalizer.get(1).meanestimator.get(2)
    assert not inner.gradWeight.any()


def test_thresval_is_the_threshold_by_default() -> None:
    assert nn.SpatialDivisiveNormalization(1, None, 0.5).thresval == 0.5
    assert nn.SpatialDivisiveNormalization(1, None, None, 0.5).thresval == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nn.SpatialSubtractiveNormalization(1, torch.ones(2, 3)),
            r"kernel has size \(2, 3\); one or two dimensions of odd size",
        ),
        (lambda: nn.SpatialDivisiveNormalization(1, torch.ones(1, 1, 1)), "kernel has size"),
        (
            lambda: nn.SpatialSubtractiveNormalization(2).forward(torch.zeros(1, 9, 9)),
            "input has 1 planes; 2 are accepted",
        ),
        (
            lambda: nn.SpatialDivisiveNormalization(2).forward(torch.zeros(9, 9)),
            "input has 2 dimensions; 3",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
