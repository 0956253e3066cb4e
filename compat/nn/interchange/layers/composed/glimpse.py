"""``SpatialGlimpse``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.composed import glimpse as torch7
from compat.nn.layers.pooling.pooling import SpatialAveragePooling


@self_contained
class SpatialGlimpse(nn.Module):
    """Crops of images around places, of growing size and falling resolution.

    It takes ``N x planes x H x W`` and the places, ``N x 2``: y and x from -1 to 1.
    Each of the ``depth`` parts is ``scale`` times larger than the one before, and
    becomes as small as the first: by its means with ``average``, else by interpolation.
    """

    def __init__(
        self, size: tuple[int, int], depth: int, scale: float, average: bool = True
    ) -> None:
        super().__init__()
        self.size = size
        self.depth = depth
        self.scale = scale
        self.average = average

    def forward(self, input: list[Tensor]) -> Tensor:
        images, places = input
        if images.dim() == 3:
            return self.forward([images.unsqueeze(0), places.unsqueeze(0)]).squeeze(0)
        (height, width), parts = self.size, []
        for depth in range(self.depth):
            if depth:
                height, width = int(height * self.scale), int(width * self.scale)
            part = self.part(images, places.detach().double(), height, width)
            parts.append(self.shrunk(part) if depth else part)
        return torch.cat(parts, 1)

    def part(self, images: Tensor, places: Tensor, height: int, width: int) -> Tensor:
        """Return the crop of each image around its place."""
        y, x = (height - 1) // 2, (width - 1) // 2
        padded = functional.pad(images, (x, x, y, y))
        rooms = padded.size(2) - height, padded.size(3) - width
        shares = (places + 1) / 2
        tops, lefts = (
            (share * room).clamp(0, room).floor().long()
            for share, room in zip(shares.unbind(1), rooms, strict=True)
        )
        steps = torch.arange(max(height, width), device=images.device)
        rows = (tops[:, None] + steps[:height])[:, None, :, None]
        columns = (lefts[:, None] + steps[:width])[:, None, None, :]
        batch = torch.arange(len(images), device=images.device)[:, None, None, None]
        planes = torch.arange(images.size(1), device=images.device)[:, None, None]
        return padded[batch, planes, rows, columns]

    def shrunk(self, part: Tensor) -> Tensor:
        """Return a crop in the size of the first crop."""
        if self.average:
            return functional.adaptive_avg_pool2d(part, self.size)
        resample = functional.interpolate
        return resample(part, self.size, mode="bilinear", align_corners=True)


def _glimpse(module: Any) -> nn.Module:
    average = isinstance(module.module, SpatialAveragePooling)
    return SpatialGlimpse((module.height, module.width), module.depth, module.scale, average)


converts_simply(torch7.SpatialGlimpse, _glimpse)
