"""``SpatialConvolutionLocal``."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers.convolution import local as torch7

computes(torch7.SpatialConvolutionLocal)
