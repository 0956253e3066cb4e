"""``PartialLinear``."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers import partial_linear as torch7

computes(torch7.PartialLinear)
