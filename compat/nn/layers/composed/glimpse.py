"""``nn.SpatialGlimpse``: image crops around a place, at several resolutions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import number, whole, wrong_type
from compat.nn.checks.tensors import TABLE, check_sample
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module, Scalar
from compat.nn.layers.pooling.pooling import SpatialAveragePooling
from compat.nn.layers.upsampling import SpatialReSampling


@dataclass(frozen=True)
class _Window:
    """A crop of padded images: its size, the padding on each side, its start in each image."""

    tall: int
    wide: int
    pad_y: int
    pad_x: int
    corners: list[list[int]]

    def cut(self, image: Tensor, i: int) -> Tensor:
        """Return the crop of the ``i``-th image."""
        top, left = self.corners[i]
        return image[:, top : top + self.tall, left : left + self.wide]


class SpatialGlimpse(Layer):
    """Crops of an image around a place, of growing size and falling resolution.

    Torch7: ``nn.SpatialGlimpse`` of dpnn. Mnih et al., Recurrent Models of Visual Attention, 2014.

    Args:
        size: height and width of the output, a list of both or one number for both.
        depth: the number of crops.
        scale: the factor from the size of one crop to the size of the next.

    Shapes: input a table of the images, ``[N x] planes x H x W``, and the centres,
    ``[N x] 2``: y and x from -1, at the top or left, to 1. Output
    ``[N x] depth·planes x height x width``. Beyond the edges the images are 0. The centres get no
    gradient.

    Field: ``module``, what makes the larger parts small: an average pooling where ``scale`` is 2,
    whose window is set for each part, and a resampling otherwise.
    """

    takes = TABLE
    scratch_fields = ("_crop", "_pad")
    table_fields = ("gradInput",)

    def __init__(self, size: int | Sequence[int], depth: int = 3, scale: Scalar = 2) -> None:
        super().__init__()
        both = size if isinstance(size, (list, tuple)) else (size, size)
        if len(both) != 2:
            raise ValueError(
                f"size is {size!r}; a number or a list of height and width is accepted"
            )
        self.height, self.width = (whole(extent, "size", 1) for extent in both)
        self.depth = whole(depth, "depth", 1)
        self.scale = number(scale, "scale")
        self.module: Module
        if scale == 2:
            self.module = SpatialAveragePooling(2, 2, 2, 2)
        else:
            self.module = SpatialReSampling({"oheight": self.height, "owidth": self.width})
        self.modules = [self.module]

    def updateOutput(self, input: Any) -> Tensor:
        images, places = self._checked(input)
        parts: list[Tensor] = []
        for window in self._windows(images, places):
            padded = F.pad(images, (window.pad_x, window.pad_x, window.pad_y, window.pad_y))
            crops = torch.stack([window.cut(image, i) for i, image in enumerate(padded)])
            parts.append(self._shrinking(crops).updateOutput(crops).clone() if parts else crops)
        output = torch.cat(parts, 1)
        return self.set_output(output if input[0].dim() == 4 else output.squeeze(0))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        if self.gradInput is None:
            return None
        images, places = self._checked(input)
        n, planes, height, width = images.shape
        parts = gradOutput.reshape(n, self.depth, planes, self.height, self.width).unbind(1)
        gradInput = images.new_zeros(images.shape)
        for depth, window in enumerate(self._windows(images, places)):
            gradient = parts[depth]
            if depth:
                # The gradient does not depend on what is in the crops.
                crops = images.new_zeros(n, planes, window.tall, window.wide)
                shrinking = self._shrinking(crops)
                shrinking.updateOutput(crops)
                gradient = shrinking.updateGradInput(crops, gradient)
            y, x = window.pad_y, window.pad_x
            padded = images.new_zeros(n, planes, height + 2 * y, width + 2 * x)
            for i, image in enumerate(padded):
                window.cut(image, i).copy_(gradient[i])
            gradInput.add_(padded[:, :, y : y + height, x : x + width])
        return self.set_gradInput([gradInput.view(input[0].shape), torch.zeros_like(input[1])])

    def _checked(self, input: Any) -> tuple[Tensor, list[list[float]]]:
        """Return the images as a batch, and the centres as shares of the free height and width,
        y and x.
        """
        if not isinstance(input, (list, tuple)) or len(input) < 2:
            raise wrong_type(input, "input", "a table of images and places")
        images, places = input[0], input[1]
        check_sample(images, "planes x height x width")
        if images.dim() == 3:
            images, places = images.unsqueeze(0), places.unsqueeze(0)
        if places.shape != (len(images), 2):
            raise ValueError(
                f"input[2] has size {tuple(input[1].shape)}; a place, y and x, for each of "
                f"{len(images)} images is accepted"
            )
        return images, ((places.double() + 1) / 2).tolist()

    def _windows(self, images: Tensor, places: list[list[float]]) -> Iterator[_Window]:
        """Yield those of the parts, the smallest first."""
        tall, wide = self.height, self.width
        for depth in range(self.depth):
            if depth:
                tall, wide = math.floor(tall * self.scale), math.floor(wide * self.scale)
            pad_y, pad_x = (tall - 1) // 2, (wide - 1) // 2
            rooms = images.size(2) + 2 * pad_y - tall, images.size(3) + 2 * pad_x - wide
            corners = [
                [
                    math.floor(min(room, max(0, share * room)))
                    for share, room in zip(place, rooms, strict=True)
                ]
                for place in places
            ]
            yield _Window(tall, wide, pad_y, pad_x, corners)

    def _shrinking(self, crops: Tensor) -> Module:
        """Return ``module``, set to shrink crops of this size to the output size."""
        pooling = self.module
        if isinstance(pooling, SpatialAveragePooling):
            tall, wide = crops.size(2) / self.height, crops.size(3) / self.width
            if tall % 2 or wide % 2:
                raise ValueError(
                    f"scale is {self.scale}; 2 is accepted where the module is an average pooling"
                )
            pooling.kH = pooling.dH = int(tall)
            pooling.kW = pooling.dW = int(wide)
        return pooling
