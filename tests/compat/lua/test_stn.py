"""The C library of package stnbhwd: images read between pixels."""

from __future__ import annotations

import torch

from compat import lua


def _at(images: torch.Tensor, grids: torch.Tensor) -> torch.Tensor:
    """The weighted pixels around each place; what lies outside counts as zero."""
    n, height, width, planes = images.shape
    edged = torch.zeros(n, height + 4, width + 4, planes, dtype=images.dtype)
    edged[:, 2:-2, 2:-2] = images
    y = (grids[..., 0] + 1) * (height - 1) / 2 + 2
    x = (grids[..., 1] + 1) * (width - 1) / 2 + 2
    top, left = y.detach().floor().long(), x.detach().floor().long()
    batch = torch.arange(n).view(-1, 1, 1)
    found = torch.zeros(*grids.shape[:-1], planes, dtype=images.dtype)
    for down in (0, 1):
        for right in (0, 1):
            weight = (1 - (y - top - down).abs()) * (1 - (x - left - right).abs())
            found = found + weight[..., None] * edged[batch, top + down, left + right]
    return found


def test_sampling_and_its_gradients(runtime: lua.Runtime) -> None:
    images = torch.rand(2, 4, 5, 3, dtype=torch.float64, requires_grad=True)
    grids = (torch.rand(2, 6, 7, 2, dtype=torch.float64) * 2.6 - 1.3).requires_grad_()
    gradOutput = torch.rand(2, 6, 7, 3, dtype=torch.float64)
    found = runtime.execute(
        """require 'libstn'
        local images, grids, gradOutput = ...
        local output = torch.Tensor(2, 6, 7, 3)
        images.nn.BilinearSamplerBHWD_updateOutput(nil, images, grids, output)
        local ofImages, ofGrids = images:clone(), grids:clone()
        local back = images.nn.BilinearSamplerBHWD_updateGradInput
        back(nil, images, grids, ofImages, ofGrids, gradOutput)
        return {output, ofImages, ofGrids}""",
        images.detach(),
        grids.detach(),
        gradOutput,
    )
    expected = _at(images, grids)
    expected.backward(gradOutput)
    assert images.grad is not None and grids.grad is not None
    for one, other in zip(found, (expected.detach(), images.grad, grids.grad), strict=True):
        torch.testing.assert_close(one, other)
