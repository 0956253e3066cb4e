"""Layers that pass their input on."""

from __future__ import annotations

from typing import Any

from compat.nn.module import Module


class Identity(Module):
    """The input itself, a tensor or a table (Torch7: ``nn.Identity``)."""

    def compute(self, input: Any) -> Any:
        return input
