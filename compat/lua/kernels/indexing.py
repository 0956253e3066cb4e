"""Choosing elements by numbers and masks. Dimensions and indices count from 1."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def _vector(index: Tensor) -> Tensor:
    if index.dim() != 1:
        raise ArgumentError(3, "Index is supposed to be a vector")
    return index


def _from_zero(index: Tensor, size: int) -> Tensor:
    if index.numel() and not (int(index.min()) >= 1 and int(index.max()) <= size):
        raise RuntimeError("index out of range")
    return index - 1


def indexSelect(a: Tensor, d: int, index: Tensor) -> Tensor:
    _vector(index)
    if not 1 <= d <= a.dim() or a.numel() == 0:
        if a.numel() == 0:
            raise ArgumentError(2, "Source tensor is empty")
        raise ArgumentError(4, f"Indexing dim {d} is out of bounds of tensor")
    return torch.index_select(a, d - 1, _from_zero(index, a.shape[d - 1]))


def _rows(a: Tensor, d: int, index: Tensor, source: Tensor) -> Tensor:
    if not 1 <= d <= a.dim():
        raise ArgumentError(4, f"Indexing dim {d} is out of bounds of tensor")
    _vector(index)
    if source.dim() < d or index.numel() != source.shape[d - 1]:
        raise ArgumentError(4, "Number of indices should be equal to source:size(dim)")
    if not int(index.min()) >= 1 or not int(index.max()) <= a.shape[d - 1]:
        raise ArgumentError(3, "out of range")
    shape = list(a.shape)
    shape[d - 1] = index.numel()
    return source.reshape(shape)


def indexCopy(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    source = _rows(a, d, index, source)
    for i, row in enumerate(index.tolist()):
        a.select(d - 1, row - 1).copy_(source.select(d - 1, i))


def indexAdd(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    a.index_add_(d - 1, index - 1, _rows(a, d, index, source))


def indexFill(a: Tensor, d: int, index: Tensor, value: float) -> None:
    if not 1 <= d <= a.dim():
        raise ArgumentError(4, f"Indexing dim {d} is out of bounds of tensor")
    if not int(_vector(index).min()) >= 1 or not int(index.max()) <= a.shape[d - 1]:
        raise ArgumentError(3, "out of range")
    a.index_fill_(d - 1, index - 1, value)


def _mask(mask: Tensor) -> Tensor:
    if mask.numel() and int(mask.max()) > 1:
        raise RuntimeError("Mask tensor can take 0 and 1 values only")
    return mask.flatten().bool()


def maskedSelect(a: Tensor, mask: Tensor) -> Tensor:
    if a.numel() != mask.numel():
        raise RuntimeError("inconsistent tensor size")
    return a.flatten()[_mask(mask)]


def maskedFill(a: Tensor, mask: Tensor, value: float) -> None:
    if a.numel() != mask.numel():
        raise RuntimeError("inconsistent tensor size")
    a.masked_fill_(_mask(mask).reshape(a.shape), value)


def maskedCopy(a: Tensor, mask: Tensor, source: Tensor) -> None:
    if a.numel() != mask.numel():
        raise RuntimeError("Number of elements of destination tensor != Number of elements in mask")
    chosen = _mask(mask)
    n = int(chosen.sum())
    if n > source.numel():
        raise RuntimeError("Number of elements of src < number of ones in mask")
    a.masked_scatter_(chosen.reshape(a.shape), source.flatten()[:n])


def gather(a: Tensor, d: int, index: Tensor) -> Tensor:
    if not 1 <= d <= a.dim():
        raise ArgumentError(3, "Index dimension is out of bounds")
    if not int(index.min()) >= 1 or not int(index.max()) <= a.shape[d - 1]:
        raise RuntimeError("Invalid index in gather")
    return torch.gather(a, d - 1, index - 1)


def _scatter_index(a: Tensor, d: int, index: Tensor) -> Tensor:
    if not 1 <= d <= a.dim():
        raise ArgumentError(2, "Index dimension is out of bounds")
    if index.dim() != a.dim():
        raise ArgumentError(3, "Index tensor must have same dimensions as output tensor")
    if any(s != t for i, (s, t) in enumerate(zip(a.shape, index.shape, strict=True)) if i != d - 1):
        raise ArgumentError(
            3,
            "Index tensor must have same size as output tensor apart from the specified dimension",
        )
    if not int(index.min()) >= 1 or not int(index.max()) <= a.shape[d - 1]:
        raise RuntimeError("Invalid index in scatter")
    return index - 1


def scatter(a: Tensor, d: int, index: Tensor, source: Tensor) -> None:
    if source.dim() != a.dim():
        raise ArgumentError(4, "Input tensor must have same dimensions as output tensor")
    places = _scatter_index(a, d, index)
    if source.shape != index.shape:
        raise ArgumentError(4, "Input tensor must have same size as index tensor")
    a.scatter_(d - 1, places, source)


def scatterFill(a: Tensor, d: int, index: Tensor, value: float) -> None:
    a.scatter_(d - 1, _scatter_index(a, d, index), value)


def nonzero(a: Tensor) -> Tensor:
    return torch.nonzero(a) + 1
