"""``nn.SpatialBinaryConvolution``: a convolution by the signs of its weights."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.nn.checks.arguments import nil_is_default
from compat.nn.core.module import deterministic
from compat.nn.layers.convolution.convolution import SpatialConvolution
from compat.nn.layers.replaced_gradients import StraightThrough, Through


class SpatialBinaryConvolution(SpatialConvolution):
    """A convolution by the signs of its weights (Torch7: ``nn.SpatialBinaryConvolution`` of dpnn).

    Rastegari et al., XNOR-Net, 2016. Each output plane is multiplied with the mean absolute weight
    of its kernel, and the gradient of each input plane with that of its kernels. The gradient of
    the weight is that of its signs, before either. There is no bias.

    Args:
        nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH: as in ``SpatialConvolution``.

    Shapes: as in ``SpatialConvolution``.

    Differs from Torch7: ``weight`` never holds the signs, which there it does from a forward pass
    in training until backward.
    """

    scratch_fields = (
        *("tempWeight", "alphas", "gradInputAlphas", "wmask", "_tempAlphas", "_tempAlphasExpanded"),
        *("_tempAlphasSamples", "_tempGradAlphas", "_tempGradAlphasExpanded"),
        "_tempGradAlphasSamples",
    )

    @nil_is_default
    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
    ) -> None:
        super().__init__(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
        self.noBias()
        self.iwh = self.nInputPlane * self.kW * self.kH
        self.owh = self.nOutputPlane * self.kW * self.kH
        self.train = True

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        sizes = self.weight.detach().abs()
        of_inputs = sizes.sum((0, 2, 3)).div(self.owh).view(-1, 1, 1)
        of_outputs = sizes.sum((1, 2, 3)).div(self.iwh).view(-1, 1, 1)
        output = super().compute(Through.apply(input, lambda gradient: gradient * of_inputs))
        return StraightThrough.apply(output, output.detach() * of_outputs)

    def kernels(self) -> Any:
        weight = self.weight.detach()
        signs = weight.new_ones(weight.shape).masked_fill_(weight < 0, -1)
        return StraightThrough.apply(self.weight, signs)

    def __repr__(self) -> str:
        return f"Binary Convolution: {super().__repr__()}"
