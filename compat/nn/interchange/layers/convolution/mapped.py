"""Convolutions of a table of planes."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers.convolution import mapped as torch7

computes(torch7.SpatialConvolutionMap, torch7.SpatialFullConvolutionMap)
