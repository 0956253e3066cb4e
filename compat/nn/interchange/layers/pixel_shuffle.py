"""``PixelShuffle``."""

from __future__ import annotations

from torch import nn

from compat.nn.interchange.pairs import Setting, pair
from compat.nn.layers import pixel_shuffle as torch7

pair(torch7.PixelShuffle, nn.PixelShuffle, Setting("upscaleFactor", "upscale_factor"))
