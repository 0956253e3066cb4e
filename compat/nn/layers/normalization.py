"""Normalisation over a batch, over neighbouring planes."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import random, t7
from compat.checks import flag, number, whole
from compat.nn.checks.tensors import check_count, check_dims, check_gradOutput, check_type
from compat.nn.core.layer import Layer, own_backward
from compat.nn.core.module import Scalar
from compat.nn.functional import normalization as f


class BatchNormalization(Layer):
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

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> layer = nn.BatchNormalization(3)
        >>> output = layer.forward(torch.randn(8, 3))  # the batch's statistics, in training
        >>> bool(layer.evaluate().forward(torch.zeros(1, 3)).isfinite().all())  # the running ones
        True
    """

    t7_version = 2
    nDim: ClassVar[int] = 2
    # Whose batch_norm and batch_norm_backward training uses; a container of replicas may set others
    # while it goes forward and back.
    kernels: Any = f
    # Mean and inverse deviation of the latest training batch.
    save_mean: Tensor | None = None
    save_std: Tensor | None = None
    transient_fields: ClassVar[tuple[str, ...]] = ("kernels",)
    pass_fields: ClassVar[tuple[str, ...]] = ("save_mean", "save_std")
    scratch_fields = (
        "_input",
        "_gradOutput",
        "buffer",
        "buffer2",
        "centered",
        "std",
        "normalized",
    )
    cleared_fields = ("centered", "std", "normalized")
    shared_by_clones = ("running_mean", "running_var")

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

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        check_type(input, self.running_mean)
        batch = self._batch(input)
        train = self.train
        kernels = self.kernels if train else f
        output, mean, inverse = kernels.batch_norm(
            batch,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            train and self._has_statistics(batch),
            self.momentum,
            self.eps,
        )
        if train:
            self.save_mean, self.save_std = mean, inverse
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self._gradients(input, gradOutput, 1, True, False)

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        self._gradients(input, gradOutput, scale, False, True)

    @own_backward
    def backward(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> Tensor | None:
        # One call, as in Torch7: what replaces one of the two methods above is not asked.
        return self._gradients(input, gradOutput, scale, True, True)

    def _gradients(
        self, input: Tensor, gradOutput: Tensor, scale: Scalar, to_input: bool, to_parameters: bool
    ) -> Tensor | None:
        """Return gradInput; add the gradients of the parameters."""
        self._check(input)
        batch, gradOutput = self._batch(input), self._batch(gradOutput)
        check_gradOutput(gradOutput, batch)
        mean, train = self.save_mean, self.train and self._has_statistics(batch)
        if train and mean is None:
            raise RuntimeError("backward needs a forward pass in training mode first")
        to_input = to_input and self.gradInput is not None
        gradWeight = self.gradWeight if to_parameters else None
        gradBias = self.gradBias if to_parameters else None
        kernels = self.kernels if self.train else f
        gradInput, ofWeight, ofBias = kernels.batch_norm_backward(
            gradOutput,
            batch,
            self.weight,
            self.running_mean,
            self.running_var,
            mean,
            self.save_std,
            train,
            self.eps,
            [to_input, gradWeight is not None, gradBias is not None],
        )
        if gradWeight is not None and ofWeight is not None:
            gradWeight.add_(ofWeight, alpha=scale)
        if gradBias is not None and ofBias is not None:
            gradBias.add_(ofBias, alpha=scale)
        return self.set_gradInput(gradInput.view(input.shape)) if to_input else None

    def _batch(self, tensor: Tensor) -> Tensor:
        """Return a sample, as it is accepted in evaluate mode, as a batch."""
        return tensor.unsqueeze(0) if tensor.dim() < self.nDim else tensor

    def _has_statistics(self, input: Tensor) -> bool:
        """Return whether this batch, in training, is normalised by its own mean and variance."""
        return input.size(0) > 1

    def _check(self, input: Tensor) -> None:
        single = input.dim() == self.nDim - 1
        if input.dim() != self.nDim and (self.train or not single):
            raise ValueError(
                f"input has {input.dim()} dimensions; {self.nDim} (a batch) are accepted, in "
                f"evaluate mode also {self.nDim - 1} (a sample)"
            )
        check_count(input.size(0 if single else 1), self.running_mean.numel())

    def t7_fields(self) -> dict[str, Any]:
        saved = {"save_mean": self.save_mean, "save_std": self.save_std}
        return super().t7_fields() | {k: v for k, v in saved.items() if v is not None}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("save_mean", "save_std"):
            saved = fields.pop(name, None)
            if isinstance(saved, Tensor) and saved.shape == fields["running_mean"].shape:
                fields[name] = saved
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


class SpatialCrossMapLRN(Layer):
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
    pass_fields: ClassVar[tuple[str, ...]] = ("scale",)
    scale: Tensor | None = None

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

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 3, 4)
        output, self.scale = f.cross_map_lrn(input, self.size, self.alpha, self.beta, self.k)
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        if self.scale is None:
            raise RuntimeError("backward needs a forward pass first")
        check_gradOutput(gradOutput, input)
        constants = self.size, self.alpha, self.beta
        return self.set_gradInput(
            f.cross_map_lrn_backward(input, gradOutput, self.output, self.scale, *constants)
        )
