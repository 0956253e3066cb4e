"""Putting values back where a max pooling found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from torch import Tensor

from compat.checks import wrong_type
from compat.nn.functional import pooling as f
from compat.nn.layers.pooling.pooling import SpatialMaxPooling, VolumetricMaxPooling
from compat.nn.layers.pooling.windows import MaxPooling
from compat.nn.layers.window import Emptied

U = TypeVar("U", bound="MaxUnpooling")


class MaxUnpooling(Emptied, abstract=True):
    """The base: zeros, but for the input's values at the places of a pooling's maxima.

    The pooling must have gone forward before. Field: ``pooling``.
    """

    _pooling_class: ClassVar[type[MaxPooling]]

    def __init__(self, poolingModule: MaxPooling) -> None:
        super().__init__()
        wanted = self._pooling_class
        if getattr(poolingModule, "typename", None) not in (
            wanted.typename,
            wanted.typename.replace("nn", "cudnn"),
        ):
            raise wrong_type(poolingModule, "poolingModule", f"a {wanted.typename}")
        if poolingModule.window_size != poolingModule.window_stride:
            raise ValueError(
                f"poolingModule is {poolingModule!r}; one whose step is the size of its window "
                "is accepted"
            )
        self.pooling = poolingModule

    @property
    def indices(self) -> Tensor:
        """The places of the pooling's maxima, counted from 1."""
        return self.pooling.indices

    def _places(self) -> tuple[Tensor, Sequence[int]]:
        """Return the places of the pooling's maxima, and the size of the planes."""
        pooling = self.pooling
        if not pooling.extent or (pooling.places is None and not pooling.indices.numel()):
            raise RuntimeError("unpooling needs a forward pass of the pooling first")
        return pooling.places_in(pooling.extent), pooling.extent

    def updateOutput(self, input: Tensor) -> Tensor:
        places, size = self._places()
        if input.shape != places.shape:
            raise ValueError(
                f"input has size {tuple(input.shape)}; that of the pooling's output, "
                f"{tuple(places.shape)}, is accepted"
            )
        return self.set_output(f.max_unpool(input, places, size))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self.set_gradInput(f.max_unpool_backward(gradOutput, *self._places()))

    def __repr__(self) -> str:
        return f"{self.typename} associated to {self.pooling!r}"


class SpatialMaxUnpooling(MaxUnpooling):
    """The reverse of a max pooling of planes (Torch7: ``nn.SpatialMaxUnpooling``).

    Args:
        poolingModule: a ``SpatialMaxPooling`` whose step is the size of its window.

    Shapes: input of the size of the pooling's output; output of the size of the pooling's input.

    PyTorch: ``torch.nn.MaxUnpool2d``.
    """

    _pooling_class = SpatialMaxPooling


class VolumetricMaxUnpooling(MaxUnpooling):
    """The reverse of a max pooling of volumes (Torch7: ``nn.VolumetricMaxUnpooling``).

    Args:
        poolingModule: a ``VolumetricMaxPooling`` whose step is the size of its window.

    Shapes: input of the size of the pooling's output; output of the size of the pooling's input.

    PyTorch: ``torch.nn.MaxUnpool3d``.
    """

    _pooling_class = VolumetricMaxPooling
