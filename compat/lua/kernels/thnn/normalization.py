"""Batch normalization, and normalization across planes."""

from __future__ import annotations

from torch import Tensor

from compat.lua.kernels.thnn.checks import check_batch, check_shape
from compat.nn.functional import normalization as f


def BatchNormalization_updateOutput(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    save_mean: Tensor,
    save_std: Tensor,
    train: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Normalise a batch. The saved deviation is its inverse, as in THNN."""
    output, mean, inverse = f.batch_norm(
        input, weight, bias, running_mean, running_var, train, momentum, eps
    )
    if train:
        save_mean.view(-1)[: mean.numel()].copy_(mean)
        save_std.view(-1)[: inverse.numel()].copy_(inverse)
    return output


def BatchNormalization_backward(
    input: Tensor,
    gradOutput: Tensor,
    gradInput: Tensor | None,
    gradWeight: Tensor | None,
    gradBias: Tensor | None,
    weight: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    save_mean: Tensor,
    save_std: Tensor,
    train: bool,
    scale: float,
    eps: float,
) -> None:
    check_shape(gradOutput, "gradOutput", input.shape)
    results = gradInput, gradWeight, gradBias
    found = f.batch_norm_backward(
        gradOutput,
        input,
        weight,
        running_mean,
        running_var,
        save_mean,
        save_std,
        train,
        eps,
        [result is not None for result in results],
    )
    if gradInput is not None and found[0] is not None:
        gradInput.copy_(found[0])
    for gradient, new in zip(results[1:], found[1:], strict=True):
        if gradient is not None and new is not None:
            gradient.add_(new, alpha=scale)


def SpatialCrossMapLRN_updateOutput(
    input: Tensor, size: int, alpha: float, beta: float, k: float
) -> tuple[Tensor, Tensor]:
    check_batch(input, 3)
    return f.cross_map_lrn(input, size, alpha, beta, k)


def SpatialCrossMapLRN_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    scale: Tensor,
    output: Tensor,
    size: int,
    alpha: float,
    beta: float,
    k: float,
) -> Tensor:
    check_shape(gradOutput, "gradOutput", input.shape)
    return f.cross_map_lrn_backward(input, gradOutput, output, scale, size, alpha, beta)
