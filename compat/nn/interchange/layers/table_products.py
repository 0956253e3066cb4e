"""Products and distances of the two tensors of a table."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers import table_products as torch7

computes(torch7.MM, torch7.MV, torch7.DotProduct, torch7.CosineDistance)
computes(torch7.PairwiseDistance)
