"""Normalisation over a batch and over neighbouring planes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    train: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the output for ``input``, ``N x features [x ...]``; mean and inverse deviation of the
    batch.

    Without ``train`` the running statistics are used, and the others are empty.
    """
    check_statistics(input, weight, bias, running_mean, running_var)
    output, mean, inverse = torch.ops.aten.native_batch_norm.default(
        input, weight, bias, running_mean, running_var, train, momentum, eps
    )
    return output, mean, inverse


def batch_norm_backward(
    gradOutput: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    save_mean: Tensor | None,
    save_std: Tensor | None,
    train: bool,
    eps: float,
    wanted: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return the gradients of input, weight and bias, or None where they are not wanted.

    ``save_mean`` and ``save_std`` are what ``batch_norm`` gave, needed with ``train`` alone.
    """
    mean, inverse = (save_mean, save_std) if train else (None, None)
    check_statistics(input, weight, running_mean, running_var, mean, inverse)
    if not input.numel():  # which the kernel divides by
        return torch.zeros_like(input) if wanted[0] else None, None, None
    found: tuple[Tensor | None, Tensor | None, Tensor | None]
    found = torch.ops.aten.native_batch_norm_backward.default(
        gradOutput.to(input.dtype),
        input,
        weight,
        running_mean,
        running_var,
        mean,
        inverse,
        train,
        eps,
        wanted,
    )
    return found


def check_statistics(input: Tensor, *statistics: Tensor | None) -> None:
    """Refuse those without one element for each feature: the kernels would read beyond them."""
    count = input.size(1)
    for tensor in statistics:
        if tensor is not None and tensor.numel() != count:
            raise ValueError(
                f"input has {count} features, what belongs to them has {tensor.numel()} elements; "
                "one for each is accepted"
            )


def cross_map_lrn(
    input: Tensor, size: int, alpha: float, beta: float, k: float
) -> tuple[Tensor, Tensor]:
    """Return ``input``, ``[N x] planes x H x W``, times ``scale ** -beta``; and ``scale``."""
    input = input.contiguous()
    sums = window_sums(input.square(), (size - 1) // 2, size // 2)
    scale = sums.mul_(alpha / size).add_(k)
    return input * scale.pow(-beta), scale


def cross_map_lrn_backward(
    input: Tensor,
    gradOutput: Tensor,
    output: Tensor,
    scale: Tensor,
    size: int,
    alpha: float,
    beta: float,
) -> Tensor:
    """Return the gradient of ``input``."""
    ratio = (gradOutput * output).div_(scale)
    sums = window_sums(ratio, size // 2, (size - 1) // 2)
    direct = scale.pow(-beta).mul_(gradOutput)
    return direct.addcmul_(input, sums, value=-2 * alpha * beta / size)


def window_sums(planes: Tensor, before: int, after: int) -> Tensor:
    """Return the sums over each plane and its neighbours, ``before`` and ``after`` of them."""
    sums, count = planes.clone(), planes.size(-3)
    for distance in range(1, min(before, count - 1) + 1):
        sums.narrow(-3, distance, count - distance).add_(planes.narrow(-3, 0, count - distance))
    for distance in range(1, min(after, count - 1) + 1):
        sums.narrow(-3, 0, count - distance).add_(planes.narrow(-3, distance, count - distance))
    return sums
