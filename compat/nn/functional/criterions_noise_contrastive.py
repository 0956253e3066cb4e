"""The loss of noise contrastive estimation, and its gradient.

``right`` and ``samples``, of ``N`` and ``N x k`` elements, are probabilities in the model of the
right classes and of noise; ``noise_right`` and ``noise_samples`` are those in the noise.
"""

from __future__ import annotations

import torch
from torch import Tensor


def nce_loss(
    right: Tensor, samples: Tensor, noise_right: Tensor, noise_samples: Tensor, mean: bool
) -> Tensor:
    """Return minus the logarithms of the probabilities that each is of the origin that it is of."""
    k = samples.size(1)
    # Rounded once, as Torch7's kernels do. What is added keeps quotients finite.
    of_right = torch.add(right, noise_right, alpha=k) + 1e-7
    of_samples = torch.add(samples, noise_samples, alpha=k) + 1e-7
    from_noise = noise_samples * k / of_samples
    loss = -((right / of_right).log().sum() + from_noise.log().sum())
    return loss / len(right) if mean else loss


def nce_loss_backward(
    right: Tensor, samples: Tensor, noise_right: Tensor, noise_samples: Tensor, mean: bool
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``nce_loss`` for ``right`` and ``samples``."""
    k = samples.size(1)
    of_right = torch.add(right, noise_right, alpha=k) + 1e-7
    of_samples = torch.add(samples, noise_samples, alpha=k) + 1e-7
    of_model = -k * noise_right / of_right / (right + 1e-7)
    of_noise = samples / of_samples / (samples + 1e-7)
    if mean:
        return of_model / len(right), of_noise / len(right)
    return of_model, of_noise
