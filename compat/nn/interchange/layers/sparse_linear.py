"""Layers of sparse inputs."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers import sparse_linear as torch7

computes(torch7.SparseLinear, torch7.IndexLinear)
