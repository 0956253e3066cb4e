"""Tables of tensors: joined, split, chosen from."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.checks.indexing import zero_based
from compat.nn.functional import tables as f
from compat.nn.interchange.computed import computes
from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.modules import OverSamples, WithSettings, along
from compat.nn.interchange.pairs import DIMENSION, Setting, counted, from_one, of_samples, pair
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import table_layers as torch7


class JoinTable(OverSamples):
    """The entries of a list, joined along a dimension.

    PyTorch: ``torch.cat``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return torch.cat(input, along(self.dim, self.sample_dims, input[0]))


class SplitTable(OverSamples):
    """The slices of a tensor along a dimension, as a list.

    PyTorch: ``torch.unbind``.
    """

    def forward(self, input: Tensor) -> list[Tensor]:
        return f.split_table(input, along(self.dim, self.sample_dims, input))


class SelectTable(WithSettings):
    """One entry of a list."""

    shown = ("index",)

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[self.index]


class NarrowTable(WithSettings):
    """Some entries of a list."""

    shown = ("start", "length")

    def __init__(self, start: int, length: int) -> None:
        super().__init__()
        self.start = start
        self.length = length

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        return input[self.start : self.start + self.length]


def _select_table(module: Any) -> nn.Module:
    if not isinstance(module.index, int):
        raise ValueError(
            f"index is {module.index!r}; a number is accepted, since torch.nn has no other"
        )
    return SelectTable(zero_based(module.index))


pair(torch7.JoinTable, JoinTable, DIMENSION, of_samples())
pair(torch7.SplitTable, SplitTable, DIMENSION, of_samples())
pair(torch7.NarrowTable, NarrowTable, counted("offset", "start"), Setting("length", "length"))
computes(torch7.FlattenTable, torch7.ZipTable, torch7.ZipTableOneToMany)
converts_simply(torch7.SelectTable, _select_table)
converts_from_simply(SelectTable, lambda m: torch7.SelectTable(from_one(m.index)))
