"""Transfer functions: the layers between the layers with parameters.

NaN goes the way that Torch7's comparisons send it.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import number
from compat.nn.checks.indexing import checked_dim, counted
from compat.nn.core.layer import Layer
from compat.nn.functional import activation as f
from compat.nn.layers.elementwise import Elementwise, shaped
from compat.nn.layers.rectifiers import ReLU, Threshold  # noqa: F401, for who imports them here
from compat.nn.layers.softmax import LogSoftMax, SoftMax  # noqa: F401


class HardShrink(Elementwise):
    """Compute 0 from ``-lam`` to ``lam`` and ``x`` elsewhere (Torch7: ``nn.HardShrink``).

    Args:
        lam: the bound; the field is ``lambda_``.

    PyTorch: ``torch.nn.Hardshrink``.
    """

    def __init__(self, lam: float = 0.5) -> None:
        super().__init__()
        self.lambda_ = number(lam, "lam")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.hardshrink(input, self.lambda_)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.shrink_backward(gradOutput, input, self.lambda_)


class SoftShrink(HardShrink):
    """Compute ``x`` moved by ``lam`` towards 0, but not beyond (Torch7: ``nn.SoftShrink``).

    Args:
        lam: how far; the field is ``lambda_``.

    PyTorch: ``torch.nn.Softshrink``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softshrink(input, self.lambda_)


class Tanh(Elementwise):
    """Compute ``tanh(x)`` for each element (Torch7: ``nn.Tanh``).

    PyTorch: ``torch.nn.Tanh``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> import torch
        >>> Tanh().forward(torch.zeros(2)).tolist()
        [0.0, 0.0]
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.tanh(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.tanh_backward(gradOutput, self.output)


class TanhShrink(Elementwise):
    """Compute ``x - tanh(x)`` for each element (Torch7: ``nn.TanhShrink``).

    PyTorch: ``torch.nn.Tanhshrink``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tanh: Any = Tanh()

    def apply_to(self, input: Tensor) -> Tensor:
        return input - self.tanh.updateOutput(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return gradOutput - self.tanh.updateGradInput(input, gradOutput)


class Sigmoid(Elementwise):
    """Compute ``1 / (1 + exp(-x))`` for each element (Torch7: ``nn.Sigmoid``).

    PyTorch: ``torch.nn.Sigmoid``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> import torch
        >>> Sigmoid().forward(torch.zeros(1)).tolist()
        [0.5]
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.sigmoid(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.sigmoid_backward(gradOutput, self.output)


class LogSigmoid(Elementwise):
    """Compute ``log(1 / (1 + exp(-x)))`` for each element (Torch7: ``nn.LogSigmoid``).

    At minus infinity it is NaN.

    PyTorch: ``torch.nn.LogSigmoid``.
    """

    scratch_fields = ("buffer",)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.logsigmoid(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.logsigmoid_backward(gradOutput, input)


class SoftPlus(Elementwise):
    """Compute ``log(1 + exp(beta * x)) / beta``, a smooth ReLU (Torch7: ``nn.SoftPlus``).

    Args:
        beta: the sharpness.

    Field: ``threshold``; where ``beta * x`` exceeds it the output is ``x``.

    PyTorch: ``torch.nn.Softplus``.
    """

    beta: float = 1
    threshold: float = 20

    def __init__(self, beta: float = 1) -> None:
        super().__init__()
        self.beta = number(beta, "beta")
        self.threshold = 20

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softplus(input, self.beta, self.threshold)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softplus_backward(gradOutput, self.output, self.beta, self.threshold)


class SoftSign(Elementwise):
    """Compute ``x / (1 + |x|)`` for each element (Torch7: ``nn.SoftSign``).

    PyTorch: ``torch.nn.Softsign``.
    """

    scratch_fields = ("temp", "tempgrad")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softsign(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softsign_backward(gradOutput, input)


class GatedLinearUnit(Layer):
    """Multiply half of the features by the sigmoid of the others (``nn.GatedLinearUnit``).

    Dauphin et al., Language Modeling with Gated Convolutional Networks, 2016.

    Args:
        dim: the dimension of the features, counted from 1; by default the last.

    PyTorch: ``torch.nn.GLU``.
    """

    scratch_fields = ("sigmoid", "fHalf", "sHalf", "sHalfOut")
    dim: int | None = None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else counted(dim, "dim")

    def updateOutput(self, input: Tensor) -> Tensor:
        dim = checked_dim(self.dim or -1, input)
        if input.size(dim) % 2:
            raise ValueError(f"input has {input.size(dim)} features; an even number is accepted")
        return self.set_output(f.glu(input, dim).contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        dim = checked_dim(self.dim or -1, input)
        gradOutput = shaped(gradOutput, input.narrow(dim, 0, input.size(dim) // 2))
        return self.set_gradInput(f.glu_backward(gradOutput, input, dim).contiguous())
