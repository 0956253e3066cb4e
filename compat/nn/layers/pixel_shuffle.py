"""``nn.PixelShuffle``."""

from __future__ import annotations

from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_dims
from compat.nn.core.layer import Layer
from compat.nn.functional import pixel_shuffle as f


class PixelShuffle(Layer):
    """Upscaling that turns ``D·r² x H x W`` into ``D x H·r x W·r`` (Torch7: ``nn.PixelShuffle``).

    Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
    Convolutional Neural Network, 2016.

    Args:
        upscaleFactor: the factor r.

    Shapes: ``D·r² x H x W`` or a batch ``N x D·r² x H x W``.

    PyTorch: ``torch.nn.PixelShuffle``.
    """

    scratch_fields = (
        *("_intermediateShape", "_intermediateShapeGrad", "_outShape", "_shuffleOut"),
        *("_shuffleIn", "_shuffleGradOutput"),
    )

    def __init__(self, upscaleFactor: int) -> None:
        super().__init__()
        self.upscaleFactor = whole(upscaleFactor, "upscaleFactor", 1)
        self.upscaleFactorSquared = self.upscaleFactor**2

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 3, 4)
        if input.size(-3) % self.upscaleFactorSquared:
            raise ValueError(
                f"input has {input.size(-3)} planes; a multiple of {self.upscaleFactorSquared} "
                "is accepted"
            )
        return self.set_output(f.pixel_shuffle(input, self.upscaleFactor))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.pixel_shuffle_backward(input, gradOutput, self.upscaleFactor))
