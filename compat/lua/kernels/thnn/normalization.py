"""Batch normalization, and normalization across planes."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.lua.kernels.thnn.checks import check_batch, check_shape
from compat.nn.layers.normalization import window_sums

aten = torch.ops.aten


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
    """What is saved as the deviation is its inverse, as in THNN."""
    output, mean, inverse = aten.native_batch_norm(
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
    found = aten.native_batch_norm_backward(
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
    if gradInput is not None:
        gradInput.copy_(found[0])
    for gradient, new in zip(results[1:], found[1:], strict=True):
        if gradient is not None:
            gradient.add_(new, alpha=scale)


def SpatialCrossMapLRN_updateOutput(
    input: Tensor, size: int, alpha: float, beta: float, k: float
) -> tuple[Tensor, Tensor]:
    check_batch(input, 3)
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    sums = window_sums(batch.square(), (size - 1) // 2, size // 2)
    scale = sums.mul_(alpha / size).add_(k).view_as(input)
    return input * scale.pow(-beta), scale


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
    ratio = gradOutput * output / scale
    batch = ratio if ratio.dim() == 4 else ratio.unsqueeze(0)
    sums = window_sums(batch, size // 2, (size - 1) // 2).view_as(input)
    return gradOutput * scale.pow(-beta) - 2 * alpha * beta / size * input * sums
