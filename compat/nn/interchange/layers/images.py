"""Layers that prepare and vary images."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from compat.nn.interchange.computed import computes
from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers import images as torch7


@self_contained
class SimpleColorTransform(nn.Module):
    """Add to each plane of an image a number up to its bound, in training."""

    bounds: Tensor

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.planes = planes
        self.register_buffer("bounds", torch.empty(planes))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        shape = (*x.shape[:-2], 1, 1)
        noise = torch.rand(shape, dtype=x.dtype, device=x.device) * 2 - 1
        return x + noise * self.bounds.view(-1, 1, 1)


@self_contained
class PCAColorTransform(nn.Module):
    """Add to each image a random colour along principal components, in training."""

    vectors: Tensor
    values: Tensor

    def __init__(self, planes: int, std: float = 0.1) -> None:
        super().__init__()
        self.planes = planes
        self.std = std
        self.register_buffer("vectors", torch.empty(planes, planes))
        self.register_buffer("values", torch.empty(planes))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        factors = torch.randn(x.shape[:-2], dtype=x.dtype, device=x.device) * self.std
        return x + (factors * self.values @ self.vectors.t())[..., None, None]


@self_contained
class SpatialUniformCrop(nn.Module):
    """A crop of each image, random in training and from the centre in evaluation.

    ``scale``: in training it is larger by a factor between these two, and resampled.
    """

    def __init__(
        self,
        height: int,
        width: int,
        scale: tuple[float, float] | None = None,
    ) -> None:
        super().__init__()
        self.height = height
        self.width = width
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() == 3:
            return self.forward(x.unsqueeze(0)).squeeze(0)
        if self.training:
            return torch.stack([self.drawn(image) for image in x])
        top = max(math.ceil((x.size(2) - self.height) / 2) - 1, 0)
        left = max(math.ceil((x.size(3) - self.width) / 2) - 1, 0)
        return x[:, :, top : top + self.height, left : left + self.width]

    def drawn(self, image: Tensor) -> Tensor:
        """Return a crop of an image."""
        factor = 1.0
        if self.scale is not None:
            least, most = self.scale
            factor = least + (most - least) * float(torch.rand(()))
        height, width = math.ceil(self.height * factor), math.ceil(self.width * factor)
        top = int(torch.rand(()) * (image.size(1) - height))
        left = int(torch.rand(()) * (image.size(2) - width))
        part = image[None, :, top : top + height, left : left + width]
        if self.scale is not None:
            size = (self.height, self.width)
            resample = functional.interpolate
            part = resample(part, size, mode="bilinear", align_corners=True)
        return part[0]


def _with_buffers(layer: nn.Module, **buffers: Tensor) -> nn.Module:
    for name, value in buffers.items():
        setattr(layer, name, value.detach().clone())
    return layer


@converts(torch7.PCAColorTransform)
def _pca(module: Any, convert: ToTorch) -> nn.Module:
    layer = PCAColorTransform(module.inputChannels, module.std)
    return _with_buffers(layer, vectors=module.eigenVectors, values=module.eigenValues.view(-1))


@converts(torch7.SimpleColorTransform)
def _simple(module: Any, convert: ToTorch) -> nn.Module:
    return _with_buffers(SimpleColorTransform(module.inputChannels), bounds=module.range.view(-1))


def _crop(module: Any) -> nn.Module:
    scale: Any = None if module.scale is None else tuple(map(float, module.factors()))
    return SpatialUniformCrop(module.oheight, module.owidth, scale)


converts_simply(torch7.SpatialUniformCrop, _crop)
computes(torch7.SpatialFeatNormalization)
