"""cudnn.torch's transfer functions."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from compat import nn
from compat.checks import flag, number
from compat.cudnn.base import Cudnn
from compat.nn.checks.tensors import check_dims
from compat.nn.functional import activation as f
from compat.nn.layers.elementwise import Elementwise


class ReLU(Cudnn, nn.ReLU, typename="cudnn.ReLU"):
    """``nn.ReLU`` (cudnn.torch: ``cudnn.ReLU``).

    Args:
        inplace: work in place.

    PyTorch: ``torch.nn.ReLU``.
    """

    # Lua's objects lack these fields.
    threshold = val = 0

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(flag(inplace, "inplace"))

    def apply_to(self, input: Tensor) -> Tensor:
        # cuDNN is told to pass NaN on.
        return F.relu(input, self.inplace)


class ClippedReLU(Cudnn, Elementwise, typename="cudnn.ClippedReLU"):
    """A ReLU with an upper bound (cudnn.torch: ``cudnn.ClippedReLU``).

    Args:
        ceiling: the upper bound.
        inplace: work in place.
    """

    def __init__(self, ceiling: float, inplace: bool = False) -> None:
        super().__init__()
        self.ceiling = number(ceiling, "ceiling")
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, 0.0, self.ceiling, self.inplace)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.hardtanh_backward(gradOutput, input, 0, self.ceiling, self.inplace)


class Tanh(Cudnn, nn.Tanh, typename="cudnn.Tanh"):
    """``nn.Tanh`` (cudnn.torch: ``cudnn.Tanh``).

    Args:
        inplace: work in place.

    PyTorch: ``torch.nn.Tanh``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return input.tanh_() if self.inplace else input.tanh()


class Sigmoid(Cudnn, nn.Sigmoid, typename="cudnn.Sigmoid"):
    """``nn.Sigmoid`` (cudnn.torch: ``cudnn.Sigmoid``).

    Args:
        inplace: work in place.

    PyTorch: ``torch.nn.Sigmoid``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        return input.sigmoid_() if self.inplace else input.sigmoid()


class _SoftMax(Cudnn, Elementwise):
    """The base of softmax layers: over planes, or in some classes over all of a sample.

    Args:
        fast: Torch7's choice of an algorithm, without effect.
    """

    # How many dimensions a sample has that has planes.
    sample_dims = 3
    over_all = False
    function = staticmethod(f.softmax)
    slope = staticmethod(f.softmax_backward)

    def __init__(self, fast: bool = False) -> None:
        super().__init__()
        self.algorithm = "CUDNN_SOFTMAX_FAST" if flag(fast, "fast") else "CUDNN_SOFTMAX_ACCURATE"

    def apply_to(self, input: Tensor) -> Tensor:
        dim = self._features(input)
        return self.function(self._joined(input, dim), dim).view(input.shape)

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        dim = self._features(input)
        given, output = self._joined(gradOutput, dim), self._joined(self.output, dim)
        return self.slope(given, output, dim).view(input.shape)

    def _features(self, input: Tensor) -> int:
        dims = self.sample_dims
        check_dims(input, 1, 2, dims, dims + 1)
        return int(input.dim() in (2, dims + 1))

    def _joined(self, tensor: Tensor, dim: int) -> Tensor:
        joined = self.over_all and tensor.dim() > 2
        return (tensor.flatten(dim) if joined else tensor).contiguous()


class SpatialSoftMax(_SoftMax, typename="cudnn.SpatialSoftMax"):
    """Softmax over the planes at each pixel (cudnn.torch: ``cudnn.SpatialSoftMax``).

    PyTorch: ``torch.nn.Softmax``.
    """


class SpatialLogSoftMax(_SoftMax, typename="cudnn.SpatialLogSoftMax"):
    """Log-softmax over the planes at each pixel (cudnn.torch: ``cudnn.SpatialLogSoftMax``).

    PyTorch: ``torch.nn.LogSoftmax``.
    """

    function = staticmethod(f.log_softmax)
    slope = staticmethod(f.log_softmax_backward)


class SoftMax(SpatialSoftMax, typename="cudnn.SoftMax"):
    """Softmax over all of each sample (cudnn.torch: ``cudnn.SoftMax``).

    PyTorch: ``torch.nn.Softmax``.
    """

    over_all = True


class LogSoftMax(SpatialLogSoftMax, typename="cudnn.LogSoftMax"):
    """Log-softmax over all of each sample (cudnn.torch: ``cudnn.LogSoftMax``).

    PyTorch: ``torch.nn.LogSoftmax``.
    """

    over_all = True


class VolumetricSoftMax(SpatialSoftMax, typename="cudnn.VolumetricSoftMax"):
    """Softmax over the planes at each voxel (cudnn.torch: ``cudnn.VolumetricSoftMax``)."""

    sample_dims = 4


class VolumetricLogSoftMax(SpatialLogSoftMax, typename="cudnn.VolumetricLogSoftMax"):
    """Log-softmax over the planes at each voxel (cudnn.torch: ``cudnn.VolumetricLogSoftMax``)."""

    sample_dims = 4
