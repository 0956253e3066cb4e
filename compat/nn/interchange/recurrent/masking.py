"""Samples that are all zero."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.layers.lookup import embedding
from compat.nn.interchange.recurrent.memory import first_of, mapped
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import masking as torch7
from compat.tensor_tables import map_tensors, tensors


class MaskZero(nn.Module):
    """A module whose output is zero for samples, of ``dims`` dimensions, that are all zero."""

    def __init__(self, module: nn.Module, dims: int) -> None:
        super().__init__()
        self.module = module
        self.dims = dims

    def forward(self, input: Any) -> Any:
        zero = torch7.zero_rows(first_of(input), self.dims)

        def masked(output: Tensor) -> Tensor:
            return output.masked_fill(zero.reshape([-1] + [1] * (output.dim() - 1)), 0)

        return mapped(masked, self.module(input))


class LookupTableMaskZero(nn.Embedding):
    """``torch.nn.Embedding`` whose index 0 gives zeros.

    PyTorch: ``torch.nn.Embedding``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.long())


class MaskZeroCriterion(nn.Module):
    """A loss of the samples, of ``dims`` dimensions, that are not all zero."""

    def __init__(self, loss: nn.Module, dims: int) -> None:
        super().__init__()
        self.loss = loss
        self.dims = dims

    def forward(self, input: Any, target: Any) -> Tensor:
        entries = tensors(input)
        kept = ~torch7.zero_rows(entries[0], self.dims)
        if not kept.any():
            return torch.stack([entry.sum() * 0 for entry in entries]).sum()
        loss: Tensor = self.loss(*map_tensors(lambda entry: entry[kept], [input, target]))
        return loss


@converts(torch7.MaskZero)
def _mask_zero(module: Any, convert: ToTorch) -> nn.Module:
    return MaskZero(convert.child(module, 0), module.nInputDim)


@converts(torch7.LookupTableMaskZero)
def _lookup_table_mask_zero(module: Any, convert: ToTorch) -> nn.Module:
    layer = embedding(LookupTableMaskZero, module, 0, convert)
    with torch.no_grad():
        layer.weight[0].zero_()
    return layer


@converts(torch7.MaskZeroCriterion)
def _mask_zero_criterion(criterion: Any, convert: ToTorch) -> nn.Module:
    return MaskZeroCriterion(convert(criterion.criterion), criterion.nInputDim)
