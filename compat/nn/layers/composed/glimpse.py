"""``nn.SpatialGlimpse``: what an eye sees of an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import number, whole, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TABLE, check_sample
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.layers.pooling.pooling import SpatialAveragePooling
from compat.nn.layers.upsampling import SpatialReSampling


class SpatialGlimpse(Stored):
    """Parts of an image around a place, of growing size and shrinking resolution.

    Torch7: ``nn.SpatialGlimpse`` of dpnn. Mnih et al., Recurrent Models of Visual Attention, 2014.

    Args:
        size: height and width of the output, a list of both or one number for both.
        depth: how many parts.
        scale: how much larger each part is than the one before.

    Shapes: input a table of the images, ``[N x] planes x H x W``, and the places of the middles,
    ``[N x] 2``: y and x from -1, at the top or left, to 1. Output
    ``[N x] depth·planes x height x width``. Beyond the edges the images are 0. There is no gradient
    of the places.

    Field: ``module``, what makes the larger parts small: an average pooling where ``scale`` is 2,
    whose window is set for each part, and a resampling otherwise.
    """

    takes = TABLE
    scratch_fields = ("_crop", "_pad")
    table_fields = ("gradInput",)

    @nil_is_default
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

    @deterministic
    def compute(self, input: Any) -> Tensor:
        if not isinstance(input, (list, tuple)) or len(input) < 2:
            raise wrong_type(input, "input", "a table of images and places")
        images, places = input[0], input[1]
        check_sample(images, "planes x height x width")
        batched = images.dim() == 4
        if not batched:
            images, places = images.unsqueeze(0), places.unsqueeze(0)
        if places.shape != (len(images), 2):
            raise ValueError(
                f"input[2] has size {tuple(input[1].shape)}; a place, y and x, for each of "
                f"{len(images)} images is accepted"
            )
        corners = ((places.detach().double() + 1) / 2).tolist()
        parts = []
        tall, wide = self.height, self.width
        for depth in range(self.depth):
            if depth:
                tall, wide = math.floor(tall * self.scale), math.floor(wide * self.scale)
            crops = self._crops(images, corners, tall, wide)
            parts.append(self._shrunk(crops) if depth else crops)
        output = torch.cat(parts, 1)
        return output if batched else output.squeeze(0)

    def _crops(self, images: Tensor, corners: list[list[float]], tall: int, wide: int) -> Tensor:
        """The parts of that size of all images, at the corners as shares of what room there is."""
        pad_y, pad_x = (tall - 1) // 2, (wide - 1) // 2
        padded = F.pad(images, (pad_x, pad_x, pad_y, pad_y))
        room_y, room_x = padded.size(2) - tall, padded.size(3) - wide
        crops = []
        for image, (y, x) in zip(padded, corners, strict=True):
            top = math.floor(min(room_y, max(0, y * room_y)))
            left = math.floor(min(room_x, max(0, x * room_x)))
            crops.append(image[:, top : top + tall, left : left + wide])
        return torch.stack(crops)

    def _shrunk(self, crops: Tensor) -> Tensor:
        pooling = self.module
        if isinstance(pooling, SpatialAveragePooling):
            tall, wide = crops.size(2) / self.height, crops.size(3) / self.width
            if tall % 2 or wide % 2:
                raise ValueError(
                    f"scale is {self.scale}; 2 is accepted where the module is an average pooling"
                )
            pooling.kH = pooling.dH = int(tall)
            pooling.kW = pooling.dW = int(wide)
        return pooling.run(crops)
