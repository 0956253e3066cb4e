"""Images, ``N x H x W x C``, read at the places of a grid, between pixels (package stnbhwd)."""

from __future__ import annotations

import torch
from torch import Tensor

_BILINEAR, _ZEROS = 0, 0


def _for_torch(images: Tensor, grids: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch has the planes first, and x before y."""
    return images.permute(0, 3, 1, 2), grids.flip(-1)


def sample(images: Tensor, grids: Tensor) -> Tensor:
    """Return the values at ``grids``, ``N x H' x W' x 2``: y and x, from -1 to 1; zeros outside."""
    found = torch.grid_sampler_2d(*_for_torch(images, grids), _BILINEAR, _ZEROS, True)
    return found.permute(0, 2, 3, 1)


def sample_backward(images: Tensor, grids: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of images and grids."""
    ofImages, ofGrids = torch.ops.aten.grid_sampler_2d_backward(
        gradOutput.permute(0, 3, 1, 2),
        *_for_torch(images, grids),
        _BILINEAR,
        _ZEROS,
        True,
        [True, True],
    )
    return ofImages.permute(0, 2, 3, 1), ofGrids.flip(-1)
