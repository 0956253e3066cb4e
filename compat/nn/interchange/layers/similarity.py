"""Layers that compare the input with trained vectors."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers import similarity as torch7

computes(torch7.Cosine, torch7.Euclidean, torch7.WeightedEuclidean)
