"""Normalisation over a batch, over neighbouring planes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat import random, t7
from compat.checks import flag, number, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_count, check_dims, check_type
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Scalar, deterministic


class BatchNormalization(Stored):
    """Batch normalisation [Ioffe and Szegedy 2015] of vectors (Torch7: ``nn.BatchNormalization``).

    Args:
        nOutput: number of features.
        eps: added to the variance.
        momentum: weight of the batch in the running statistics.
        affine: whether to scale and shift the result by ``weight`` and ``bias``.

    Shapes: input ``N x nOutput``; in evaluate mode also ``nOutput``, which gives ``1 x nOutput``.

    Fields: ``running_mean`` and ``running_var``, of unbiased variances, used in evaluate mode and,
    unchanged, for a training batch of one row, whatever its height and width.

    PyTorch: ``torch.nn.BatchNorm1d``.
    """

    t7_version = 2
    nDim: ClassVar[int] = 2
    # What a container of replicas puts in the place of F.batch_norm for a pass.
    normalise: Callable[..., Tensor] | None = None
    transient_fields: ClassVar[tuple[str, ...]] = ("normalise", "repeatable")
    scratch_fields = (
        "_input",
        "_gradOutput",
        "save_mean",
        "save_std",
        "buffer",
        "buffer2",
        "centered",
        "std",
        "normalized",
    )
    cleared_fields = ("centered", "std", "normalized")
    shared_by_clones = ("running_mean", "running_var")

    @nil_is_default
    def __init__(
        self,
        nOutput: int,
        eps: Scalar = 1e-5,
        momentum: Scalar = 0.1,
        affine: bool = True,
    ) -> None:
        super().__init__()
        nOutput = whole(nOutput, "nOutput", 1)
        self.affine = flag(affine, "affine")
        self.eps = number(eps, "eps")
        self.momentum = number(momentum, "momentum")
        self.train = True
        self.running_mean = torch.zeros(nOutput)
        self.running_var = torch.ones(nOutput)
        if self.affine:
            self.weight = torch.empty(nOutput)
            self.bias = torch.empty(nOutput)
            self.reset()

    def reset(self, stdv: Scalar | None = None) -> BatchNormalization:
        """Draw ``weight`` uniformly from 0 to 1; zero the rest. ``stdv`` is not used."""
        if self.weight is not None:
            random.uniform_(self.weight, 0, 1)
        if self.bias is not None:
            self.bias.zero_()
        self.running_mean.zero_()
        self.running_var.fill_(1)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check(input)
        if input.dim() < self.nDim:
            input = input.unsqueeze(0)
        normalise = self.normalise if self.train and self.normalise else F.batch_norm
        return normalise(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.train and self._has_statistics(input),
            self.momentum,
            self.eps,
        )

    def _has_statistics(self, input: Tensor) -> bool:
        """Whether this batch, in training, is normalised by its own mean and variance."""
        return input.size(0) > 1

    def _check(self, input: Tensor) -> None:
        single = input.dim() == self.nDim - 1
        if input.dim() != self.nDim and (self.train or not single):
            raise ValueError(
                f"input has {input.dim()} dimensions; {self.nDim} (a batch) are accepted, in "
                f"evaluate mode also {self.nDim - 1} (a sample)"
            )
        check_count(input.size(0 if single else 1), self.running_mean.numel())
        check_type(input, self.running_mean)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        running_std = fields.pop("running_std", None)
        if version < 2 and running_std is not None:
            # Despite its name, the inverse of the standard deviation.
            t7.claim(running_std.nbytes)
            fields["running_var"] = running_std.pow(-2).sub_(fields["eps"])
        super().t7_restore(fields, version)

    def __repr__(self) -> str:
        return f"{self.typename} ({self.nDim}D) ({self.running_mean.numel()})"


class SpatialBatchNormalization(BatchNormalization):
    """Batch normalisation of planes (Torch7: ``nn.SpatialBatchNormalization``).

    Args: as in ``BatchNormalization``.

    Shapes: input ``N x nOutput x H x W``; in evaluate mode also a single sample.

    PyTorch: ``torch.nn.BatchNorm2d``.
    """

    t7_version = 2
    nDim = 4


class VolumetricBatchNormalization(BatchNormalization):
    """Batch normalisation of volumes (Torch7: ``nn.VolumetricBatchNormalization``).

    Args: as in ``BatchNormalization``.

    Shapes: input ``N x nOutput x T x H x W``; in evaluate mode also a single sample.

    PyTorch: ``torch.nn.BatchNorm3d``.
    """

    t7_version = 2
    nDim = 5


class SpatialCrossMapLRN(Stored):
    """Local response normalisation over planes (Torch7: ``nn.SpatialCrossMapLRN``).

    Divides by (``k`` + ``alpha`` / ``size`` · the sum of squares over the ``size`` nearest planes)
    to the power ``beta`` [Krizhevsky, Sutskever and Hinton 2012].

    Args:
        size: number of planes, the plane itself included.
        alpha, beta, k: as above.

    Shapes: input ``[N x] planes x H x W``.

    Differs from Torch7: ``size`` 1 works.

    PyTorch: ``torch.nn.LocalResponseNorm``.
    """

    cleared_fields = ("scale", "paddedRatio", "accumRatio")

    scratch_fields = ("scale", "paddedRatio", "accumRatio")

    @nil_is_default
    def __init__(
        self,
        size: int,
        alpha: Scalar = 0.0001,
        beta: Scalar = 0.75,
        k: Scalar = 1,
    ) -> None:
        super().__init__()
        self.size = whole(size, "size", 1)
        self.alpha = number(alpha, "alpha")
        self.beta = number(beta, "beta")
        self.k = number(k, "k")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_dims(input, 3, 4)
        batch = input if input.dim() == 4 else input.unsqueeze(0)
        output = _CrossMapLRN.apply(batch, self.size, self.alpha / self.size, self.beta, self.k)
        return output if input.dim() == 4 else output.squeeze(0)


class _CrossMapLRN(torch.autograd.Function):
    """The normalisation, with the few passes over memory that gradients by hand take."""

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, size: int, alpha: Scalar, beta: Scalar, k: Scalar
    ) -> Tensor:
        before, after = (size - 1) // 2, size // 2
        scale = window_sums(input.square(), before, after).mul_(alpha).add_(k)
        factor = scale.pow(-beta)
        ctx.save_for_backward(input, scale, factor)
        ctx.constants = before, after, 2 * alpha * beta
        return input * factor

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input, scale, factor = ctx.saved_tensors
        before, after, slope = ctx.constants
        direct = gradient * factor
        ratio = (direct * input).div_(scale)
        sums = window_sums(ratio, after, before)
        return direct.addcmul_(input, sums, value=-slope), None, None, None, None


def window_sums(planes: Tensor, before: int, after: int) -> Tensor:
    """The sums over each plane and its neighbours, ``before`` and ``after`` of them."""
    sums = planes.clone()
    for distance in range(1, min(before, planes.size(1) - 1) + 1):
        sums[:, distance:] += planes[:, :-distance]
    for distance in range(1, min(after, planes.size(1) - 1) + 1):
        sums[:, :-distance] += planes[:, distance:]
    return sums
