"""``GPU``: the module in it."""

from __future__ import annotations

from compat.nn.containers import gpu as torch7
from compat.nn.interchange.to_torch import converts_to_inner

converts_to_inner(torch7.GPU)
