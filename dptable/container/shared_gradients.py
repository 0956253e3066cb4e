"""The gradient that replicas on one device share: what each adds to it, in a fixed order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from compat.nn.core.contributions import Contributions
from compat.torch_internals import foreach_add_
from dptable.tensors.slices import slice_ranges


class _Terms:
    """What is to be added to one gradient tensor: ``values`` and ``products``, with factors."""

    def __init__(self, gradient: Tensor) -> None:
        self.gradient = gradient
        self.values: list[tuple[Tensor, float]] = []
        self.products: list[tuple[Tensor, Tensor, float]] = []

    def add(self, start: int, stop: int) -> None:
        """Add the rows from ``start`` to ``stop`` (excluded)."""
        if start == stop:
            return
        rows = self.gradient[start:stop]
        for value, scale in self.values:
            rows.add_(value[start:stop], alpha=scale)
        for first, second, scale in self.products:
            rows.addmm_(first[start:stop], second, alpha=scale)


class Addition:
    """The sum of what several replicas contribute, added by several threads together.

    Every gradient gets it in the order of the replicas, whichever thread adds what, and so the same
    result each time.

    Args:
        contributions: those of each replica, in order.
        parts: among how many threads the work is divided.
        large: from how many bytes on a gradient is divided. The others are added at once, by
            ``add_small``.

    Field ``divided``: what is left for ``add_part``.
    """

    def __init__(self, contributions: Sequence[Contributions], parts: int, large: int) -> None:
        self._small: list[tuple[Tensor, Tensor, float]] = []
        terms: dict[tuple[object, ...], _Terms] = {}

        def of(gradient: Tensor) -> _Terms:
            # Each replica has a tensor of its own over the memory that they share.
            place = gradient.data_ptr(), gradient.shape, gradient.stride()
            return terms.setdefault(place, _Terms(gradient))

        for kept in contributions:
            for gradient, value, scale in kept.values:
                if gradient.dim() and gradient.nbytes >= large:
                    of(gradient).values.append((value, scale))
                else:
                    self._small.append((gradient, value, scale))
            for gradient, first, second, scale in kept.products:
                of(gradient).products.append((first, second, scale))
        self.divided = list(terms.values())
        # Views of one memory, as of tied weights, which threads must not add to at once.
        self._parts = parts if _apart([t.gradient for t in self.divided]) else 1

    @torch.no_grad()
    def add_small(self) -> None:
        """Add to the small gradients."""
        batches: defaultdict[float, list[tuple[Tensor, Tensor]]] = defaultdict(list)
        for gradient, value, scale in self._small:
            batches[scale].append((gradient, value))
        for scale, pairs in batches.items():
            foreach_add_([g for g, _ in pairs], [v for _, v in pairs], alpha=scale)

    @torch.no_grad()
    def add_part(self, i: int) -> None:
        """Add the i-th part of what is divided, counted from 0."""
        if i < self._parts:
            for terms in self.divided:
                terms.add(*slice_ranges(terms.gradient.size(0), self._parts)[i])


def _apart(tensors: Sequence[Tensor]) -> bool:
    """Whether no two of them use the same memory."""
    ranges = sorted((t.data_ptr(), t.data_ptr() + _extent(t)) for t in tensors)
    return all(end <= start for (_, end), (start, _) in pairwise(ranges))


def _extent(tensor: Tensor) -> int:
    """The bytes from its first element to the end of its last."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return (1 + sum((size - 1) * stride for size, stride in steps)) * tensor.element_size()
