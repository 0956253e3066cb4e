"""One dimension as a number."""

from __future__ import annotations

from compat.nn.interchange.computed import computes
from compat.nn.layers import reduction as torch7

computes(torch7.Max, torch7.Min, torch7.Sum, torch7.ArgMax)
