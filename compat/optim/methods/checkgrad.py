"""Check gradients by finite differences."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate, loss_at
from compat.optim.support.vectors import flat


def checkgrad(
    opfunc: OpFunc, x: torch.Tensor, eps: float | None = None
) -> tuple[float, torch.Tensor, torch.Tensor]:
    """Compare the gradient at ``x`` with central differences, Torch7's ``optim.checkgrad``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the point; changed during the check, then restored.
        eps: the distance of the points that are evaluated, 1e-7 if it is None.

    Returns:
        |dC - dC_est| / |dC + dC_est|, the gradient dC, and its estimate dC_est.

    Differs from Torch7: ``x`` is restored exactly, and may have any number of dimensions.
    """
    gradient = evaluate(opfunc, x)[1].clone()
    estimate = torch.empty_like(gradient)
    vector = flat(x)
    eps = 1e-7 if eps is None else eps
    for i, value in enumerate(vector.tolist()):
        vector[i] = value + eps
        above = loss_at(opfunc, x)
        vector[i] = value - eps
        below = loss_at(opfunc, x)
        vector[i] = value
        estimate[i] = (above - below) / (2 * eps)
    diff = float((gradient - estimate).norm() / (gradient + estimate).norm())
    return diff, gradient.view_as(x), estimate.view_as(x)
