"""char-rnn's ``OneHot``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.checks.arguments import whole
from compat.nn.checks.tensors import INDICES
from compat.nn.core.layer import Layer


class OneHot(Layer, typename="OneHot"):
    """The one-hot vector of each number of the input (char-rnn: ``OneHot``).

    Args:
        outputSize: the size of the vectors.

    Shapes: input ``N``, of numbers from 1 to ``outputSize`` of any tensor type; output
    ``N x outputSize`` of the module's type. There is no ``gradInput``: it is empty.

    PyTorch: ``torch.nn.functional.one_hot``.
    """

    takes = INDICES
    scratch_fields = ("_eye",)

    def __init__(self, outputSize: int) -> None:
        super().__init__()
        self.outputSize = whole(outputSize, "outputSize", 1)

    def updateOutput(self, input: Tensor) -> Tensor:
        if input.dim() != 1:
            raise ValueError(f"input has {input.dim()} dimensions; 1 is accepted")
        rows = input.long() - 1
        places = torch.zeros(
            len(rows), self.outputSize, dtype=self._empty().dtype, device=rows.device
        )
        try:
            return self.set_output(places.scatter_(1, rows.unsqueeze(1), 1))
        except RuntimeError:
            if bool(((rows < 0) | (rows >= self.outputSize)).any()):
                message = f"input holds numbers outside 1 to {self.outputSize}"
                raise ValueError(message) from None
            raise

    def t7_fields(self) -> dict[str, Any]:
        return super().t7_fields() | {"_eye": torch.eye(self.outputSize)}
