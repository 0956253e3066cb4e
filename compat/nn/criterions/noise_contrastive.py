"""``nn.NCECriterion``: the loss of noise contrastive estimation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import given
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Criterion

# What keeps quotients finite.
_LEAST = 0.0000001


class NCECriterion(Criterion):
    """How well a model tells the right classes from noise (Torch7: ``nn.NCECriterion`` of dpnn).

    Chen et al., Recurrent neural network language model training with noise contrastive estimation
    for speech recognition, 2015.

    Shapes: input, the output of ``nn.NCEModule``: the probabilities of the right classes, ``N``,
    and of the noise, ``N x k``, in the model, and both in the noise. The target is not used.

    Field: ``sizeAverage``, whether the loss is divided by ``N``.
    """

    takes = TABLE
    _entries = 4
    scratch_fields = ("_Pom", "_Pomdiv", "_Pon", "_Pondiv", "_lnPom", "_lnPon")
    sizeAverage: bool = True

    def __init__(self) -> None:
        super().__init__()
        self.sizeAverage = True

    def _parts(self, input: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The input, and the sums that the probabilities of the origins are quotients by."""
        if not isinstance(input, (list, tuple)) or len(input) != 4:
            raise TypeError(f"input is {given(input, counted=True)}; a table of four is accepted")
        for i, (part, dims) in enumerate(zip(input, (1, 2, 1, 2), strict=True), 1):
            check_dims(part, dims, name=f"input[{i}]")
        target, samples, noise_target, noise_samples = input
        k = samples.size(1)
        # Rounded once, as Torch7's kernels do.
        of_target = torch.add(target, noise_target, alpha=k) + _LEAST
        of_samples = torch.add(samples, noise_samples, alpha=k) + _LEAST
        return target, samples, noise_target, noise_samples, of_target, of_samples

    def updateOutput(self, input: Any, target: Any = None) -> float:
        right, samples, _, noise_samples, of_right, of_samples = self._parts(input)
        from_noise = noise_samples * samples.size(1) / of_samples
        loss = -((right / of_right).log().sum() + from_noise.log().sum())
        self.output = (loss / len(right) if self.sizeAverage else loss).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        right, samples, noise_right, noise_samples, of_right, of_samples = self._parts(input)
        of_model = -samples.size(1) * noise_right / of_right / (right + _LEAST)
        of_noise = samples / of_samples / (samples + _LEAST)
        if self.sizeAverage:
            of_model, of_noise = of_model / len(right), of_noise / len(right)
        zeros = [torch.zeros_like(noise) for noise in (noise_right, noise_samples)]
        self.gradInput = [of_model, of_noise, *zeros]
        return self.gradInput
