"""The alias method [Walker 1977]: each draw from many categories costs two random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from compat.random.choice import check_weights
from compat.random.distributions import bernoulli_, random_
from compat.random.fill import fill
from compat.random.generator import Generator, pick

if TYPE_CHECKING:
    from numpy.typing import NDArray


class AliasMultinomial:
    """Draw from categories with given probabilities (``torch.AliasMultinomial`` of torchx).

    Args:
        probs: the probabilities, of shape ``(K,)``, which add to 1.

    Attributes:
        J, q: the alias tables, int64 and of the type of ``probs``. A category ``k`` is drawn
            evenly; it is the result with probability ``q[k]``, and otherwise ``J[k]`` is.
    """

    def __init__(self, probs: torch.Tensor) -> None:
        aliases, q = _table(probs)
        self.J = aliases + 1
        self.q = q.masked_fill_(aliases < 0, 1)

    def batchdraw(
        self, output: torch.Tensor, *, generator: Generator | None = None
    ) -> torch.Tensor:
        """Fill the int64 tensor ``output`` with categories, from 1 on."""
        _check_output(output, "output")
        chosen = pick(generator)
        with chosen.lock:
            own = random_(torch.empty_like(output), 1, len(self.J), generator=chosen)
            kept = bernoulli_(torch.empty_like(output), self.q[own - 1], generator=chosen)
        return output.copy_(torch.where(kept == 1, own, self.J[own - 1]))


def multinomialAliasSetup(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the alias tables ``(J, q)`` of the probabilities ``p`` of shape ``(K,)``.

    ``J`` is int64 and counts from 1; ``q`` has the type of ``p``. The probabilities should add to
    1. Source: Walker's alias method.
    """
    aliases, q = _table(p)
    if not q.min() > 0:
        raise ValueError(
            f"p gives the alias table the entry {q.min()}; one that gives positive ones is accepted"
        )
    # Torch7 has 0 for no alias, and for the first category as one.
    aliases.clamp_(min=0)
    return aliases + 1, q.masked_fill_(aliases == 0, 1)


def multinomialAlias(
    out: torch.Tensor,
    state: tuple[torch.Tensor, torch.Tensor],
    *,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Fill the int64 tensor ``out`` with draws, given the tables of ``multinomialAliasSetup``.

    If an alias is drawn, the result is ``J - 1``, the category before the right one. This is a bug
    of Torch7, kept because seeded runs show it. Use ``multinomial`` for the right distribution.

    Differs from Torch7: ``J`` is not changed, so that further calls draw in the same way; float32
    probabilities work, too.

    Args:
        out: an int64 tensor of any shape, overwritten with categories.
        state: the pair that ``multinomialAliasSetup`` returned.
        generator: where to draw from; default: the shared one.

    Returns:
        ``out``.
    """
    _check_output(out, "out")
    J, q = (part.detach().cpu().numpy() for part in state)
    if J.shape != q.shape or J.ndim != 1:
        raise ValueError(
            f"state has J of size {J.shape} and q of size {q.shape}; vectors of one length are "
            "accepted"
        )
    chosen = pick(generator)

    def draw(n: int) -> NDArray[np.int64]:
        u = chosen.uniforms(2 * n).reshape(n, 2)
        k = (u[:, 0] * len(J)).astype(np.int64)
        return np.where(u[:, 1] <= q[k], k + 1, J[k] - 1)

    with chosen.lock:
        fill(out, draw)
    return out


def _check_output(tensor: torch.Tensor, name: str) -> None:
    if tensor.dtype != torch.int64:
        raise TypeError(f"{name} is {tensor.dtype}; an int64 tensor (LongTensor) is accepted")


def _table(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each category its alias, from 0 (-1: none), and the probability of itself."""
    check_weights(p)
    if p.dim() != 1:
        raise ValueError(f"p has {p.dim()} dimensions; 1 is accepted")
    hold: Callable[[float], float] = (
        float if p.dtype == torch.float64 else lambda value: float(np.float32(value))
    )
    size = p.numel()
    q = [hold(size * value) for value in p.tolist()]
    aliases = [-1] * size
    small = [i for i in range(size) if q[i] < 1]
    large = [i for i in range(size) if not q[i] < 1]
    while small and large:
        low, high = small[-1], large[-1]
        aliases[low] = high
        q[high] = hold(q[high] - (1.0 - q[low]))
        if q[high] < 1:
            small[-1] = large.pop()
        else:
            small.pop()
    if (highest := max(q)) > 1:
        q = [hold(value / highest) for value in q]
    return torch.tensor(aliases, device=p.device), torch.tensor(q, dtype=p.dtype, device=p.device)
