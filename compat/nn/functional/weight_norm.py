"""Weights as lengths ``g``, ``rows x 1``, and directions ``v``, ``rows x columns``.

``norm``, ``rows x 1``, is that of the directions, as the layer bounds it.
"""

from __future__ import annotations

from torch import Tensor


def normalised(v: Tensor, g: Tensor, norm: Tensor) -> Tensor:
    """Return the weights."""
    return v * (g / norm)


def normalised_acc_(
    gradient: Tensor,
    v: Tensor,
    g: Tensor,
    norm: Tensor,
    gradV: Tensor | None,
    gradG: Tensor | None,
) -> None:
    """Add the gradients of directions and lengths that follow from that of the weights."""
    units = v / norm
    along = (gradient * units).sum(1, keepdim=True)
    if gradG is not None:
        gradG.add_(along)
    if gradV is not None:
        gradV.addcmul_(gradient - units * along, g / norm)
