"""Parameters of a converted net that lay in the same memory, as views of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Place:
    """Where in memory the elements of a module's parameter lie: byte addresses.

    Attributes:
        owner: the module.
        start: the address of the first element, and ``end`` that behind the last.
    """

    owner: Any
    start: int
    end: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    bytes: int

    @classmethod
    def of(cls, owner: Any, tensor: Tensor) -> Place:
        """Return the place of a tensor that has elements."""
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        last = sum((size - 1) * stride for size, stride in pairs)
        start, each = tensor.data_ptr(), tensor.element_size()
        end = start + (last + 1) * each
        return cls(owner, start, end, tuple(tensor.shape), tensor.stride(), each)

    def meets(self, other: Place) -> bool:
        """Return whether an element of both is the same."""
        first = min(self.start, other.start)
        size = (max(self.end, other.end) - first) // self.bytes
        taken = torch.zeros(size, dtype=torch.bool)
        self._in(taken, first).fill_(True)
        return bool(other._in(taken, first).any())

    def _in(self, memory: Tensor, first: int) -> Tensor:
        return memory.as_strided(self.sizes, self.strides, (self.start - first) // self.bytes)


def overlapping(places: Iterable[Place]) -> tuple[Any, Any] | None:
    """Return the owners of two places that meet, if any do; those of one owner may."""
    live: list[Place] = []
    for place in sorted(places, key=lambda place: place.start):
        live = [other for other in live if other.end > place.start]
        for other in live:
            if other.owner is not place.owner and other.meets(place):
                return other.owner, place.owner
        live.append(place)
    return None
