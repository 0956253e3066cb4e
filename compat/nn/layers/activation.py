"""Transfer functions: the layers between the layers with parameters, and the softmax family.

Where a function has a kink, the gradient at it is Torch7's. NaN goes the way that Torch7's
comparisons send it: ``nn.ReLU`` makes it 0, and in place, where other elements are written to,
leaves it. A layer that works in place overwrites its input, and in backward its gradOutput.
"""

from __future__ import annotations

import torch
from torch import Tensor

from compat.checks import flag, number, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.indexing import checked_dim, counted
from compat.nn.checks.tensors import TENSOR, check_count, check_dims
from compat.nn.containers.basic import ConcatTable, Sequential
from compat.nn.core.file_fields import Stored
from compat.nn.functional import activation as f
from compat.nn.functional.pointwise import mul
from compat.nn.layers.dropout import Noisy, source
from compat.nn.layers.elementwise import Elementwise, shaped
from compat.nn.layers.identity import Identity
from compat.nn.layers.pointwise import MulConstant
from compat.nn.layers.table_layers import JoinTable


class Threshold(Elementwise):
    """``x`` above ``th`` and ``v`` elsewhere (Torch7: ``nn.Threshold``).

    Args:
        th: the threshold.
        v: the value at and below it.
        ip: work in place; ``v`` must not exceed ``th`` then, for the gradient to be right.

    PyTorch: ``torch.nn.Threshold``.
    """

    @nil_is_default
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
    """``max(x, 0)`` (Torch7: ``nn.ReLU``).

    Args:
        p: work in place.

    PyTorch: ``torch.nn.ReLU``.
    """

    @nil_is_default
    def __init__(self, p: bool = False) -> None:
        super().__init__(0, 0, flag(p, "p"))


class HardTanh(Elementwise):
    """``x`` between two bounds, and the bound beyond it (Torch7: ``nn.HardTanh``).

    Args:
        min_value, max_value: the bounds.
        inplace: work in place.

    PyTorch: ``torch.nn.Hardtanh``.
    """

    min_val: float = -1
    max_val: float = 1

    @nil_is_default
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
    """``HardTanh`` under another name (Torch7: ``nn.Clamp``).

    Args:
        min_value, max_value: the bounds.

    PyTorch: ``torch.nn.Hardtanh``.
    """

    def __init__(self, min_value: float, max_value: float) -> None:
        super().__init__(min_value, max_value)


class Clip(Elementwise):
    """``x`` between two bounds, with slope 1 everywhere (Torch7: ``nn.Clip`` of dpnn).

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
    """``min(max(x, 0), 6)`` (Torch7: ``nn.ReLU6``).

    Args:
        inplace: work in place.

    PyTorch: ``torch.nn.ReLU6``.
    """

    @nil_is_default
    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.hardtanh(input, 0, 6, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.hardtanh_backward(gradOutput, input, 0, 6, self.inplace)


class LeakyReLU(Elementwise):
    """``x`` above 0 and ``negval * x`` elsewhere (Torch7: ``nn.LeakyReLU``).

    Args:
        negval: the slope below 0. As in Torch7, True or False here means the default, and has
            nothing to do with ``ip``.
        ip: work in place; ignored where ``negval`` is negative.

    PyTorch: ``torch.nn.LeakyReLU``.
    """

    @nil_is_default
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
    """``x`` above 0 and ``alpha * (exp(x) - 1)`` elsewhere (Torch7: ``nn.ELU``).

    Clevert et al., Fast and Accurate Deep Network Learning by Exponential Linear Units, 2015.

    Args:
        alpha: minus the lower bound. As in Torch7 the gradient follows from the output, and is
            wrong where ``alpha`` is negative.
        inplace: work in place.

    PyTorch: ``torch.nn.ELU``.
    """

    @nil_is_default
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

    @nil_is_default
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


class PReLU(Stored):
    """A ``LeakyReLU`` with learned slopes (Torch7: ``nn.PReLU``).

    He et al., Delving Deep into Rectifiers, 2015.

    Args:
        nOutputPlane: how many slopes, one for each feature of the input; by default one for all.

    Shapes: ``D`` or ``N x D x ...`` with ``D`` of ``nOutputPlane``; also ``D x H x W``, where the
    second size is another one. ``weight`` has ``nOutputPlane`` elements, at first 0.25.

    PyTorch: ``torch.nn.PReLU``.
    """

    scratch_fields = ("gradWeightBuf", "gradWeightBuf2")

    @nil_is_default
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
        """One slope, or those of the planes, in a shape that meets ``input``."""
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
    """``ReLU`` of the input and of its negative, one after the other (Torch7: ``nn.CReLU``).

    Shang et al., Understanding and Improving Convolutional Neural Networks via Concatenated
    Rectified Linear Units, 2016.

    Args:
        nInputDims: the number of dimensions of a sample; an input with one more is a batch.
        inplace: let the ``ReLU`` work in place.

    Shapes: the first dimension of a sample, of features or planes, is twice as large in the output.
    """

    takes = TENSOR

    @nil_is_default
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

    def backward(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> Tensor | None:
        return self.updateGradInput(input, gradOutput)

    def _is_batch(self, input: Tensor) -> bool:
        return input.dim() == self.nInputDims + 1

    @staticmethod
    def _rows(tensor: Tensor, batch: bool) -> Tensor:
        return tensor.reshape(tensor.size(0) if batch else 1, -1)

    def __repr__(self) -> str:
        return "CReLU()"


class HardShrink(Elementwise):
    """0 from ``-lam`` to ``lam`` and ``x`` elsewhere (Torch7: ``nn.HardShrink``).

    Args:
        lam: the bound; the field is ``lambda_``.

    PyTorch: ``torch.nn.Hardshrink``.
    """

    @nil_is_default
    def __init__(self, lam: float = 0.5) -> None:
        super().__init__()
        self.lambda_ = number(lam, "lam")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.hardshrink(input, self.lambda_)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.shrink_backward(gradOutput, input, self.lambda_)


class SoftShrink(HardShrink):
    """``x`` moved by ``lam`` towards 0, but not beyond (Torch7: ``nn.SoftShrink``).

    Args:
        lam: how far; the field is ``lambda_``.

    PyTorch: ``torch.nn.Softshrink``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softshrink(input, self.lambda_)


