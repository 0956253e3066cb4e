"""Convolutions of sequences."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, blank, require
from compat.nn.interchange.layers.convolution.convolution import check_convolution, window
from compat.nn.interchange.layers.window import OverFrames, comes_back_over_frames
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers.convolution import temporal as torch7


@converts(torch7.TemporalConvolution)
def _temporal_convolution(module: Any, convert: ToTorch) -> nn.Module:
    inputs, outputs = module.inputFrameSize, module.outputFrameSize
    layer = nn.Conv1d(inputs, outputs, module.window_size, **window(module))
    convert.filled(layer, module, lambda w: w.view(outputs, -1, inputs).transpose(1, 2))
    return OverFrames(layer)


@converts(torch7.TemporalRowConvolution)
def _temporal_row_convolution(module: Any, convert: ToTorch) -> nn.Module:
    size = module.inputFrameSize
    layer = nn.Conv1d(size, size, module.window_size, groups=size, **window(module))
    convert.filled(layer, module)
    return layer if module.featFirst else OverFrames(layer)


@comes_back_over_frames(nn.Conv1d)
def _from_convolution(layer: Any, convert: FromTorch) -> Module:
    check_convolution(layer)
    require(layer.padding == (0,) and layer.dilation == (1,), "padding or dilation")
    inputs, outputs = layer.in_channels, layer.out_channels
    sizes = (*layer.kernel_size, *layer.stride)
    if layer.groups == 1:
        target: Any = blank(torch7.TemporalConvolution, inputs, outputs, *sizes)
        return convert.filled(target, layer, lambda w: w.transpose(1, 2).flatten(1))
    require(layer.groups == inputs == outputs, "this number of groups")
    return convert.filled(blank(torch7.TemporalRowConvolution, inputs, *sizes), layer)
