"""Noise contrastive estimation: what a linear layer gives some classes, as exponentials.

``weight`` and ``bias`` are rows of these classes. With shared noise they are those of ``k`` classes
of noise, then of the right class of each sample; else ``N x (1 + k)``, the right one first.
"""

from __future__ import annotations

import torch
from torch import Tensor


def of_shared_noise(input: Tensor, weight: Tensor, bias: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return scores for the right classes, ``N``, and the noise, ``N x k``."""
    target = (input * weight[k:]).sum(1).add_(bias[k:]).exp_()
    return target, torch.addmm(bias[:k], input, weight[:k].t()).exp_()


def of_shared_noise_grad_input(ofTarget: Tensor, ofNoise: Tensor, weight: Tensor, k: int) -> Tensor:
    """Return the gradient of ``input`` from those of the exponents."""
    return (ofTarget.unsqueeze(1) * weight[k:]).addmm_(ofNoise, weight[:k])


def of_shared_noise_rows(input: Tensor, ofTarget: Tensor, ofNoise: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of the rows of weight and bias from those of the exponents."""
    weight = torch.cat([ofNoise.t().mm(input), ofTarget.unsqueeze(1) * input])
    return weight, torch.cat([ofNoise.sum(0), ofTarget])


def of_own_noise(input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return scores for the right class and the noise of each sample, ``N x (1 + k)``."""
    products = torch.baddbmm(bias.unsqueeze(1), input.unsqueeze(1), weight.transpose(1, 2))
    return products.squeeze(1).exp_()


def of_own_noise_grad_input(slopes: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of ``input`` from that of the exponents."""
    return slopes.unsqueeze(1).bmm(weight).squeeze(1)


def of_own_noise_rows(input: Tensor, slopes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the gradients of the rows of weight and bias, one after the other."""
    weight = slopes.unsqueeze(2) * input.unsqueeze(1)
    return weight.view(-1, input.size(1)), slopes.reshape(-1)
