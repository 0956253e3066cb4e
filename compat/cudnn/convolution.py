"""cudnn.torch's convolutions."""

from __future__ import annotations

from typing import Any, TypeVar

from compat import nn
from compat.checks import whole
from compat.cudnn.base import Cudnn

A = TypeVar("A", bound="_Algorithms")


class _Algorithms(Cudnn):
    """The base of convolutions: methods that choose algorithms, without effect."""

    def fastest(self: A, mode: bool | None = True) -> A:
        """Ask for the fastest algorithms."""
        return self

    def setMode(self: A, fmode: Any = None, bdmode: Any = None, bwmode: Any = None) -> A:
        """Ask for certain algorithms forward, and backward to the data and to the weights."""
        return self

    def resetMode(self: A) -> A:
        """Undo ``setMode``."""
        return self

    def resetWeightDescriptors(self: A) -> A:
        """Do nothing: there are no descriptors to make anew."""
        return self


class SpatialConvolution(_Algorithms, nn.SpatialConvolution, typename="cudnn.SpatialConvolution"):
    """``nn.SpatialConvolution`` with groups (cudnn.torch: ``cudnn.SpatialConvolution``).

    Args:
        nInputPlane, nOutputPlane, kW, kH, dW, dH, padW: as in ``nn.SpatialConvolution``.
        padH: 0 by default.
        groups: how many groups the planes are split into; it divides both numbers of planes.

    Shapes: ``weight`` is ``nOutputPlane x nInputPlane/groups x kH x kW``.

    PyTorch: ``torch.nn.Conv2d``.
    """

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int = 0,
        groups: int = 1,
    ) -> None:
        self.groups = whole(groups, "groups", 1)
        for name, planes in (("nInputPlane", nInputPlane), ("nOutputPlane", nOutputPlane)):
            if whole(planes, name, 1) % self.groups:
                raise ValueError(f"{name} is {planes}; a multiple of groups, {groups}, is accepted")
        super().__init__(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)


class VolumetricConvolution(
    _Algorithms, nn.VolumetricConvolution, typename="cudnn.VolumetricConvolution"
):
    """``nn.VolumetricConvolution`` (cudnn.torch: ``cudnn.VolumetricConvolution``).

    PyTorch: ``torch.nn.Conv3d``.
    """

    _input_dims = 5


class SpatialFullConvolution(
    _Algorithms, nn.SpatialFullConvolution, typename="cudnn.SpatialFullConvolution"
):
    """``nn.SpatialFullConvolution`` (cudnn.torch: ``cudnn.SpatialFullConvolution``).

    PyTorch: ``torch.nn.ConvTranspose2d``.
    """


class VolumetricFullConvolution(
    _Algorithms, nn.VolumetricFullConvolution, typename="cudnn.VolumetricFullConvolution"
):
    """``nn.VolumetricFullConvolution`` (cudnn.torch: ``cudnn.VolumetricFullConvolution``).

    PyTorch: ``torch.nn.ConvTranspose3d``.
    """

    _input_dims = 5


class TemporalConvolution(
    _Algorithms, nn.TemporalConvolution, typename="cudnn.TemporalConvolution"
):
    """``nn.TemporalConvolution`` with padding (cudnn.torch: ``cudnn.TemporalConvolution``).

    Args:
        inputFrameSize, outputFrameSize: numbers of features of a frame.
        kH: number of frames that the kernel spans.
        dH: step.
        padH: zero frames added at either end.

    PyTorch: ``torch.nn.Conv1d``.
    """

    window_size = property(lambda self: (self.kH,))
    window_stride = property(lambda self: (self.dH,))
    window_padding = property(lambda self: (self.padH,))

    def __init__(
        self,
        inputFrameSize: int,
        outputFrameSize: int,
        kH: int,
        dH: int = 1,
        padH: int = 0,
    ) -> None:
        nn.Module.__init__(self)
        self.inputFrameSize = whole(inputFrameSize, "inputFrameSize", 1)
        self.outputFrameSize = whole(outputFrameSize, "outputFrameSize", 1)
        # For cuDNN a sequence is an image of one plane, its frames are rows.
        self.nInputPlane, self.nOutputPlane = 1, self.outputFrameSize
        self.kW, self.kH = self.inputFrameSize, whole(kH, "kH", 1)
        self.dW, self.dH = 1, whole(dH, "dH", 1)
        self.padW, self.padH = 0, whole(padH, "padH", 0)
        self._draw()
