"""Containers that run their modules side by side."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.checks.indexing import needed, zero_based
from compat.nn.containers import branches as torch7
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import FromTorch, converts_from
from compat.nn.interchange.pairs import from_one
from compat.nn.interchange.to_torch import ToTorch, converts


class Concat(nn.ModuleList):
    """Modules on the same input, with outputs joined along ``dim``.

    PyTorch: ``torch.cat``.
    """

    def __init__(self, dim: int, modules: list[nn.Module]) -> None:
        super().__init__(modules)
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        return torch.cat(outputs, self.dim)


class DepthConcat(Concat):
    """A ``Concat`` that pads outputs with zeros to the largest, on both sides alike."""

    def forward(self, input: Tensor) -> Tensor:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        dims = outputs[0].dim()
        padded: list[Tensor] = []
        for output in outputs:
            amounts: list[int] = []
            for dim in range(dims - 1, -1, -1):
                missing = 0
                if dim != self.dim:
                    missing = max([other.size(dim) for other in outputs]) - output.size(dim)
                amounts += [missing // 2, missing - missing // 2]
            padded.append(F.pad(output, amounts))
        return torch.cat(padded, self.dim)


class Parallel(nn.ModuleList):
    """Modules on one slice of the input along ``dim`` each.

    The outputs are joined along ``out_dim``.
    """

    def __init__(self, dim: int, out_dim: int, modules: list[nn.Module]) -> None:
        super().__init__(modules)
        self.dim = dim
        self.out_dim = out_dim

    def forward(self, input: Tensor) -> Tensor:
        slices = input.unbind(self.dim)
        outputs: list[Tensor] = []
        for i, module in enumerate(self):
            if i < len(slices):
                outputs.append(module(slices[i]))
        return torch.cat(outputs, self.out_dim)


class ConcatTable(nn.ModuleList):
    """Modules on the same input, with a list of outputs."""

    def forward(self, input: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = []
        for module in self:
            outputs.append(module(input))
        return outputs


class ParallelTable(nn.ModuleList):
    """Modules on one entry of the input each, with a list of outputs."""

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        outputs: list[Tensor] = []
        for i, module in enumerate(self):
            outputs.append(module(input[i]))
        return outputs


def _dim(dimension: int | None, name: str) -> int:
    return zero_based(needed(dimension, name))


@converts(torch7.Concat)
def _concat(module: Any, convert: ToTorch) -> nn.Module:
    return Concat(_dim(module.dimension, "dimension"), convert.children(module))


@converts(torch7.DepthConcat)
def _depth_concat(module: Any, convert: ToTorch) -> nn.Module:
    return DepthConcat(_dim(module.dimension, "dimension"), convert.children(module))


@converts(torch7.Parallel)
def _parallel(module: Any, convert: ToTorch) -> nn.Module:
    slices = _dim(module.inputDimension, "inputDimension")
    joined = _dim(module.outputDimension, "outputDimension")
    return Parallel(slices, joined, convert.children(module))


@converts(torch7.ConcatTable)
def _concat_table(module: Any, convert: ToTorch) -> nn.Module:
    return ConcatTable(convert.children(module))


@converts(torch7.ParallelTable)
def _parallel_table(module: Any, convert: ToTorch) -> nn.Module:
    return ParallelTable(convert.children(module))


@converts_from(Concat)
def _from_concat(module: Any, convert: FromTorch) -> Module:
    return torch7.Concat(from_one(module.dim)).extend(*convert.children(module))


@converts_from(DepthConcat)
def _from_depth_concat(module: Any, convert: FromTorch) -> Module:
    return torch7.DepthConcat(from_one(module.dim)).extend(*convert.children(module))


@converts_from(ConcatTable)
def _from_concat_table(module: Any, convert: FromTorch) -> Module:
    return torch7.ConcatTable(*convert.children(module))


@converts_from(ParallelTable)
def _from_parallel_table(module: Any, convert: FromTorch) -> Module:
    return torch7.ParallelTable(*convert.children(module))
