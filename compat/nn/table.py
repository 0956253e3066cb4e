"""Table layers: their inputs or outputs are lists of tensors."""

from __future__ import annotations

import functools
import operator
from typing import Any

import torch
from torch import Tensor

from compat.nn.indexing import batched, counted
from compat.nn.inplace import writable
from compat.nn.stored import Stored


class FromTable(Stored):
    """A module whose input is a table, and therefore its gradInput (an empty one to begin with)."""

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        if isinstance(fields.get("gradInput"), Tensor):
            fields["gradInput"] = []
        return fields


def table(input: Any, count: int | None = None) -> Any:
    """Check that ``input`` is a table, of ``count`` entries or of at least one."""
    if not isinstance(input, (list, tuple)):
        raise TypeError(f"input is a {type(input).__name__}; a table of tensors is accepted")
    if len(input) != count and (count is not None or not input):
        accepted = f"a table of {count}" if count is not None else "a table with entries"
        raise ValueError(f"input is a table of {len(input)}; {accepted} is accepted")
    return input


class JoinTable(FromTable):
    """The entries of a table, joined along a dimension (Torch7: ``nn.JoinTable``).

    Args:
        dimension: the dimension of a sample to join along, counted from 1, or from the end.
        nInputDims: how many dimensions a sample has. Tensors with one more are batches.
    """

    _sizes = ("size",)
    nInputDims: int | None = None

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = nInputDims
        # Work space of the Lua implementation, which expects it.
        self.size: list[int] = []

    def compute(self, input: Any) -> Tensor:
        first = table(input)[0]
        return torch.cat(input, dim=batched(self.dimension, first, self.nInputDims))


class SelectTable(FromTable):
    """One entry of a table (Torch7: ``nn.SelectTable``).

    Args:
        index: its number from 1, or from the end with negative ones, or its key.
    """

    def __init__(self, index: Any) -> None:
        super().__init__()
        self.index = counted(index, "index") if isinstance(index, int) else index

    def compute(self, input: Any) -> Any:
        if isinstance(input, dict):
            if self.index not in input:
                raise KeyError(f"input has no key {self.index!r}, only {list(input)}")
            return input[self.index]
        if not isinstance(self.index, int):
            raise TypeError(f"input is a {type(input).__name__}; a dict with the key is accepted")
        if abs(self.index) > len(table(input)):
            raise IndexError(f"index is {self.index}, input is a table of {len(input)}")
        return input[self.index - 1 if self.index > 0 else self.index]

    def __repr__(self) -> str:
        return f"{self.typename}({self.index})"


class CAddTable(FromTable):
    """The sum of the entries of a table (Torch7: ``nn.CAddTable``).

    Args:
        ip: work in place, in the first entry.
    """

    inplace: bool = False

    def __init__(self, ip: bool = False) -> None:
        super().__init__()
        if not isinstance(ip, bool):
            raise TypeError(f"ip is {ip!r}; True or False is accepted")
        self.inplace = ip

    def compute(self, input: Any) -> Tensor:
        first, *rest = table(input)
        if self.inplace and rest:
            return functools.reduce(Tensor.add_, rest, writable(first))
        return functools.reduce(operator.add, rest, first)