class Tanh(Elementwise):
    """``tanh(x)`` (Torch7: ``nn.Tanh``).

    PyTorch: ``torch.nn.Tanh``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.tanh(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.tanh_backward(gradOutput, self.output)


class TanhShrink(Elementwise):
    """``x - tanh(x)`` (Torch7: ``nn.TanhShrink``).

    PyTorch: ``torch.nn.Tanhshrink``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tanh = Tanh()

    def apply_to(self, input: Tensor) -> Tensor:
        return input - self.tanh.updateOutput(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return gradOutput - self.tanh.updateGradInput(input, gradOutput)


class Sigmoid(Elementwise):
    """``1 / (1 + exp(-x))`` (Torch7: ``nn.Sigmoid``).

    PyTorch: ``torch.nn.Sigmoid``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.sigmoid(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.sigmoid_backward(gradOutput, self.output)


class LogSigmoid(Elementwise):
    """``log(1 / (1 + exp(-x)))`` (Torch7: ``nn.LogSigmoid``).

    At minus infinity it is NaN.

    PyTorch: ``torch.nn.LogSigmoid``.
    """

    scratch_fields = ("buffer",)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.logsigmoid(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.logsigmoid_backward(gradOutput, input)


class SoftPlus(Elementwise):
    """``log(1 + exp(beta * x)) / beta``, a smooth ReLU (Torch7: ``nn.SoftPlus``).

    Args:
        beta: the sharpness.

    Field: ``threshold``; where ``beta * x`` exceeds it the output is ``x``.

    PyTorch: ``torch.nn.Softplus``.
    """

    beta: float = 1
    threshold: float = 20

    @nil_is_default
    def __init__(self, beta: float = 1) -> None:
        super().__init__()
        self.beta = number(beta, "beta")
        self.threshold = 20

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softplus(input, self.beta, self.threshold)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softplus_backward(gradOutput, self.output, self.beta, self.threshold)


class SoftSign(Elementwise):
    """``x / (1 + |x|)`` (Torch7: ``nn.SoftSign``).

    PyTorch: ``torch.nn.Softsign``.
    """

    scratch_fields = ("temp", "tempgrad")

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softsign(input)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softsign_backward(gradOutput, input)


class GatedLinearUnit(Stored):
    """The first half of the features times the sigmoid of the second (``nn.GatedLinearUnit``).

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


def features_dim(input: Tensor) -> int:
    """The dimension of the features: of vectors and batches of them, images and batches of them.

    That is ``D`` of ``D``, ``N x D``, ``D x H x W`` and ``N x D x H x W``.
    """
    check_dims(input, 1, 2, 3, 4)
    return (input.dim() + 1) % 2


class SoftMax(Elementwise):
    """``exp(x_i) / sum_j exp(x_j)`` over the features (Torch7: ``nn.SoftMax``).

    Shapes: ``D``, ``N x D``, ``D x H x W`` or ``N x D x H x W``, features in the dimension ``D``.

    PyTorch: ``torch.nn.Softmax``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softmax(input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softmax_backward(gradOutput, self.output, features_dim(input))


class SoftMin(Elementwise):
    """The ``SoftMax`` of the negative input (Torch7: ``nn.SoftMin``). Shapes as there.

    PyTorch: ``torch.nn.Softmin``.
    """

    scratch_fields = ("mininput",)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softmax(-input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softmax_backward(gradOutput, self.output, features_dim(input)).neg_()


class LogSoftMax(Elementwise):
    """The logarithm of ``SoftMax`` (Torch7: ``nn.LogSoftMax``). Shapes as there.

    PyTorch: ``torch.nn.LogSoftmax``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.log_softmax(input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.log_softmax_backward(gradOutput, self.output, features_dim(input))


class SpatialSoftMax(SoftMax):
    """``SoftMax``, named for its use on images (Torch7: ``nn.SpatialSoftMax``). Shapes as there.

    PyTorch: ``torch.nn.Softmax``.
    """


class SpatialLogSoftMax(LogSoftMax):
    """``LogSoftMax``, named for its use on images (Torch7: ``nn.SpatialLogSoftMax``).

    PyTorch: ``torch.nn.LogSoftmax``.
    """
