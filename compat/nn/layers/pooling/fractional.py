"""Fractional max pooling [Graham 2014]: random overlapping windows of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from compat.checks import listed, number, whole
from compat.nn.checks.tensors import check_dims
from compat.nn.core.module import Scalar
from compat.nn.functional import pooling as f
from compat.nn.layers.dropout import source
from compat.nn.layers.pooling.places import Remembering
from compat.nn.layers.window import Emptied

P = TypeVar("P", bound="FractionalMaxPooling")


class FractionalMaxPooling(Remembering, Emptied, abstract=True):
    """The base.

    Fields: ``randomSamples``, a number from 0 to 1 for each sample, plane and axis, drawn anew in
    every forward; ``newRandomPool``, true when they are not (see ``fixPoolingRegions``).
    """

    axes: ClassVar[str]
    # The axes of the input's last dimensions, as numbers of `axes`.
    _order: ClassVar[tuple[int, ...]]

    randomSamples: Tensor | None = None
    newRandomPool: bool = False

    def _build(self, window: Sequence[int], target: Sequence[Scalar]) -> None:
        for axis, size in zip(self.axes, window, strict=True):
            setattr(self, f"poolSize{axis}", whole(size, f"poolSize{axis}", 2))
        for i, extent in enumerate(target, 1):
            number(extent, f"arg{i}")
        if all(extent >= 1 for extent in target):
            kind = "out"
            target = [whole(n, f"out{axis}", 1) for axis, n in zip(self.axes, target, strict=True)]
        elif all(0 < extent < 1 for extent in target):
            kind = "ratio"
        else:
            raise ValueError(
                f"the output's size is {tuple(target)}; sizes from 1, or ratios between 0 and 1, "
                "are accepted"
            )
        for axis, extent in zip(self.axes, target, strict=True):
            setattr(self, kind + axis, extent)
        self.newRandomPool = False

    def fixPoolingRegions(self: P, val: bool | None = True) -> P:
        """Keep the windows of the latest forward, or draw new ones again (``val`` False)."""
        self.newRandomPool = True if val is None else val
        return self

    def numbers(self, prefix: str) -> list[Any]:
        """Return the fields of a kind, in the order of the input's dimensions."""
        return [getattr(self, prefix + self.axes[i], None) for i in self._order]

    def _extent(self, input: Tensor) -> Sequence[int]:
        return input.shape[-len(self.axes) :]

    def updateOutput(self, input: Tensor) -> Tensor:
        dims = len(self.axes) + 1
        check_dims(input, dims, dims + 1)
        window, sizes = self.numbers("poolSize"), self._output_sizes(input)
        samples = self._draw(input).to(input)
        output, places = f.fractional_max_pool(input, window, sizes, samples)
        self._remember(places, input)
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        dims = len(self.axes)
        check_dims(input, dims + 1, dims + 2)
        places = self.places_in(self._extent(input))
        return self.set_gradInput(f.to_places(gradOutput, input, places, dims))

    def objection(self, input: Any) -> Exception | None:
        found, window = super().objection(input), self.numbers("poolSize")
        extents = input.shape[-len(window) :] if found is None else ()
        if any(extent < size for extent, size in zip(extents, window, strict=False)):
            found = ValueError(
                f"input is {'x'.join(map(str, extents))}; at least the window, "
                f"{'x'.join(map(str, window))}, is accepted"
            )
        return found

    def _output_sizes(self, input: Tensor) -> list[int]:
        ratios = self.numbers("ratio")
        if None in ratios:
            return self.numbers("out")
        extents = input.shape[-len(ratios) :]
        sizes = [int(extent * ratio) for extent, ratio in zip(extents, ratios, strict=True)]
        if 0 in sizes:
            raise ValueError(
                f"input is {'x'.join(map(str, extents))}; one large enough for the ratios "
                f"{listed(ratios, 'and')} is accepted"
            )
        return sizes

    def _draw(self, input: Tensor) -> Tensor:
        planes = input.shape[: -len(self.axes)]
        shape = (*([1] * (2 - len(planes))), *planes, len(self.axes))
        samples = self.randomSamples
        if samples is None or samples.shape[:2] != shape[:2]:
            samples = self.randomSamples = input.new_empty(shape)
        elif self.newRandomPool:
            return samples
        return source(samples).uniform_(samples, 0, 1)

    def clearState(self: P) -> P:
        self.randomSamples = None
        return super().clearState()

    def _shown(self) -> list[int]:
        """Return the sizes of the print, with ratios cut off to whole numbers as in Torch7."""
        names = [
            f"out{axis}" if hasattr(self, f"out{axis}") else f"ratio{axis}" for axis in self.axes
        ]
        return [int(getattr(self, n)) for n in (*names, *(f"poolSize{axis}" for axis in self.axes))]


class SpatialFractionalMaxPooling(FractionalMaxPooling):
    """Fractional max pooling of planes (Torch7: ``nn.SpatialFractionalMaxPooling``).

    Args:
        poolSizeW, poolSizeH: width and height of the windows, at least 2.
        arg1, arg2: width and height of the output, or the ratios, less than 1, of the output's
            width and height to the input's.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.FractionalMaxPool2d``.
    """

    axes = "WH"
    _order = (1, 0)

    def __init__(self, poolSizeW: int, poolSizeH: int, arg1: Scalar, arg2: Scalar) -> None:
        super().__init__()
        self._build((poolSizeW, poolSizeH), (arg1, arg2))

    def __repr__(self) -> str:
        return "{}({}x{}, {},{})".format(self.typename, *self._shown())


class VolumetricFractionalMaxPooling(FractionalMaxPooling):
    """Fractional max pooling of volumes (Torch7: ``nn.VolumetricFractionalMaxPooling``).

    Args:
        poolSizeT, poolSizeW, poolSizeH: length in time, width and height of the windows, at
            least 2.
        arg1, arg2, arg3: length in time, width and height of the output, or the ratios, less
            than 1, of the output's to the input's.

    Shapes: input ``[N x] planes x H x W x T``, unlike other volumetric layers.

    PyTorch: ``torch.nn.FractionalMaxPool3d``.
    """

    axes = "TWH"
    _order = (2, 1, 0)

    def __init__(
        self,
        poolSizeT: int,
        poolSizeW: int,
        poolSizeH: int,
        arg1: Scalar,
        arg2: Scalar,
        arg3: Scalar,
    ) -> None:
        super().__init__()
        self._build((poolSizeT, poolSizeW, poolSizeH), (arg1, arg2, arg3))

    def __repr__(self) -> str:
        return "{}({}x{}x{}, {},{},{})".format(self.typename, *self._shown())
