"""Transfer functions with kinks: thresholds, bounds, and slopes for what is negative.

The gradient at a kink is Torch7's. NaN goes the way that Torch7's comparisons send it: ``nn.ReLU``
makes it 0, and in place, where other elements are written to, leaves it. A layer that works in
place overwrites its input, and in backward its gradOutput.
"""

from __future__ import annotations

import torch
from torch import Tensor

from compat.checks import flag, number, whole
from compat.nn.checks.tensors import TENSOR, check_count
from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer, own_backward
from compat.nn.functional import activation as f
from compat.nn.functional.pointwise import mul
from compat.nn.layers.dropout import Noisy, source
from compat.nn.layers.elementwise import Elementwise, shaped
from compat.nn.layers.identity import Identity
from compat.nn.layers.pointwise import MulConstant
from compat.nn.layers.table_layers import JoinTable


class Threshold(Elementwise):
    """Compute ``x`` above ``th`` and ``v`` elsewhere (Torch7: ``nn.Threshold``).

    Args:
        th: the threshold.
        v: the value at and below it.
        ip: work in place; ``v`` must not exceed ``th`` then, for the gradient to be right.

    PyTorch: ``torch.nn.Threshold``.
    """

    def __init__(self, th: float = 1e-6, v: float = 0, ip: bool = False) -> None:
        super().__init__()
        self.threshold = number(th, "th")
        self.val = number(v, "v")
        self.inplace = flag(ip)
        if self.inplace and v > th:
            raise ValueError(f"v is {v}; in place at most th, {th}, is accepted")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.threshold(input, self.threshold, self.val, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.threshold_backward(gradOutput, input, self.threshold, self.inplace)


class ReLU(Threshold):
    """Compute ``max(x, 0)`` for each element (Torch7: ``nn.ReLU``).

    Args:
        p: work in place.

    PyTorch: ``torch.nn.ReLU``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> ReLU().forward(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, p: bool = False) -> None:
        super().__init__(0, 0, flag(p, "p"))


class HardTanh(Elementwise):
    """Compute ``x`` between two bounds, and the bound beyond it (Torch7: ``nn.HardTanh``).

    Args:
        min_value, max_value: the bounds.
        inplace: work in place.

    PyTorch: ``torch.nn.Hardtanh``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> HardTanh().forward(torch.tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    min_val: float = -1
    max_val: float = 1

    def __init__(self, min_value: float = -1, max_value: float = 1, inplace: bool = False) -> None:
        super().__init__()
        self.min_val = number(min_value, "min_value")
        self.max_val = number(max_value, "max_value")
        self.inplace = flag(inplace, "inplace")
        if not self.min_val < self.max_val:
            raise ValueError(
                f"max_value is {max_value}; more than min_value, {min_value}, is accepted"
            )

    def apply_to(self, input: Tensor) -> Tensor:
        return f.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.hardtanh_backward(gradOutput, input, self.min_val, self.max_val, self.inplace)


class Clamp(HardTanh):
    """Compute ``HardTanh`` under another name (Torch7: ``nn.Clamp``).

    Args:
        min_value, max_value: the bounds.

    PyTorch: ``torch.nn.Hardtanh``.
    """

    def __init__(self, min_value: float, max_value: float) -> None:
        super().__init__(min_value, max_value)


class Clip(Elementwise):
    """Compute ``x`` between two bounds, with slope 1 everywhere (Torch7: ``nn.Clip`` of dpnn).

    Args:
        minval, maxval: the bounds.
    """

    scratch_fields = ("_mask", "_byte")

    def __init__(self, minval: float, maxval: float) -> None:
        super().__init__()
        self.minval = number(minval, "minval")
        self.maxval = number(maxval, "maxval")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.clip(input, self.minval, self.maxval)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return gradOutput


class ReLU6(Elementwise):
    """Compute ``min(max(x, 0), 6)`` for each element (Torch7: ``nn.ReLU6``).

    Args:
        inplace: work in place.

    PyTorch: ``torch.nn.ReLU6``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.hardtanh(input, 0, 6, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.hardtanh_backward(gradOutput, input, 0, 6, self.inplace)


class LeakyReLU(Elementwise):
    """Compute ``x`` above 0 and ``negval * x`` elsewhere (Torch7: ``nn.LeakyReLU``).

    Args:
        negval: the slope below 0. As in Torch7, True or False here means the default, and has
            nothing to do with ``ip``.
        ip: work in place; ignored where ``negval`` is negative.

    PyTorch: ``torch.nn.LeakyReLU``.

    Shapes: the output has the shape of the input, which is any.

    Examples:
        >>> LeakyReLU(0.5).forward(torch.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(self, negval: float = 1 / 100, ip: bool = False) -> None:
        super().__init__()
        self.negval = 1 / 100 if isinstance(negval, bool) else number(negval, "negval")
        self.inplace = flag(ip) and self.negval >= 0

    def apply_to(self, input: Tensor) -> Tensor:
        return f.leaky_relu(input, self.negval, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.leaky_relu_backward(gradOutput, input, self.negval, self.inplace)

    def __repr__(self) -> str:
        return f"{self.typename}({self.negval:g})"


class ELU(Elementwise):
    """Compute ``x`` above 0 and ``alpha * (exp(x) - 1)`` elsewhere (Torch7: ``nn.ELU``).

    Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015.

    Args:
        alpha: minus the lower bound. As in Torch7 the gradient follows from the output, and is
            wrong where ``alpha`` is negative.
        inplace: work in place.

    PyTorch: ``torch.nn.ELU``.
    """

    def __init__(self, alpha: float = 1, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = number(alpha, "alpha")
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.elu(input, self.alpha, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.elu_backward(gradOutput, self.output, self.alpha, self.inplace)

    def __repr__(self) -> str:
        return f"{self.typename} (alpha:{self.alpha:f})"


class RReLU(Noisy):
    """A ``LeakyReLU`` whose slopes are drawn for each element (Torch7: ``nn.RReLU``).

    In evaluation the slope is the mean of the bounds. Xu et al., Empirical Evaluation of Rectified
    Activations in Convolutional Network, 2015.

    Args:
        l, u: the bounds of the slope, ``0 <= l <= u``.
        ip: work in place.

    Field: ``noise``, the slopes of the latest input, 1 where it was positive.

    PyTorch: ``torch.nn.RReLU``.
    """

    def __init__(self, l: float = 1 / 8, u: float = 1 / 3, ip: bool = False) -> None:  # noqa: E741
        super().__init__()
        self.lower, self.upper = number(l, "l"), number(u, "u")
        if not 0 <= l <= u:
            raise ValueError(f"l is {l} and u is {u}; 0 <= l <= u is accepted")
        self.train = True
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        if not self.train:
            return f.leaky_relu(input, (self.lower + self.upper) / 2, self.inplace)
        self.noise = f.rrelu_slopes(input, self._draw)
        return mul(input, self.noise, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        if self.train and self.upper - self.lower > 1e-6:
            return mul(gradOutput, self.noise, self.inplace)
        slope = (self.lower + self.upper) / 2
        return f.leaky_relu_backward(gradOutput, input, slope, self.inplace)

    def _draw(self, tensor: Tensor) -> None:
        source(tensor).uniform_(tensor, self.lower, self.upper)

    def __repr__(self) -> str:
        return f"{self.typename} (l:{self.lower:f}, u:{self.upper:f})"


class PReLU(Layer):
    """A ``LeakyReLU`` with learned slopes (Torch7: ``nn.PReLU``).

    He et al., Delving Deep into Rectifiers, 2015.

    Args:
        nOutputPlane: how many slopes, one for each feature of the input; by default one for all.

    Shapes: ``D`` or ``N x D x ...`` with ``D`` of ``nOutputPlane``; also ``D x H x W``, where the
    second size is another one. ``weight`` has ``nOutputPlane`` elements, at first 0.25.

    PyTorch: ``torch.nn.PReLU``.
    """

    scratch_fields = ("gradWeightBuf", "gradWeightBuf2")

    def __init__(self, nOutputPlane: int = 0) -> None:
        super().__init__()
        self.nOutputPlane = whole(nOutputPlane, "nOutputPlane", 0)
        self.weight = torch.full((self.nOutputPlane or 1,), 0.25)

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.prelu(input, self._placed(self.weight, input)).contiguous())

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        slopes = self._placed(self.weight, input)
        gradInput = f.prelu_backward(shaped(gradOutput, input), input, slopes)
        return self.set_gradInput(gradInput.contiguous())

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        if self.gradWeight is not None:
            gradSlopes = self._placed(self.gradWeight, input)
            f.prelu_acc_(shaped(gradOutput, input), input, gradSlopes, scale)

    def _placed(self, slopes: Tensor, input: Tensor) -> Tensor:
        """Return one slope, or one per plane, in a shape that broadcasts to ``input``."""
        planes = self.nOutputPlane
        if planes == 0:
            return slopes
        # Torch7 takes three dimensions as a batch on CPUs and as one sample on GPUs.
        dims, first = input.dim(), input.size(0)
        sample = dims == 1 or (dims == 3 and first == planes != input.size(1))
        axis = 0 if sample else 1
        check_count(input.size(axis), planes)
        return slopes.view(-1, *[1] * (dims - axis - 1))


class CReLU(Sequential):
    """Join ``ReLU`` of the input and ``ReLU`` of its negative (Torch7: ``nn.CReLU``).

    Shang et al., Understanding and Improving Convolutional Neural Networks via Concatenated
    Rectified Linear Units, 2016.

    Args:
        nInputDims: the number of dimensions of a sample; an input with one more is a batch.
        inplace: let the ``ReLU`` work in place.

    Shapes: the first dimension of a sample, of features or planes, is twice as large in the output.
    """

    takes = TENSOR

    def __init__(self, nInputDims: int, inplace: bool = False) -> None:
        both = ConcatTable(Identity(), MulConstant(-1))
        super().__init__(both, JoinTable(2), ReLU(flag(inplace, "inplace")))
        self.nInputDims = whole(nInputDims, "nInputDims", 0)
        self.inplace = flag(inplace, "inplace")

    def updateOutput(self, input: Tensor) -> Tensor:
        batch = self._is_batch(input)
        size = list(input.shape)
        size[batch] *= 2
        self.output = super().updateOutput(self._rows(input, batch)).view(size)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        batch = self._is_batch(input)
        rows = self._rows(gradOutput, batch)
        gradInput = super().updateGradInput(self._rows(input, batch), rows)
        if gradInput is None:
            return None
        self.gradInput = gradInput.view(input.shape)
        return self.gradInput

    @own_backward
    def backward(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> Tensor | None:
        return self.updateGradInput(input, gradOutput)

    def _is_batch(self, input: Tensor) -> bool:
        return input.dim() == self.nInputDims + 1

    @staticmethod
    def _rows(tensor: Tensor, batch: bool) -> Tensor:
        return tensor.reshape(tensor.size(0) if batch else 1, -1)

    def __repr__(self) -> str:
        return "CReLU()"
