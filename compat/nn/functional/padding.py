"""Padding at the edges of planes and volumes.

``pads`` are the amounts at the near and far end of the last dimension, of the one before it, and so
on; negative ones cut off.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten
Sizes = Sequence[int]


def expect_padded(gradOutput: Tensor, input: Tensor, pads: Sizes) -> None:
    """Refuse a gradient of another size than the padded input's, which kernels may not check."""
    shape = list(input.shape)
    for i in range(len(pads) // 2):
        shape[-1 - i] += pads[2 * i] + pads[2 * i + 1]
    if list(gradOutput.shape) != shape:
        raise RuntimeError(
            f"gradOutput has size {tuple(gradOutput.shape)}; {tuple(shape)} is accepted"
        )


def zero_pad(input: Tensor, pads: Sizes) -> Tensor:
    """Return zeros around planes."""
    return aten.constant_pad_nd.default(input.contiguous(), pads, 0)


def zero_pad_backward(gradOutput: Tensor, input: Tensor, pads: Sizes) -> Tensor:
    """Return the gradient of the input: 0 for what was cut off."""
    expect_padded(gradOutput, input, pads)
    return aten.constant_pad_nd.default(gradOutput.contiguous(), [-pad for pad in pads], 0)


def reflection_pad(input: Tensor, pads: Sizes) -> Tensor:
    """Return planes mirrored at their edges."""
    return aten.reflection_pad2d.default(input.contiguous(), pads)


def reflection_pad_backward(gradOutput: Tensor, input: Tensor, pads: Sizes) -> Tensor:
    """Return the gradient of the input."""
    expect_padded(gradOutput, input, pads)
    return aten.reflection_pad2d_backward.default(gradOutput, input.contiguous(), pads)


def replication_pad(input: Tensor, pads: Sizes) -> Tensor:
    """Return planes, or volumes, whose edges are repeated."""
    pad = aten.replication_pad2d if len(pads) == 4 else aten.replication_pad3d
    return pad.default(input.contiguous(), pads)


def replication_pad_backward(gradOutput: Tensor, input: Tensor, pads: Sizes) -> Tensor:
    """Return the gradient of the input."""
    expect_padded(gradOutput, input, pads)
    planes = len(pads) == 4
    pull = aten.replication_pad2d_backward if planes else aten.replication_pad3d_backward
    return pull.default(gradOutput, input.contiguous(), pads)
