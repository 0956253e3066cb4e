"""Layers that sum windows."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers.convolution import subsampling as torch7

computes(torch7.SpatialSubSampling, torch7.TemporalSubSampling)
