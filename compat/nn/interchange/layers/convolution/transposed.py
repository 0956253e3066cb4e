"""Transposed convolutions."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from, require
from compat.nn.interchange.layers.convolution.convolution import check_convolution, window
from compat.nn.interchange.layers.window import torch7_window
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.convolution import transposed as torch7


@converts(torch7.FullConvolution)
def _full_convolution(module: Any, convert: ToTorch) -> nn.Module:
    cls = nn.ConvTranspose3d if len(module.axes) == 3 else nn.ConvTranspose2d
    layer = cls(
        module.nInputPlane,
        module.nOutputPlane,
        module.window_size,
        output_padding=module.output_padding,
        **window(module),
    )
    return convert.filled(layer, module)


@converts_from(nn.ConvTranspose2d, nn.ConvTranspose3d)
def _from_transposed(module: Any, convert: FromTorch) -> Module:
    check_convolution(module)
    require(module.groups == 1, "groups")
    require(set(module.dilation) == {1}, "a dilation")
    dims = len(module.kernel_size)
    cls: Any = torch7.VolumetricFullConvolution if dims == 3 else torch7.SpatialFullConvolution
    sizes = torch7_window(dims, module, module.output_padding)
    return convert.filled(blank(cls, module.in_channels, module.out_channels, *sizes), module)
