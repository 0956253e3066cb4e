"""Enlarging planes and volumes, and giving planes another size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from compat import t7
from compat.checks import number, whole, wrong_type
from compat.nn.checks.tensors import check_sample
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional import upsampling as f


class Resampling(Layer, abstract=True):
    """The base: nearest neighbours or linear interpolation, by a factor or to a size."""

    scratch_fields = ("_input", "_gradOutput", "inputSize", "outputSize")
    # How many numbers Lua's forward expects the LongStorages inputSize and outputSize to hold.
    _size_numbers: ClassVar[int]

    mode: str
    scale_factor: int | None = None
    odepth: int | None = None
    oheight: int | None = None
    owidth: int | None = None

    def _build(self, params: Any, mode: str) -> None:
        self.mode = mode
        if not isinstance(params, Mapping):
            self.scale_factor = whole(params, "scale_factor", 1)
            return
        if mode == "nearest":
            raise ValueError(
                "params is a table of sizes; for nearest neighbours, a scale factor is accepted"
            )
        for name in ("odepth", "oheight", "owidth"):
            if params.get(name) is not None:
                setattr(self, name, whole(params[name], name, 1))
            elif name != "odepth":
                raise ValueError(
                    f"params has no {name}; a table with oheight and owidth is accepted"
                )

    def _axes(self, input: Tensor) -> int:
        """Return the number of axes of the planes or volumes; refuse other inputs."""
        raise TypeError(f"{self.typename} does not define _axes(input)")

    def _size(self, input: Tensor) -> list[int]:
        """Return the size of the output's planes or volumes."""
        axes = self._axes(input)
        if self.scale_factor is not None:
            return [extent * self.scale_factor for extent in input.shape[-axes:]]
        sizes = (self.odepth, self.oheight, self.owidth)[-axes:]
        if None in sizes:
            raise ValueError("input is a volume; without odepth, a plane is accepted")
        return list(sizes)  # type: ignore[arg-type]

    def updateOutput(self, input: Tensor) -> Tensor:
        resize = f.upsample_nearest if self.mode == "nearest" else f.upsample_linear
        return self.set_output(resize(input, self._size(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        nearest = self.mode == "nearest"
        pull = f.upsample_nearest_backward if nearest else f.upsample_linear_backward
        return self.set_gradInput(pull(gradOutput, input.shape, self._size(input)))

    def t7_fields(self) -> dict[str, Any]:
        inputSize, outputSize = (t7.Storage([0] * self._size_numbers) for _ in range(2))
        return super().t7_fields() | {"inputSize": inputSize, "outputSize": outputSize}


class _SpatialUpSampling(Resampling):
    _size_numbers = 4
    _own_mode: ClassVar[str]

    def _axes(self, input: Tensor) -> int:
        check_sample(input, "planes x height x width")
        return 2

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("mode", None)
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.mode = self._own_mode


class SpatialUpSamplingNearest(_SpatialUpSampling):
    """Enlarge planes by repeating pixels (Torch7: ``nn.SpatialUpSamplingNearest``).

    Args:
        scale: the factor in both directions.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.Upsample``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SpatialUpSamplingNearest(2).forward(torch.ones(1, 3, 4, 5)).shape
        torch.Size([1, 3, 8, 10])
    """

    _own_mode = "nearest"

    def __init__(self, scale: int) -> None:
        super().__init__()
        self._build(scale, self._own_mode)


class SpatialUpSamplingBilinear(_SpatialUpSampling):
    """Bilinear interpolation, corners to corners (Torch7: ``nn.SpatialUpSamplingBilinear``).

    Args:
        scale_factor: the factor in both directions, or a dict of the output's ``oheight`` and
            ``owidth``.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.Upsample``.
    """

    _own_mode = "linear"

    def __init__(self, scale_factor: int | Mapping[str, int]) -> None:
        super().__init__()
        self._build(scale_factor, self._own_mode)

    def __repr__(self) -> str:
        size = f"{self.oheight}, {self.owidth}"
        return f"{self.typename}({size if self.scale_factor is None else self.scale_factor})"


class UpSampling(Resampling):
    """Enlargement of planes or volumes (Torch7: ``nn.UpSampling``).

    Args:
        params: the factor in all directions, or, for linear interpolation, a dict of the output's
            ``oheight``, ``owidth`` and, for volumes, ``odepth``.
        mode: ``"linear"``, ``"bilinear"`` or ``"trilinear"`` for linear interpolation, corners to
            corners; nearest neighbours otherwise.

    Shapes: input ``N x planes [x T] x H x W``.

    PyTorch: ``torch.nn.Upsample``.
    """

    _size_numbers = 5

    def __init__(self, params: int | Mapping[str, int], mode: str = "nearest") -> None:
        super().__init__()
        if not isinstance(mode, str):
            raise TypeError(f"mode is {mode!r}; a string is accepted")
        linear = mode in ("linear", "bilinear", "trilinear")
        self._build(params, "linear" if linear else "nearest")

    def _axes(self, input: Tensor) -> int:
        if input.dim() not in (4, 5):
            raise ValueError(
                f"input has {input.dim()} dimensions; 4 (a batch of planes) or 5 (of volumes) "
                "are accepted"
            )
        return input.dim() - 2

    def __repr__(self) -> str:
        sizes = [n for n in (self.odepth, self.oheight, self.owidth) if n is not None]
        size = "x".join(map(str, sizes)) if self.scale_factor is None else f"{self.scale_factor}x"
        return f"{self.typename}({size}, {self.mode})"


class SpatialReSampling(Layer):
    """Bilinear interpolation to another size, corners to corners (``nn.SpatialReSampling`` of nnx).

    Args:
        params: a dict of ``owidth`` and ``oheight``, the size of the output, or of ``rwidth`` and
            ``rheight``, its ratio to that of the first input.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.Upsample``.
    """

    oheight: int | None = None
    owidth: int | None = None
    rheight: Scalar | None = None
    rwidth: Scalar | None = None

    def __init__(self, params: Mapping[str, Scalar]) -> None:
        super().__init__()
        if not isinstance(params, Mapping):
            raise wrong_type(params, "params", "a dict")
        for axis in ("height", "width"):
            size, ratio = params.get(f"o{axis}"), params.get(f"r{axis}")
            if size is None and ratio is None:
                raise ValueError(
                    f"params has no o{axis} and no r{axis}; a dict with one of them is accepted"
                )
            setattr(self, f"o{axis}", None if size is None else whole(size, f"o{axis}", 1))
            setattr(self, f"r{axis}", None if ratio is None else number(ratio, f"r{axis}"))

    def updateOutput(self, input: Tensor) -> Tensor:
        check_sample(input, "planes x height x width")
        if self.oheight is None:
            self.oheight = int((self.rheight or 0) * input.size(-2))
        if self.owidth is None:
            self.owidth = int((self.rwidth or 0) * input.size(-1))
        return self.set_output(f.interpolate(input, (self.oheight, self.owidth)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        # Scripts enlarge gradients so: for a gradOutput of any size, and without going forward.
        if self.gradInput is None:
            return None
        gradient = f.interpolate_backward(gradOutput, input.shape, gradOutput.shape[-2:])
        return self.set_gradInput(gradient)
