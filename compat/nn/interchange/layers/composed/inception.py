"""``Inception``: the net in it."""

from __future__ import annotations

from compat.nn.interchange.to_torch import converts_to_inner
from compat.nn.layers.composed import inception as torch7

converts_to_inner(torch7.Inception)
