"""Layers that draw random numbers in training.

They draw from Torch7's generator, so that a seeded run repeats; on a GPU from PyTorch's own.
"""

from __future__ import annotations

import torch
from torch import Tensor

from compat import random
from compat.nn.elementwise import Elementwise, flag


class _Dropout(Elementwise):
    """What the dropouts have in common: when they draw, and the probability ``p``."""

    p: float
    stochastic_inference: bool = False

    def __init__(self, p: float = 0.5, stochasticInference: bool = False) -> None:
        super().__init__()
        self.setp(p)
        self.train = True
        self.stochastic_inference = flag(stochasticInference, "stochasticInference")
        self.noise = torch.empty(0)

    def setp(self, p: float) -> None:
        """Set the probability of dropping an element."""
        if not isinstance(p, (int, float)) or not 0 <= p < 1:
            raise ValueError(f"p is {p!r}; 0 <= p < 1 is accepted")
        self.p = p

    def draws(self) -> bool:
        """Whether elements are dropped in the present mode."""
        return self.train or self.stochastic_inference

    def clearState(self) -> _Dropout:
        self.noise = self.noise.new_empty(0)
        return super().clearState()

    def __repr__(self) -> str:
        return f"{self.typename}({self.p:f})"


def kept(noise: Tensor, p: float) -> Tensor:
    """Fill ``noise`` with 0 at probability ``p`` and else 1."""
    if noise.is_cuda:
        return noise.bernoulli_(1 - p)
    return random.bernoulli_(noise, 1 - p)


class Dropout(_Dropout):
    """Sets each element to 0 at probability ``p`` in training (Torch7: ``nn.Dropout``).

    Args:
        p: the probability, at least 0 and below 1.
        v1: scale by 1 - p in evaluation, instead of by 1 / (1 - p) in training.
        inplace: work in place.
        stochasticInference: drop in evaluation too.

    Field: ``noise``, what the latest input was multiplied with.
    """

    # Files from before there was a second version have no such field.
    v2: bool = False

    def __init__(
        self,
        p: float = 0.5,
        v1: bool = False,
        inplace: bool = False,
        stochasticInference: bool = False,
    ) -> None:
        super().__init__(p, stochasticInference)
        self.v2 = not flag(v1, "v1")
        self.inplace = flag(inplace, "inplace")

    def apply_to(self, input: Tensor) -> Tensor:
        if self.p == 0:
            return input
        if self.draws():
            self.noise = kept(torch.empty_like(input.detach()), self.p)
            if self.v2:
                self.noise.div_(1 - self.p)
            return input.mul_(self.noise) if self.inplace else input * self.noise
        if self.v2:
            return input
        return input.mul_(1 - self.p) if self.inplace else input * (1 - self.p)
