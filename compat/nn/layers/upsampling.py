"""Enlarging planes and volumes, and giving planes another size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat import t7
from compat.checks import number, whole, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.error_place import fail
from compat.nn.checks.tensors import check_sample
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Scalar, deterministic

_LINEAR = {2: "bilinear", 3: "trilinear"}


class Resampling(Stored, abstract=True):
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

    def _resample(self, input: Tensor) -> Tensor:
        """The enlargement of a batch of planes or volumes."""
        axes = input.dim() - 2
        if self.scale_factor is not None:
            size = [extent * self.scale_factor for extent in input.shape[2:]]
        else:
            sizes = (self.odepth, self.oheight, self.owidth)[-axes:]
            if None in sizes:
                raise ValueError("input is a volume; without odepth, a plane is accepted")
            size = list(sizes)  # type: ignore[arg-type]
        if self.mode == "nearest":
            return F.interpolate(input, size=size, mode="nearest")
        return interpolated(input, size)

    def t7_fields(self) -> dict[str, Any]:
        inputSize, outputSize = (t7.Storage([0] * self._size_numbers) for _ in range(2))
        return super().t7_fields() | {"inputSize": inputSize, "outputSize": outputSize}


def interpolated(input: Tensor, size: Sequence[int]) -> Tensor:
    """A batch of planes or volumes, linearly interpolated from corner to corner, as by THNN."""
    if list(input.shape[2:]) == list(size):
        return input.clone()
    if input.dtype == torch.float64:
        for axis in reversed(range(2, input.dim())):
            input = _stretched(input, axis, size[axis - 2])
        return input
    mode = _LINEAR[input.dim() - 2]
    return F.interpolate(input, size=list(size), mode=mode, align_corners=True)


def _stretched(input: Tensor, axis: int, length: int) -> Tensor:
    """Linear interpolation along one axis, with places and weights in single precision.

    So does THNN on the CPU, for doubles too: the results differ from exact ones by about 1e-7.
    """
    last = input.size(axis) - 1
    if length == last + 1:
        return input
    places = torch.arange(length, dtype=torch.float32, device=input.device)
    places = places * (torch.tensor(float(last)) / max(length - 1, 1)) if length > 1 else places
    below = places.long()
    weight = (places - below).to(input.dtype).view(-1, *[1] * (input.dim() - 1 - axis))
    near, far = (input.index_select(axis, at) for at in (below, (below + 1).clamp_(max=last)))
    return near * (1 - weight) + far * weight


class _SpatialUpSampling(Resampling):
    _size_numbers = 4
    _own_mode: ClassVar[str]

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_sample(input, "planes x height x width")
        if input.dim() == 4:
            return self._resample(input)
        return self._resample(input.unsqueeze(0)).squeeze(0)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("mode", None)
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.mode = self._own_mode


class SpatialUpSamplingNearest(_SpatialUpSampling):
    """Every pixel repeated (Torch7: ``nn.SpatialUpSamplingNearest``).

    Args:
        scale: how often, in both directions.

    Shapes: input ``[N x] planes x H x W``.

    PyTorch: ``torch.nn.Upsample``.
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

    @nil_is_default
    def __init__(self, params: int | Mapping[str, int], mode: str = "nearest") -> None:
        super().__init__()
        if not isinstance(mode, str):
            raise TypeError(f"mode is {mode!r}; a string is accepted")
        linear = mode in ("linear", "bilinear", "trilinear")
        self._build(params, "linear" if linear else "nearest")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        if input.dim() not in (4, 5):
            raise ValueError(
                f"input has {input.dim()} dimensions; 4 (a batch of planes) or 5 (of volumes) "
                "are accepted"
            )
        return self._resample(input)

    def __repr__(self) -> str:
        sizes = [n for n in (self.odepth, self.oheight, self.owidth) if n is not None]
        size = "x".join(map(str, sizes)) if self.scale_factor is None else f"{self.scale_factor}x"
        return f"{self.typename}({size}, {self.mode})"


class SpatialReSampling(Stored):
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
        try:
            check_sample(input, "planes x height x width")
        except Exception as error:
            fail(error, self)
        if self.oheight is None:
            self.oheight = int((self.rheight or 0) * input.size(-2))
        if self.owidth is None:
            self.owidth = int((self.rwidth or 0) * input.size(-1))
        self.output = _resampled(input, (self.oheight, self.owidth))
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        # Scripts enlarge gradients so: for a gradOutput of any size, and without going forward.
        leaf = input.detach().requires_grad_()
        with torch.enable_grad():
            output = _resampled(leaf, gradOutput.shape[-2:])
        [self.gradInput] = torch.autograd.grad(output, leaf, gradOutput.view_as(output))
        return self.gradInput


def _resampled(input: Tensor, size: Sequence[int]) -> Tensor:
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    output = F.interpolate(batch, tuple(size), mode="bilinear", align_corners=True)
    return output if input.dim() == 4 else output.squeeze(0)
