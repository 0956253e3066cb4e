"""Finds the tensors that share a storage, for writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from compat.t7.base.types import TENSOR_DTYPES, is_cuda_type

_PLAIN_TYPES = {d: n for n, d in TENSOR_DTYPES.items() if not is_cuda_type(n)}
_CUDA_TYPES = {d: n for n, d in TENSOR_DTYPES.items() if is_cuda_type(n)}


class Use:
    """A tensor or a separate storage among the written objects.

    Attributes:
        index: the index of the tensor object in the file.
        storage_index: the index of the storage object at the first use of the storage; else 0.
        sizes, strides, offset: of the tensor; the offset counts from 0.
    """

    __slots__ = ("index", "is_storage", "offset", "part", "sizes", "storage_index", "strides")

    def __init__(self, tensor: torch.Tensor, index: int, storage_index: int, is_storage: bool):
        self.index = index
        self.storage_index = storage_index
        self.is_storage = is_storage
        self.part: Part
        self.sizes: tuple[int, ...] = tuple(tensor.shape)
        self.strides: tuple[int, ...] = tuple(tensor.stride())
        self.offset = int(tensor.storage_offset())
        if not self.sizes:
            self.sizes = self.strides = (1,)  # Torch7 has no tensors without dimensions

    @property
    def empty(self) -> bool:
        return 0 in self.sizes

    @property
    def end(self) -> int:
        """The place behind the last element, within the storage."""
        if self.empty:
            return self.offset
        steps = zip(self.sizes, self.strides, strict=True)
        return self.offset + 1 + sum((size - 1) * stride for size, stride in steps)


class Part:
    """The elements ``start`` to ``end`` of a storage, which become a storage in the file.

    Attributes:
        elements: a one-dimensional tensor of the elements.
        index: the index of the storage object in the file, once it has been written.
    """

    def __init__(self, shared: Shared, uses: list[Use], start: int, end: int) -> None:
        self.shared = shared
        self.uses = uses
        self.start = start
        self.elements = shared.elements(start, end)
        self.index: int | None = None
        for use in uses:
            use.part = self

    def make_contiguous(self) -> None:
        """Leave out the gaps between the elements, if only one tensor uses the storage."""
        first = self.uses[0]
        count = 1
        for size in first.sizes:
            count *= size
        # Several tensors with one geometry are one view twice; any other mix needs the gaps as they
        # are.
        if count >= len(self.elements) or any(
            (use.sizes, use.strides, use.offset) != (first.sizes, first.strides, first.offset)
            for use in self.uses
        ):
            return
        view = self.elements.as_strided(first.sizes, first.strides, first.offset)
        packed = view.contiguous()
        self.elements = packed.view(-1)
        for use in self.uses:
            use.strides = packed.stride()
            use.offset = self.start


class Shared:
    """One storage in memory, and every use of it.

    Attributes:
        on_gpu: whether it is written as a storage of a CUDA class.
    """

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor  # keeps the memory alive, so that its address stays unique
        self.on_gpu = False
        self.uses: list[Use] = []

    def elements(self, start: int, end: int) -> torch.Tensor:
        return self._tensor.as_strided((end - start,), (1,), start)

    @property
    def typename(self) -> str:
        """Torch7's name of the type of the tensors."""
        return (_CUDA_TYPES if self.on_gpu else _PLAIN_TYPES)[self._tensor.dtype]

    def divide(self, compact: bool, referenced: bool) -> Iterator[Part]:
        """Yield the storages to write: the whole one, or with ``compact`` what tensors
        cover of it.
        """
        separate = [[use] for use in self.uses]
        # A storage that is an object of its own must be whole: a program may index it.
        if compact and not any(use.is_storage for use in self.uses):
            for uses in _clusters(self.uses) if referenced else separate:
                part = Part(self, uses, uses[0].offset, max(use.end for use in uses))
                part.make_contiguous()
                yield part
            return
        size = self._tensor.untyped_storage().nbytes() // self._tensor.itemsize
        for uses in [self.uses] if referenced else separate:
            yield Part(self, uses, 0, size)


def _clusters(uses: Iterable[Use]) -> Iterator[list[Use]]:
    """Yield the uses that overlap or touch each other; views of one flat vector stay together."""
    cluster: list[Use] = []
    end = 0
    for use in sorted(uses, key=lambda use: use.offset):
        if cluster and use.offset > end:
            yield cluster
            cluster = []
        cluster.append(use)
        end = max(end, use.end) if len(cluster) > 1 else use.end
    yield cluster
