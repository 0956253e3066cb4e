"""Choosing elements by numbers and masks. Dimensions and indices count from 1."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.pointwise import KERNELS


def _check_rows(a: Tensor, d: int, index: Tensor) -> None:
    size = a.shape[d - 1]
    if not (int(index.min()) >= 1 and int(index.max()) <= size):
        raise ArgumentError(3 if a.dim() > 1 else 2, "out of range")


def indexSelect(a: Tensor, d: int, index: Tensor) -> Tensor:
    """Return the rows of ``a`` with the given numbers."""
    try:
        _check_rows(a, d, index)
    except ArgumentError:
        if d == 1 and a.is_contiguous():
            raise RuntimeError("index out of range") from None
        raise
    return torch.index_select(a, d - 1, index - 1)


def _shares_memory(a: Tensor) -> bool:
    """Return whether elements share memory, which PyTorch refuses to write to."""
    return any(size > 1 and not step for size, step in zip(a.shape, a.stride(), strict=True))


def _each_row(a: Tensor, d: int, index: Tensor, source: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the rows of ``a`` with as many elements of the source."""
    _check_rows(a, d, index)
    for i, row in enumerate(index.tolist()):
        target = a.select(d - 1, row - 1)
        yield target, source.select(d - 1, i).reshape(target.shape)


def indexCopy(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    for target, row in _each_row(a, d, index, source):
        KERNELS["copy"](target, row)


def indexAdd(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    row_shape = a.select(d - 1, 0).shape
    if source.select(d - 1, 0).shape == row_shape and not _shares_memory(a):
        _check_rows(a, d, index)
        a.index_add_(d - 1, index - 1, source)
    else:
        for target, row in _each_row(a, d, index, source):
            KERNELS["cadd"](target, target, 1, row)


def indexFill(a: Tensor, d: int, index: Tensor, value: float) -> None:
    _check_rows(a, d, index)
    for row in index.tolist():
        a.select(d - 1, row - 1).fill_(value)


def _chosen(mask: Tensor) -> Tensor:
    if mask.numel() and int(mask.max()) > 1:
        raise RuntimeError("Mask tensor can take 0 and 1 values only")
    return mask.flatten().bool()


def _elements(a: Tensor, chosen: Tensor) -> Iterator[Tensor]:
    return (a[tuple(place)] for place in chosen.reshape(a.shape).nonzero().tolist())


def maskedSelect(a: Tensor, mask: Tensor) -> Tensor:
    return a.flatten()[_chosen(mask)]


def maskedFill(a: Tensor, mask: Tensor, value: float) -> None:
    chosen = _chosen(mask)
    if _shares_memory(a):
        for element in _elements(a, chosen):
            element.fill_(value)
    else:
        a.masked_fill_(chosen.reshape(a.shape), value)


def maskedCopy(a: Tensor, mask: Tensor, source: Tensor) -> None:
    if a.numel() != mask.numel():
        raise RuntimeError("Number of elements of destination tensor != Number of elements in mask")
    chosen = _chosen(mask)
    n = int(chosen.sum())
    if n > source.numel():
        raise RuntimeError("Number of elements of src < number of ones in mask")
    values = source.flatten()[:n]
    if _shares_memory(a):
        for element, value in zip(_elements(a, chosen), values, strict=True):
            element.copy_(value)
    else:
        a.masked_scatter_(chosen.reshape(a.shape), values)


def _places(index: Tensor, size: int, name: str) -> Tensor:
    if not (int(index.min()) >= 1 and int(index.max()) <= size):
        raise RuntimeError(f"Invalid index in {name}")
    return index - 1


def gather(a: Tensor, d: int, index: Tensor) -> Tensor:
    return torch.gather(a, d - 1, _places(index, a.shape[d - 1], "gather"))


def scatter(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    a.scatter_(d - 1, _places(index, a.shape[d - 1], "scatter"), source)


def scatterFill(a: Tensor, d: int, index: Tensor, value: float) -> None:
    a.scatter_(d - 1, _places(index, a.shape[d - 1], "scatter"), value)


def nonzero(a: Tensor) -> Tensor:
    return torch.nonzero(a) + 1
