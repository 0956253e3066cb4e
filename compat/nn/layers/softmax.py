"""The softmax family: functions over the features of each sample or place."""

from __future__ import annotations

from torch import Tensor

from compat.nn.checks.tensors import check_dims
from compat.nn.functional import activation as f
from compat.nn.layers.elementwise import Elementwise


def features_dim(input: Tensor) -> int:
    """Return the dimension of the features: of vectors and batches of them, images and batches of
    them.

    That is ``D`` of ``D``, ``N x D``, ``D x H x W`` and ``N x D x H x W``.
    """
    check_dims(input, 1, 2, 3, 4)
    return (input.dim() + 1) % 2


class SoftMax(Elementwise):
    """Compute ``exp(x_i) / sum_j exp(x_j)`` over the features (Torch7: ``nn.SoftMax``).

    Shapes: ``D``, ``N x D``, ``D x H x W`` or ``N x D x H x W``, features in the dimension ``D``.

    PyTorch: ``torch.nn.Softmax``.
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softmax(input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softmax_backward(gradOutput, self.output, features_dim(input))


class SoftMin(Elementwise):
    """The ``SoftMax`` of the negative input, in the same shapes (Torch7: ``nn.SoftMin``).

    PyTorch: ``torch.nn.Softmin``.
    """

    scratch_fields = ("mininput",)

    def apply_to(self, input: Tensor) -> Tensor:
        return f.softmax(-input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.softmax_backward(gradOutput, self.output, features_dim(input)).neg_()


class LogSoftMax(Elementwise):
    """The logarithm of ``SoftMax``, in the same shapes (Torch7: ``nn.LogSoftMax``).

    PyTorch: ``torch.nn.LogSoftmax``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.LogSoftMax().forward(torch.zeros(1, 4)).exp().tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """

    def apply_to(self, input: Tensor) -> Tensor:
        return f.log_softmax(input, features_dim(input))

    def gradient(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return f.log_softmax_backward(gradOutput, self.output, features_dim(input))


class SpatialSoftMax(SoftMax):
    """``SoftMax`` under a name for its use on images (Torch7: ``nn.SpatialSoftMax``).

    PyTorch: ``torch.nn.Softmax``.
    """


class SpatialLogSoftMax(LogSoftMax):
    """``LogSoftMax`` under a name for its use on images (Torch7: ``nn.SpatialLogSoftMax``).

    PyTorch: ``torch.nn.LogSoftmax``.
    """
