"""The two nets: one makes images of noise, the other tells whether an image is made."""

from __future__ import annotations

import math
from typing import Any

from compat import nn, random


def generator(nz: int, ngf: int, nc: int, size: int) -> nn.Sequential:
    """From noise, N×nz×1×1, to images from -1 to 1, N×nc×size×size."""
    steps = _doublings(size)
    planes = ngf * 2 ** (steps - 1)
    net = nn.Sequential().add(nn.SpatialFullConvolution(nz, planes, 4, 4))
    for _ in range(steps - 1):
        net.add(nn.SpatialBatchNormalization(planes)).add(nn.ReLU(True))
        net.add(nn.SpatialFullConvolution(planes, planes // 2, 4, 4, 2, 2, 1, 1))
        planes //= 2
    net.add(nn.SpatialBatchNormalization(planes)).add(nn.ReLU(True))
    net.add(nn.SpatialFullConvolution(planes, nc, 4, 4, 2, 2, 1, 1)).add(nn.Tanh())
    return initialised(net)


def discriminator(ndf: int, nc: int, size: int) -> nn.Sequential:
    """From images to the probability that they are real, a number for each."""
    net = nn.Sequential().add(nn.SpatialConvolution(nc, ndf, 4, 4, 2, 2, 1, 1))
    net.add(nn.LeakyReLU(0.2, True))
    planes = ndf
    for _ in range(_doublings(size) - 1):
        net.add(nn.SpatialConvolution(planes, 2 * planes, 4, 4, 2, 2, 1, 1))
        planes *= 2
        net.add(nn.SpatialBatchNormalization(planes)).add(nn.LeakyReLU(0.2, True))
    net.add(nn.SpatialConvolution(planes, 1, 4, 4)).add(nn.Sigmoid())
    return initialised(net.add(nn.View(1).setNumInputDims(3)))


def initialised(net: nn.Sequential) -> nn.Sequential:
    """Small weights, and convolutions without bias."""

    def draw(module: Any) -> None:
        if "Convolution" in module.typename:
            random.normal_(module.weight, 0, 0.02)
            module.noBias()
        elif "BatchNormalization" in module.typename:
            random.normal_(module.weight, 1, 0.02)
            module.bias.zero_()

    return net.apply(draw)


def _doublings(size: int) -> int:
    """How often 4×4 is doubled to reach ``size``."""
    steps = round(math.log2(size / 4)) if size > 4 else 0
    if 4 * 2**steps != size or not steps:
        raise ValueError(f"fineSize is {size}; 8, 16, 32, 64 or another power of 2 is accepted")
    return steps
