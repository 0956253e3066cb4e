"""Planes and volumes in another size."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.layers.window import as_list
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import upsampling as torch7


class Upsample(nn.Upsample):
    """``torch.nn.Upsample`` for volumes as for images, and for samples of ``sample_dims`` too.

    PyTorch: ``torch.nn.Upsample``.
    """

    def __init__(
        self, size: Any, scale: Any, mode: str, align_corners: bool | None, sample_dims: int = -1
    ) -> None:
        super().__init__(size, scale, mode, align_corners)
        self.sample_dims = sample_dims

    def forward(self, input: Tensor) -> Tensor:
        batch = input.unsqueeze(0) if input.dim() == self.sample_dims else input
        mode = self.mode
        if mode != "nearest":
            mode = "trilinear" if batch.dim() == 5 else "bilinear"
        output = F.interpolate(batch, self.size, self.scale_factor, mode, self.align_corners)
        return output.squeeze(0) if input.dim() == self.sample_dims else output


def _resampling(module: Any, sample_dims: int = -1) -> nn.Module:
    scale = module.scale_factor
    if module.mode == "nearest":
        return Upsample(None, scale, "nearest", None, sample_dims)
    volume = module.odepth is not None
    sizes: Any = None
    if scale is None:
        sizes = (module.odepth, module.oheight, module.owidth)[not volume :]
    return Upsample(sizes, scale, "trilinear" if volume else "bilinear", True, sample_dims)


def _spatial_resampling(module: Any) -> nn.Module:
    if module.oheight is None or module.owidth is None:
        raise ValueError(
            "torch.nn has no ratio of the first input; oheight and owidth are accepted"
        )
    return Upsample((module.oheight, module.owidth), None, "bilinear", True, 3)


def _from_upsample(module: Any) -> Module:
    if module.mode == "nearest":
        require(module.scale_factor is not None, "a size for nearest neighbours")
        return torch7.UpSampling(_whole(module.scale_factor))
    require(module.mode in ("bilinear", "trilinear"), f"mode {module.mode!r}")
    require(bool(module.align_corners), "align_corners=False")
    if module.scale_factor is not None:
        return torch7.UpSampling(_whole(module.scale_factor), "linear")
    axes = ("odepth", "oheight", "owidth")[module.mode == "bilinear" :]
    sizes = dict(zip(axes, as_list(module.size, len(axes)), strict=True))
    return torch7.UpSampling(sizes, "linear")


def _whole(factor: Any) -> int:
    require(not isinstance(factor, tuple) and factor == int(factor), f"a factor of {factor}")
    return int(factor)


converts_simply(torch7.UpSampling, _resampling)
# What is no batch, only these take.
converts_simply(torch7.SpatialUpSamplingNearest, lambda m: _resampling(m, 3))
converts_simply(torch7.SpatialUpSamplingBilinear, lambda m: _resampling(m, 3))
converts_simply(torch7.SpatialReSampling, _spatial_resampling)
converts_from_simply(nn.Upsample, _from_upsample)
converts_from_simply(Upsample, _from_upsample)
