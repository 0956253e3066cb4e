"""``nn.SpatialNormalization`` of package nnx, which nets of 2011 hold."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from compat import nn
from compat.nn.source.written import write


def sums(planes: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """The sum over all planes and the window, in one plane."""
    height, width = kernel.shape
    edges = (width // 2, (width - 1) // 2, height // 2, (height - 1) // 2)
    weight = (kernel / kernel.sum()).expand(1, len(planes), height, width)
    return F.conv2d(F.pad(planes, edges)[None], weight)[0]


def expected(
    x: torch.Tensor, kernels: list[torch.Tensor], threshold: float | None = None
) -> torch.Tensor:
    def estimated(planes: torch.Tensor) -> torch.Tensor:
        for kernel in kernels:
            planes = sums(planes, kernel).expand_as(x)
        return planes

    inside = estimated(torch.ones_like(x))
    centred = x - estimated(x) / inside
    deviation = estimated(centred**2).sqrt() / inside
    least = max(deviation.mean().item(), 1e-3) if threshold is None else threshold
    return centred / torch.where(deviation > least, deviation, least)


MATRIX = [torch.rand(4, 5, dtype=torch.float64) + 0.1]
PAIR = [torch.rand(1, 3, dtype=torch.float64) + 0.1, torch.rand(4, 1, dtype=torch.float64) + 0.1]


def made(kernels: list[torch.Tensor], threshold: float | None) -> nn.SpatialNormalization:
    kernel = kernels if len(kernels) == 2 else kernels[0]
    return nn.SpatialNormalization(2, kernel, threshold).double()


@pytest.mark.parametrize("threshold", [None, 0.2])
@pytest.mark.parametrize("kernels", [MATRIX, PAIR], ids=["matrix", "pair"])
def test_the_formula_and_its_gradient(kernels: list[torch.Tensor], threshold: float | None) -> None:
    before = [kernel.clone() for kernel in kernels]
    net = made(kernels, threshold)
    for size in ((8, 9), (6, 11)):
        x = torch.randn(2, *size, dtype=torch.float64, requires_grad=True)
        gradOutput = torch.randn_like(x)
        wanted = expected(x, kernels, threshold)
        torch.testing.assert_close(net.forward(x), wanted.detach())
        (gradient,) = torch.autograd.grad(wanted, x, gradOutput)
        torch.testing.assert_close(net.backward(x, gradOutput), gradient)
        torch.testing.assert_close(net.to_torch()(x), wanted)
        assert all(map(torch.equal, kernels, before))


@pytest.mark.parametrize("threshold", [None, 0.2])
@pytest.mark.parametrize("kernels", [MATRIX, PAIR], ids=["matrix", "pair"])
def test_source(kernels: list[torch.Tensor], threshold: float | None) -> None:
    # Which compares outputs and gradients.
    written = write(made(kernels, threshold), torch.randn(2, 8, 9, dtype=torch.float64))
    assert "compat" not in written.text


def test_one_plane_needs_no_dimension_and_batches_are_refused() -> None:
    net = nn.SpatialNormalization(1, torch.ones(3, 3))
    x = torch.randn(5, 6)
    assert torch.equal(net.forward(x), net.forward(x[None]).clone())
    with pytest.raises(ValueError, match="input has 4 dimensions; 3 "):
        net.forward(x[None, None])
    with pytest.raises(ValueError, match="kernel has 3 entries"):
        nn.SpatialNormalization(1, [torch.ones(3, 3)] * 3)
    with pytest.raises(ValueError, match=r"kernel\[2\] has 1 dimensions"):
        nn.SpatialNormalization(1, [torch.ones(3, 3), torch.ones(3)])
