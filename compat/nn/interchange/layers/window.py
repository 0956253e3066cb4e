"""Helpers for layers with a window: sizes in either order, and layers over frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import Converter, FromTorch, converts_from, require
from compat.nn.layers.shape import Transpose


class OverFrames(nn.Module):
    """A layer of features x frames for an input of frames x features."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, input: Tensor) -> Tensor:
        return self.layer(input.transpose(-1, -2)).transpose(-1, -2)


_over_frames: dict[type, Converter] = {}


def comes_back_over_frames(cls: type[nn.Module]) -> Callable[[Converter], Converter]:
    """Let a function convert ``cls``, of features x frames, to a layer of frames x features."""

    def register(converter: Converter) -> Converter:
        _over_frames[cls] = converter
        converts_from(cls)(_features_first)
        return converter

    return register


def _features_first(module: Any, convert: FromTorch) -> Module:
    swap = [Transpose((1, 2)).setNumInputDims(2) for _ in range(2)]
    return Sequential(swap[0], _over_frames[type(module)](module, convert), swap[1])


@converts_from(OverFrames)
def _frames_first(module: Any, convert: FromTorch) -> Module:
    require(type(module.layer) in _over_frames, "its layer")
    return _over_frames[type(module.layer)](module.layer, convert)


def as_list(value: Any, count: int) -> list[int]:
    """Return a size for each of ``count`` dimensions, of which all may be given as one."""
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


def in_torch7_order(dims: int, *values: Any) -> list[int]:
    """Return sizes in PyTorch's order, as width and height, or as time, width and height."""
    axes = (0, 2, 1) if dims == 3 else (1, 0)
    return [as_list(value, dims)[axis] for value in values for axis in axes]


def torch7_window(dims: int, layer: Any, *others: Any) -> list[int]:
    """Return the kernel, stride and padding of ``layer`` in Torch7's order, and what else
    is given.
    """
    return in_torch7_order(dims, layer.kernel_size, layer.stride, layer.padding, *others)
