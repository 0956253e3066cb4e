"""What happens to an image, C×H×W with values from 0 to 1, before a net gets it.

Each function here makes a function of an image. Random ones draw from PyTorch's generator, of which
every loading process has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

Transform = Callable[[Tensor], Tensor]

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
# The principal components of ImageNet's colours: their variances, and their directions as columns.
EIGENVALUES = (0.2175, 0.0188, 0.0045)
EIGENVECTORS = (
    (-0.5675, 0.7192, 0.4009),
    (-0.5808, -0.0045, -0.8140),
    (-0.5836, -0.6948, 0.4203),
)
_LUMINANCE = torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)


def compose(*transforms: Transform) -> Transform:
    """One after the other."""

    def run(image: Tensor) -> Tensor:
        for transform in transforms:
            image = transform(image)
        return image

    return run


def resized(image: Tensor, height: int, width: int) -> Tensor:
    """The image in another size, interpolated bicubically."""
    return functional.interpolate(
        image.unsqueeze(0), (height, width), mode="bicubic", antialias=True, align_corners=False
    ).squeeze(0)


def uniform(low: float, high: float) -> float:
    return low + (high - low) * torch.rand(()).item()


def normalize(mean: Sequence[float], std: Sequence[float]) -> Transform:
    """Each channel with this mean and deviation taken away."""
    means, stds = (torch.tensor(values).view(-1, 1, 1) for values in (mean, std))
    return lambda image: (image - means) / stds


def scale(size: int) -> Transform:
    """The shorter side becomes ``size``."""

    def run(image: Tensor) -> Tensor:
        height, width = image.shape[1:]
        if min(height, width) == size:
            return image
        if width < height:
            return resized(image, int(height / width * size), size)
        return resized(image, size, int(width / height * size))

    return run


def center_crop(size: int) -> Transform:
    """The square in the middle."""

    def run(image: Tensor) -> Tensor:
        top, left = (math.ceil((n - size) / 2) for n in image.shape[1:])
        return image[:, top : top + size, left : left + size]

    return run


def ten_crop(size: int) -> Transform:
    """The square in the middle and those in the corners, then those of the mirrored image.

    A batch of ten.
    """
    middle = center_crop(size)

    def run(image: Tensor) -> Tensor:
        bottom, right = (n - size for n in image.shape[1:])
        corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
        crops = []
        for side in (image, image.flip(2)):
            crops.append(middle(side))
            crops += [side[:, top : top + size, left : left + size] for top, left in corners]
        return torch.stack(crops)

    return run


def random_sized_crop(size: int) -> Transform:
    """A part of 8 to 100 % of the area, with sides like 3 to 4 at most, made a square."""
    fallback = compose(scale(size), center_crop(size))

    def run(image: Tensor) -> Tensor:
        height, width = image.shape[1:]
        for _ in range(10):
            area = uniform(0.08, 1) * height * width
            aspect = uniform(3 / 4, 4 / 3)
            w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if uniform(0, 1) < 0.5:
                w, h = h, w
            if h <= height and w <= width:
                top, left = (int(torch.randint(n + 1, ())) for n in (height - h, width - w))
                return resized(image[:, top : top + h, left : left + w], size, size)
        return fallback(image)

    return run


def horizontal_flip(image: Tensor) -> Tensor:
    """The image or its mirror image."""
    return image.flip(2) if uniform(0, 1) < 0.5 else image


def color_jitter(amount: float) -> Transform:
    """Brightness, contrast and saturation changed by up to ``amount``, in random order."""

    def run(image: Tensor) -> Tensor:
        for kind in torch.randperm(3).tolist():
            gray = (image * _LUMINANCE).sum(0, keepdim=True)
            other = (torch.zeros(()), gray.mean(), gray)[kind]
            image = torch.lerp(other.expand_as(image), image, 1 + uniform(-amount, amount))
        return image

    return run


def lighting(deviation: float) -> Transform:
    """A colour added, drawn along the principal components [Krizhevsky et al. 2012]."""
    directions = torch.tensor(EIGENVECTORS) * torch.tensor(EIGENVALUES)

    def run(image: Tensor) -> Tensor:
        return image + (directions @ (deviation * torch.randn(3))).view(3, 1, 1)

    return run


def imagenet_training(size: int) -> Transform:
    return compose(
        random_sized_crop(size),
        color_jitter(0.4),
        lighting(0.1),
        normalize(MEAN, STD),
        horizontal_flip,
    )


def imagenet_test(size: int, crops: int) -> Transform:
    crop = ten_crop(size) if crops == 10 else center_crop(size)
    return compose(scale(size * 256 // 224), normalize(MEAN, STD), crop)
