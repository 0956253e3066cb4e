"""Convolutions of images and volumes."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, converts_from, require
from compat.nn.interchange.layers.window import in_torch7_order, torch7_window
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.convolution import convolution as torch7
from compat.t7.objects import registry


def window(module: Any) -> dict[str, Any]:
    """Return the stride and padding of a layer whose parameters are to be set."""
    return {"stride": module.window_stride, "padding": module.window_padding, "device": "meta"}


@converts(torch7.Convolution)
def _convolution(module: Any, convert: ToTorch) -> nn.Module:
    kernel = module.window_size
    layer = (nn.Conv3d if len(kernel) == 3 else nn.Conv2d)(
        module.nInputPlane,
        module.nOutputPlane,
        kernel,
        dilation=module.window_dilation,
        groups=module.groups,
        **window(module),
    )
    return convert.filled(layer, module, lambda weight: weight.view(layer.weight.shape))


@converts(torch7.SpatialDepthWiseConvolution)
def _depthwise_convolution(module: Any, convert: ToTorch) -> nn.Module:
    planes, each = module.nInputPlane, module.nOutputPlane
    layer = nn.Conv2d(planes, planes * each, module.window_size, groups=planes, **window(module))
    convert.filled(
        layer,
        module,
        lambda weight: (
            weight.view(each, planes, 1, *module.window_size).transpose(0, 1).flatten(0, 1)
        ),
    )
    layer.bias = convert.parameter(module.bias, lambda bias: bias.t().flatten())
    return layer


def check_convolution(module: Any) -> None:
    """Refuse padding that Torch7 does not have."""
    require(module.padding_mode == "zeros", f"padding_mode {module.padding_mode!r}")
    require(not isinstance(module.padding, str), f"padding {module.padding!r}")


@converts_from(nn.Conv2d, nn.Conv3d)
def _from_convolution(module: Any, convert: FromTorch) -> Module:
    check_convolution(module)
    dims = len(module.kernel_size)
    arguments: list[Any] = [module.in_channels, module.out_channels, *torch7_window(dims, module)]
    dilated = set(module.dilation) != {1}
    if module.groups > 1:
        require(dims == 2, "groups")
        require(not dilated, "a dilation with groups")
        # The class that has groups, of a package that is not part of nn.
        cls: Any = registry.provide("cudnn.SpatialConvolution")[0].cls
        arguments.append(module.groups)
    elif dilated:
        cls = (torch7.SpatialDilatedConvolution, torch7.VolumetricDilatedConvolution)[dims - 2]
        arguments += in_torch7_order(dims, module.dilation)
    else:
        cls = (torch7.SpatialConvolution, torch7.VolumetricConvolution)[dims - 2]
    return convert.filled(blank(cls, *arguments), module)
