"""``nn.SpatialBinaryConvolution``: a convolution by the signs of its weights."""

from __future__ import annotations

from torch import Tensor

from compat.nn.checks.tensors import check_type
from compat.nn.functional import convolution as f
from compat.nn.functional.convolution import Gradients, Mask
from compat.nn.layers.convolution.convolution import SpatialConvolution


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

    def _draw(self) -> None:
        super()._draw()
        self.noBias()
        self.iwh = self.nInputPlane * self.kW * self.kH
        self.owh = self.nOutputPlane * self.kW * self.kH
        self.train = True

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input, self.nInputPlane)
        check_type(input, self.weight)
        window = self.window_stride, self.window_padding
        return self.set_output(f.binary_convolution(input, self.weight, self.bias, *window))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        window = self.window_stride, self.window_padding
        return f.binary_convolution_backward(input, gradOutput, self.weight, mask, *window)

    def __repr__(self) -> str:
        return f"Binary Convolution: {super().__repr__()}"
