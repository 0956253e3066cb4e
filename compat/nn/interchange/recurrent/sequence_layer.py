"""The common part of the layers of whole sequences."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.recurrent.whole_sequence import WholeSequence


def begun(layer: WholeSequence, module: Any) -> nn.Module:
    """Return ``layer`` that masks and remembers as ``module`` does."""
    given = (getattr(module, name, None) for name in ("userPrevOutput", "userPrevCell"))
    if any(state is not None for state in given):
        raise ValueError("torch.nn has no equivalent that begins with states of its own")
    layer.mask_zero = bool(module.maskzero)
    layer.remember = module.remember_mode
    return layer
