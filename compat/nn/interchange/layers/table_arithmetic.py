"""Arithmetic of the tensors of a table, in operators that TorchScript compiles."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from compat.nn.interchange.computed import computes
from compat.nn.interchange.pairs import INPLACE, pair
from compat.nn.layers import table_arithmetic as torch7


class CAddTable(nn.Module):
    """The sum of the entries.

    PyTorch: ``torch.add``, and with ``inplace`` ``Tensor.add_`` while autograd records nothing.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        if self.inplace and not torch.is_grad_enabled():
            for entry in input[1:]:
                result.add_(entry)
            return result
        for entry in input[1:]:
            result = result + entry
        return result


class CSubTable(nn.Module):
    """The first entry less the second.

    PyTorch: ``torch.sub``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[0] - input[1]


class CMulTable(nn.Module):
    """The product of the entries.

    PyTorch: ``torch.mul``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = result * entry
        return result


class CDivTable(nn.Module):
    """The first entry divided by the second.

    PyTorch: ``torch.div``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        return input[0] / input[1]


class CMaxTable(nn.Module):
    """The largest of the entries for each element.

    PyTorch: ``torch.maximum``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = torch.where(entry > result, entry, result)
        return result


class CMinTable(nn.Module):
    """The smallest of the entries for each element.

    PyTorch: ``torch.minimum``.
    """

    def forward(self, input: list[Tensor]) -> Tensor:
        result = input[0]
        for entry in input[1:]:
            result = torch.where(entry < result, entry, result)
        return result


pair(torch7.CAddTable, CAddTable, INPLACE)
pair(torch7.CSubTable, CSubTable)
pair(torch7.CMulTable, CMulTable)
pair(torch7.CDivTable, CDivTable)
pair(torch7.CMaxTable, CMaxTable)
pair(torch7.CMinTable, CMinTable)
computes(torch7.CAddTensorTable, torch7.MixtureTable)
