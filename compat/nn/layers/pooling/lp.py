"""Pooling by the p-norm of each window."""

from __future__ import annotations

from torch import Tensor

from compat.checks import flag, number, whole
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import pooling as f
from compat.nn.layers.pointwise import MulConstant, Power, Sqrt, Square
from compat.nn.layers.pooling.pooling import SpatialAveragePooling


class SpatialLPPooling(Sequential):
    """The p-th root of the sum of p-th powers (Torch7: ``nn.SpatialLPPooling``).

    Args:
        nInputPlane: not used, as in Torch7.
        pnorm: the power.
        kW, kH: width and height of the window.
        dW, dH: step, by default the window's size.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.LPPool2d``.
    """

    def __init__(
        self,
        nInputPlane: int,
        pnorm: Scalar,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
    ) -> None:
        super().__init__()
        self.kW, self.kH = kW, kH
        self.dW = kW if dW is None else dW
        self.dH = kH if dH is None else dH
        number(pnorm, "pnorm")
        if not pnorm > 0:
            raise ValueError(f"pnorm is {pnorm}; more than 0 is accepted")
        self.add(Square() if pnorm == 2 else Power(pnorm))
        self.add(SpatialAveragePooling(kW, kH, self.dW, self.dH))
        self.add(MulConstant(kW * kH))
        self.add(Sqrt() if pnorm == 2 else Power(1 / pnorm))

    def reset(self, stdv: Scalar | None = None) -> SpatialLPPooling:
        """Do nothing: the layer has no parameters."""
        return self


class FeatureLPPooling(Layer):
    """The p-norm of neighbouring features (Torch7: ``nn.FeatureLPPooling``).

    Args:
        width: number of features in a window, 2 to 16.
        stride: step, 1 to 4.
        power: p; the powers of negative numbers keep their sign where p is odd.
        batch_mode: whether the first dimension is the batch and the second the features; else the
            first is the features. Up to two more dimensions may follow.

    Differs from Torch7: can be printed.
    """

    def __init__(self, width: int, stride: int, power: Scalar, batch_mode: bool = False) -> None:
        super().__init__()
        self.width, self.stride = whole(width, "width", 2, 16), whole(stride, "stride", 1, 4)
        self.power = number(power, "power")
        self.batch_mode = flag(batch_mode, "batch_mode")

    def _arguments(self) -> tuple[Scalar, int, int, int]:
        return self.power, self.width, self.stride, int(self.batch_mode)

    def updateOutput(self, input: Tensor) -> Tensor:
        axis = int(self.batch_mode)
        check_dims(input, *range(1 + axis, 4 + axis))
        if input.size(axis) < self.width:
            raise ValueError(
                f"input has {input.size(axis)} features; at least width, {self.width}, are accepted"
            )
        return self.set_output(f.feature_lp_pool(input, *self._arguments()))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(
            f.feature_lp_pool_backward(gradOutput, input, self.output, *self._arguments())
        )

    def __repr__(self) -> str:
        return (
            f"{self.typename}(w{self.width} s{self.stride} power {self.power:g} "
            f"batch {int(self.batch_mode)})"
        )
