"""``nn.NCECriterion``: the loss of noise contrastive estimation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import given
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Criterion
from compat.nn.functional import criterions_noise_contrastive as f


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

    def updateOutput(self, input: Any, target: Any = None) -> float:
        self.output = f.nce_loss(*_parts(input), self.sizeAverage).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        parts = _parts(input)
        slopes = f.nce_loss_backward(*parts, self.sizeAverage)
        return self.set_gradInput([*slopes, *map(torch.zeros_like, parts[2:])])


def _parts(input: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if not isinstance(input, (list, tuple)) or len(input) != 4:
        raise TypeError(f"input is {given(input, counted=True)}; a table of four is accepted")
    for i, (part, dims) in enumerate(zip(input, (1, 2, 1, 2), strict=True), 1):
        check_dims(part, dims, name=f"input[{i}]")
    right, samples, noise_right, noise_samples = input
    return right, samples, noise_right, noise_samples
