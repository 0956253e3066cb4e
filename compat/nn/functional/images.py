"""Changes of colour."""

from __future__ import annotations

from torch import Tensor


def standardize_planes(input: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """Return each plane less its mean, over its standard deviation."""
    return (input - mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1)).contiguous()


def standardize_planes_backward(gradOutput: Tensor, std: Tensor) -> Tensor:
    """Return the gradient of the input."""
    return (gradOutput / std.view(-1, 1, 1)).contiguous()


def add_to_planes(input: Tensor, noise: Tensor) -> Tensor:
    """Return a number added to each plane of each image."""
    noise = noise.view(-1, input.size(-3), 1, 1)
    return (input + (noise if input.dim() == 4 else noise[0])).contiguous()
