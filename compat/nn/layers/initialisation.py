"""How layers draw their first parameters."""

from __future__ import annotations

import torch
from torch import Tensor

from compat import random

_old_seed = False


def old_seed() -> bool:
    """Whether ``nn.oldSeed`` asks for the initial parameters of Torch7's first years."""
    return _old_seed


def set_old_seed(wanted: bool) -> None:
    """Set ``nn.oldSeed``."""
    global _old_seed
    _old_seed = bool(wanted)


def draw(parameter: Tensor, bound: float, by_element: bool | None = None) -> None:
    """Fill ``parameter`` from ±``bound`` evenly, by Torch7's generator.

    Args:
        by_element: as Lua code does that sets one element after the other: the bounds are not
            rounded to the parameter's type first. By default only where ``nn.oldSeed`` is set.
    """
    if old_seed() if by_element is None else by_element:
        doubles = torch.empty_like(parameter, dtype=torch.float64)
        parameter.copy_(random.uniform_(doubles, -bound, bound))
    else:
        random.uniform_(parameter, -bound, bound)
