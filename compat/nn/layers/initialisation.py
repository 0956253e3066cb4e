"""The first parameters that layers draw."""

from __future__ import annotations

import math
from typing import ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar

D = TypeVar("D", bound="Drawn")

_old_seed = False


def old_seed() -> bool:
    """Return whether ``nn.oldSeed`` asks for the initial parameters of Torch7's first years."""
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


def uniform_stdv(stdv: Scalar | None, fan_in: int) -> float:
    """Return the bound of Torch7's uniform initialisation: stdv·√3, by default 1/√fan_in."""
    return stdv * math.sqrt(3) if stdv is not None else 1 / math.sqrt(fan_in)


class Drawn(Layer, abstract=True):
    """A layer whose parameters are drawn from one uniform distribution."""

    # See `draw`. Not all classes heed nn.oldSeed.
    _by_element: ClassVar[bool | None] = None

    def _fan_in(self) -> int:
        """Return how many inputs an output has."""
        columns: int = self.weight.size(1)
        return columns

    def reset(self: D, stdv: Scalar | None = None) -> D:
        """Draw the parameters uniformly from ±``stdv``·√3, by default ±1/√(inputs per output)."""
        return self._fill(uniform_stdv(stdv, self._fan_in()))

    def _fill(self: D, bound: Scalar) -> D:
        for parameter in self._own_parameters():
            draw(parameter, bound, self._by_element)
        return self
