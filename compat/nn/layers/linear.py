"""Layers that multiply by a matrix."""

from __future__ import annotations

import warnings
from typing import ClassVar

import torch
from torch import Tensor

from compat.checks import flag
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import check_count, check_dims
from compat.nn.core.module import Scalar
from compat.nn.functional import linear as f
from compat.nn.layers.initialisation import Drawn


def check_features(input: Tensor, features: int) -> None:
    """Raise ValueError unless ``input`` has ``features`` features: a sample, or a batch of them."""
    # Asked of every input, so what is wrong is looked for only if something is.
    if input.dim() not in (1, 2) or input.size(-1) != features:
        check_dims(input, 1, 2)
        check_count(input.size(-1), features)


class Linear(Drawn):
    """An affine map of the last dimension (Torch7: ``nn.Linear``).

    Args:
        inputSize, outputSize: numbers of features.
        bias: whether to add one.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead; ``weight``
    is ``outputSize x inputSize``.

    PyTorch: ``torch.nn.Linear``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> layer = nn.Linear(4, 3)
        >>> layer.forward(torch.ones(2, 4)).shape, layer.weight.shape
        (torch.Size([2, 3]), torch.Size([3, 4]))
    """

    keeps_gradients = True
    scratch_fields: ClassVar[tuple[str, ...]] = ("addBuffer",)

    def __init__(self, inputSize: int, outputSize: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = empty(outputSize=outputSize, inputSize=inputSize)
        self.bias = empty(outputSize=outputSize) if flag(bias, "bias") else None
        self.reset()

    def noBias(self) -> Linear:
        """Drop the bias."""
        self.bias = None
        return self

    def updateOutput(self, input: Tensor) -> Tensor:
        weight = self.weight
        check_features(input, weight.size(1))
        return self.set_output(f.linear(input, weight, self.bias))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        if input.dim() > 2:
            return self._keep_gradInput(input)
        return self.set_gradInput(f.linear_grad_input(input, gradOutput, self.weight))

    def _keep_gradInput(self, input: Tensor) -> Tensor:
        """Return what Torch7 leaves in ``gradInput`` for an input that ``updateOutput`` refuses."""
        warnings.warn(
            f"{self.typename} computes no gradients for an input of {input.dim()} dimensions, as "
            "in Torch7",
            stacklevel=2,
        )
        kept = self.gradInput
        is_as_large = isinstance(kept, Tensor) and kept.numel() == input.numel()
        return self.set_gradInput(kept.view_as(input) if is_as_large else torch.zeros_like(input))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        if input.dim() > 2:
            return
        f.linear_acc_(input, gradOutput, self.gradWeight, self.gradBias, scale)

    def __repr__(self) -> str:
        no_bias = "" if self.bias is not None else " without bias"
        return f"{self.typename}({self.weight.size(1)} -> {self.weight.size(0)}){no_bias}"
