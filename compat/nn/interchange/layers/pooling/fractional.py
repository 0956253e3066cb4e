"""Fractional max poolings."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.pooling import fractional as torch7


def _fractional(module: Any) -> nn.Module:
    layer = nn.FractionalMaxPool3d if len(module.axes) == 3 else nn.FractionalMaxPool2d
    window, ratios, sizes = (tuple(module.numbers(k)) for k in ("poolSize", "ratio", "out"))
    samples = module.randomSamples if module.newRandomPool else None
    if samples is not None and len(window) == 3:
        samples = samples.flip(-1)
    if None in ratios:
        return layer(window, output_size=sizes, _random_samples=samples)
    return layer(window, output_ratio=ratios, _random_samples=samples)


converts_simply(torch7.FractionalMaxPooling, _fractional)
