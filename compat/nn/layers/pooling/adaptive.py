"""Pooling to a given size, whatever the size of the input."""

from __future__ import annotations

from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_sample
from compat.nn.functional import pooling as f
from compat.nn.layers.pooling.places import Remembering
from compat.nn.layers.window import Emptied


class AdaptivePooling(Emptied, abstract=True):
    """The base of adaptive poolings: an output of ``H x W``, each element from its own window."""

    def __init__(self, W: int, H: int) -> None:
        super().__init__()
        self.W = whole(W, "W", 1)
        self.H = whole(H, "H", 1)

    def _check(self, input: Tensor) -> None:
        check_sample(input, "planes x height x width")


class SpatialAdaptiveAveragePooling(AdaptivePooling):
    """The average of each of ``H x W`` windows (Torch7: ``nn.SpatialAdaptiveAveragePooling``).

    Args:
        W, H: width and height of the output.

    Shapes: input ``[N x] planes x height x width``.

    PyTorch: ``torch.nn.AdaptiveAvgPool2d``.
    """

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        return self.set_output(f.adaptive_avg_pool(input, (self.H, self.W)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self._check(input)
        f.expect(gradOutput, (*input.shape[:-2], self.H, self.W))
        return self.set_gradInput(f.adaptive_avg_pool_backward(gradOutput, input))


class SpatialAdaptiveMaxPooling(Remembering, AdaptivePooling):
    """The maximum of each of ``H x W`` windows (Torch7: ``nn.SpatialAdaptiveMaxPooling``).

    Torch7 computes where windows begin and end in single precision, so that some are one element
    larger than PyTorch's. PyTorch's function is used where the two agree.

    Args:
        W, H: width and height of the output.

    Shapes: input ``[N x] planes x height x width``.

    Differs from Torch7: NaN in a window gives NaN; ``indices`` count the elements of a plane.

    PyTorch: ``torch.nn.AdaptiveMaxPool2d``.
    """

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        output, places = f.adaptive_max_pool(input, (self.H, self.W))
        self._remember(places, input)
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self._check(input)
        places = self.places_in(input.shape[-2:])
        return self.set_gradInput(f.to_places(gradOutput, input, places, 2))
