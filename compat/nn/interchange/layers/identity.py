"""Layers that pass their input on."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.pairs import pair
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import identity as torch7


def _copy(module: Any) -> nn.Module:
    if module.intype != module.outtype:
        raise ValueError(
            f"intype is {module.intype} and outtype {module.outtype}; one type for both is "
            "accepted, since torch.nn has no equivalent"
        )
    return nn.Identity()


pair(torch7.Identity, nn.Identity)
converts_simply(torch7.PrintSize, lambda m: nn.Identity())
converts_simply(torch7.Copy, _copy)
