"""``nn.NCECriterion``: the loss of noise contrastive estimation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import given
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Stated
from compat.nn.functional import criterions_noise_contrastive as f


class NCECriterion(Stated):
    """The noise contrastive estimation loss (Torch7: ``nn.NCECriterion`` of dpnn).

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
    _loss = staticmethod(f.nce_loss)

    def __init__(self) -> None:
        super().__init__()
        self.sizeAverage = True

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        if not isinstance(input, (list, tuple)) or len(input) != 4:
            raise TypeError(f"input is {given(input, counted=True)}; a table of four is accepted")
        for i, (part, dims) in enumerate(zip(input, (1, 2, 1, 2), strict=True), 1):
            check_dims(part, dims, name=f"input[{i}]")
        return *input, self.sizeAverage

    @staticmethod
    def _slopes(*arguments: Any) -> list[Tensor]:
        of_noise = map(torch.zeros_like, arguments[2:4])
        return [*f.nce_loss_backward(*arguments), *of_noise]
