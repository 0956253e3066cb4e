"""Table layers: their inputs or outputs are lists of tensors."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat.checks import (
    check_tensor,
    flag,
    listed,
    number,
    whole,
    whole_or_none,
    wrong_type,
)
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.indexing import batched, checked_batched, checked_dim, counted, positive
from compat.nn.checks.tensors import ANYTHING, TABLE, check_dims, check_type
from compat.nn.containers.joining import joined
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Scalar, deterministic
from compat.nn.layers.distance import cosine, norm, vectors
from compat.nn.layers.inplace import writable
from compat.tensor_tables import tensors


class FromTable(Stored, abstract=True):
    """A module whose input is a table, and therefore its gradInput."""

    takes = TABLE
    table_fields: ClassVar[tuple[str, ...]] = ("gradInput",)


def table(input: Any, count: int | None = None, name: str = "input") -> Any:
    """Check that ``input`` is a table, of ``count`` entries or of at least one."""
    if not isinstance(input, (list, tuple)):
        raise wrong_type(input, name, TABLE)
    if len(input) != count and (count is not None or not input):
        accepted = f"a table of {count}" if count is not None else "a table with entries"
        raise ValueError(f"{name} is a table of {len(input)}; {accepted} is accepted")
    return input


def one_type(input: Any, name: str = "input") -> Any:
    """Check that ``input`` is a table of tensors of one type."""
    first = table(input, name=name)[0]
    for i, entry in enumerate(input, 1):
        place = f"{name}[{i}]"
        check_type(check_tensor(entry, place), first, place, f"{name}[1]")
    return input


class JoinTable(FromTable):
    """The entries of a table, joined along a dimension (Torch7: ``nn.JoinTable``).

    Args:
        dimension: the dimension of a sample to join along, counted from 1, or from the end.
        nInputDims: how many dimensions a sample has. Tensors with one more are batches.

    PyTorch: ``torch.cat``.
    """

    size_fields = ("size",)
    nInputDims: int | None = None

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims", 0)
        # Work space of the Lua implementation, which expects it.
        self.size: list[int] = []

    @deterministic
    def compute(self, input: Any) -> Tensor:
        first = one_type(input)[0]
        return joined(input, batched(self.dimension, first, self.nInputDims), "input[{}]")


class SelectTable(FromTable):
    """One entry of a table (Torch7: ``nn.SelectTable``).

    Args:
        index: its number from 1, or from the end with negative ones, or its key.
    """

    takes = ANYTHING

    def __init__(self, index: Any) -> None:
        super().__init__()
        self.index = counted(index, "index") if isinstance(index, int) else index

    @deterministic
    def compute(self, input: Any) -> Any:
        if isinstance(input, dict):
            if self.index not in input:
                keys = listed([repr(key) for key in input])
                raise KeyError(f"index is {self.index!r}; a key of input, {keys}, is accepted")
            return input[self.index]
        if not isinstance(self.index, int):
            raise wrong_type(input, "input", f"a dict with the key {self.index!r}")
        if abs(self.index) > len(table(input)):
            raise IndexError(
                f"input is a table of {len(input)}; one with entry {self.index} is accepted"
            )
        return input[self.index - 1 if self.index > 0 else self.index]

    def __repr__(self) -> str:
        return f"{self.typename}({self.index})"


def _same_size(input: Any, name: str = "input") -> Any:
    """The entries of a table, which have as many elements as the first, in its shape."""
    first = one_type(input, name)[0]
    if all(entry.shape == first.shape for entry in input):
        return input
    for i, entry in enumerate(input, 1):
        _check_elements(entry, first, f"{name}[{i}]", f"{name}[1]")
    return [entry.reshape(first.shape) for entry in input]


def _check_elements(entry: Tensor, first: Tensor, name: str, owner: str) -> None:
    if entry.numel() != first.numel():
        raise ValueError(
            f"{name} has size {tuple(entry.shape)}, {owner} has {tuple(first.shape)}; "
            "as many elements are accepted"
        )


class _Folded(FromTable):
    """A function of two tensors, applied to the first two entries, the result and the third, …"""

    # Whether any number of entries is accepted, or two.
    _any: ClassVar[bool] = True

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        """The function. Classes define it."""
        raise TypeError(f"{self.typename} does not define combine(first, second)")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        entries = _same_size(input if self._any else table(input, 2))
        if len(entries) == 1:
            return entries[0].clone()
        return functools.reduce(self.combine, entries)


class CAddTable(_Folded):
    """The sum of the entries of a table (Torch7: ``nn.CAddTable``).

    Args:
        ip: work in place, in the first entry.

    PyTorch: ``torch.add``.
    """

    inplace: bool = False

    @nil_is_default
    def __init__(self, ip: bool = False) -> None:
        super().__init__()
        self.inplace = flag(ip)

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return first + second

    @deterministic
    def compute(self, input: Any) -> Tensor:
        if not self.inplace:
            return super().compute(input)
        first, *rest = _same_size(input)
        return functools.reduce(Tensor.add_, rest, writable(first))


class CSubTable(_Folded):
    """The first entry of a table less the second (Torch7: ``nn.CSubTable``).

    PyTorch: ``torch.sub``.
    """

    _any = False

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return first - second


class CMulTable(_Folded):
    """The product of the entries of a table, element by element (Torch7: ``nn.CMulTable``).

    PyTorch: ``torch.mul``.
    """

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return first * second


class CDivTable(_Folded):
    """The first entry of a table divided by the second (Torch7: ``nn.CDivTable``).

    PyTorch: ``torch.div``.
    """

    _any = False

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return first / second


class CMaxTable(_Folded):
    """The largest of the entries for each element, of equal ones the first.

    Torch7: ``nn.CMaxTable``.

    PyTorch: ``torch.maximum``.
    """

    workspace_fields = dict.fromkeys(("maxIdx", "mask", "maxVals", "gradMaxVals"))

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.where(second > first, second, first)


class CMinTable(_Folded):
    """The smallest of the entries for each element, of equal ones the first.

    Torch7: ``nn.CMinTable``.

    PyTorch: ``torch.minimum``.
    """

    workspace_fields = dict.fromkeys(("minIdx", "mask", "minVals", "gradMaxVals"))

    def combine(self, first: Tensor, second: Tensor) -> Tensor:
        return torch.where(second < first, second, first)


class CAddTensorTable(FromTable):
    """The first entry, a tensor, added to each tensor of the second, a table.

    Torch7: ``nn.CAddTensorTable``.
    """

    takes = ANYTHING

    @deterministic
    def compute(self, input: Any) -> list[Tensor]:
        first, second = table(input, 2)
        check_tensor(first, "input[1]")
        for i, entry in enumerate(table(second, name="input[2]"), 1):
            name = f"input[2][{i}]"
            check_type(check_tensor(entry, name), first, name, "input[1]")
            _check_elements(entry, first, name, "input[1]")
        return [first + entry.reshape(first.shape) for entry in second]


class DotProduct(FromTable):
    """The dot products of two tensors (Torch7: ``nn.DotProduct``).

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    PyTorch: ``torch.linalg.vecdot``.
    """

    @deterministic
    def compute(self, input: Any) -> Tensor:
        first, second = vectors(input)
        return (first * second).sum(1)


class CosineDistance(FromTable):
    """The cosines of the angles between two tensors (Torch7: ``nn.CosineDistance``).

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    PyTorch: ``torch.nn.CosineSimilarity``.
    """

    cleared_fields = ("w1", "w22", "w", "w32", "ones")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        return cosine(*vectors(input))


class PairwiseDistance(FromTable):
    """The distances of two tensors (Torch7: ``nn.PairwiseDistance``).

    Args:
        p: which norm of the difference; the field ``norm``.

    Shapes: a table of two tensors ``D`` or ``N x D``; output 1 or ``N``.

    Differs from Torch7: the gradient is right for norms between 1 and 2 as well.

    PyTorch: ``torch.nn.PairwiseDistance``.
    """

    cleared_fields = ("diff", "outExpand", "grad", "ones")

    workspace_fields = {"diff": None}
    scratch_fields = ("outExpand", "grad", "ones")

    @nil_is_default
    def __init__(self, p: Scalar = 2) -> None:
        super().__init__()
        self.norm = number(p, "p")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        first, second = vectors(input)
        return norm(first - second, self.norm, 1e-6)


class _Product(FromTable):
    """Products of matrices, or batches of them."""

    def _checked(self, tensor: Tensor, index: int, dims: int, transposed: bool) -> Tensor:
        check_dims(tensor, dims, name=f"input[{index}]")
        return tensor.transpose(-2, -1) if transposed else tensor


class MM(_Product):
    """The product of two matrices (Torch7: ``nn.MM``).

    Args:
        transA: transpose the first.
        transB: transpose the second.

    Shapes: a table of two tensors of 2 dimensions, or of 3 where the first is the batch.

    PyTorch: ``torch.matmul``.
    """

    transA: bool = False
    transB: bool = False

    @nil_is_default
    def __init__(self, transA: bool = False, transB: bool = False) -> None:
        super().__init__()
        self.transA = flag(transA, "transA")
        self.transB = flag(transB, "transB")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        first, second = table(input, 2)
        dims = 3 if first.dim() == 3 else 2
        first = self._checked(first, 1, dims, self.transA)
        second = self._checked(second, 2, dims, self.transB)
        if first.size(-1) != second.size(-2) or first.shape[:-2] != second.shape[:-2]:
            raise ValueError(
                f"input has matrices of size {tuple(first.shape)} and {tuple(second.shape)} "
                "(after transposing); m x k and k x n, in batches of one size, are accepted"
            )
        return first @ second


class MV(_Product):
    """The product of a matrix and a vector (Torch7: ``nn.MV``).

    Args:
        trans: transpose the matrix.

    Shapes: a table of a matrix and a vector, or of a batch of each.

    Differs from Torch7: backward also works after ``clearState``.

    PyTorch: ``torch.mv``.
    """

    trans: bool = False

    @nil_is_default
    def __init__(self, trans: bool = False) -> None:
        super().__init__()
        self.trans = flag(trans, "trans")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        matrix, vector = table(input, 2)
        dims = 3 if matrix.dim() == 3 else 2
        matrix = self._checked(matrix, 1, dims, self.trans)
        vector = self._checked(vector, 2, dims - 1, False)
        if matrix.size(-1) != vector.size(-1) or matrix.shape[:-2] != vector.shape[:-1]:
            raise ValueError(
                f"input has a matrix of size {tuple(matrix.shape)} (after transposing) and a "
                f"vector of size {tuple(vector.shape)}; m x k and k, in batches of one size, are "
                "accepted"
            )
        return (matrix @ vector.unsqueeze(-1)).squeeze(-1)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        # Lua goes on from the two tensors that its constructor makes.
        return {**fields, "gradInput": fields["gradInput"] or [self._empty(), self._empty()]}


class MixtureTable(FromTable):
    """The sum of what experts say, weighted by a gater (Torch7: ``nn.MixtureTable``).

    Args:
        dim: the dimension of the experts' tensor that counts the experts, from 1; by default 2 in
            batches and 1 otherwise. Of no importance where the experts are a table.

    Shapes: a table of the gater's output, ``E`` or ``N x E``, and of the experts': a table of ``E``
    tensors, or one tensor with all.
    """

    takes = ANYTHING

    size_fields = ("size", "size2")
    nil_stops_gradient = False
    scratch_fields = (
        *("_gaterView", "_expert", "_expertView", "_sum", "_gradInput", "_expertView2"),
        *("_expert2", "dimG", "table"),
    )
    dim: int | None = None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else counted(dim, "dim")
        # Work space of the Lua implementation, which expects it.
        self.size: list[int] = []
        self.size2: list[int] = []
        self.batchSize = 0
        self.backwardSetup = False

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore({"size": [], "size2": []} | fields, version)

    @deterministic
    def compute(self, input: Any) -> Tensor:
        gater, experts = table(input, 2)
        check_tensor(gater, "input[1]")
        check_dims(gater, 1, 2, name="input[1]")
        batch = [] if gater.dim() == 1 else [gater.size(0)]
        if isinstance(experts, Tensor):
            dim = checked_dim(self.dim or gater.dim(), experts, "input[2]")
            count = experts.size(dim)
        else:
            dim, count = len(batch), len(table(experts, name="input[2]"))
        if count != gater.size(-1):
            raise ValueError(
                f"input has {count} experts; one for each of the gater's {gater.size(-1)} outputs "
                "is accepted"
            )
        if not isinstance(experts, Tensor):
            experts = torch.stack(_same_size(list(experts), "input[2]"), dim)
        if experts.shape[: len(batch)] != gater.shape[: len(batch)]:
            raise ValueError(
                f"input[1] has a batch of {batch[0]}, the experts have one of {experts.size(0)}; "
                "equal ones are accepted"
            )
        check_type(experts, gater, "input[2]", "input[1]")
        shape = [1] * experts.dim()
        shape[: len(batch)], shape[dim] = batch, count
        return (experts * gater.reshape(shape)).sum(dim)


class SplitTable(Stored):
    """The slices of a tensor along a dimension, as a table (Torch7: ``nn.SplitTable``).

    Args:
        dimension: the dimension of a sample, counted from 1, or from the end.
        nInputDims: how many dimensions a sample has. An input with one more is a batch.

    Differs from Torch7: of a vector the entries are vectors of one element, not numbers, so that
    backward works.

    PyTorch: ``torch.unbind``.
    """

    nInputDims: int | None = None

    makes_anew = ("output",)

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims", 0)

    @deterministic
    def compute(self, input: Tensor) -> list[Tensor]:
        dim = checked_batched(self.dimension, input, self.nInputDims)
        # What is left of a vector are vectors of one: Torch7 has no tensors without dimensions.
        return list(input.split(1) if input.dim() == 1 else input.unbind(dim))


class _ToTable(FromTable):
    """Tables in, tables out."""

    takes = ANYTHING
    table_fields = ("output", "gradInput")


class NarrowTable(_ToTable):
    """Some entries of a table (Torch7: ``nn.NarrowTable``).

    Args:
        offset: the number of the first, from 1.
        length: how many.
    """

    @nil_is_default
    def __init__(self, offset: int, length: int = 1) -> None:
        super().__init__()
        self.offset = positive(offset, "offset")
        self.length = whole(length, "length", 0)

    @deterministic
    def compute(self, input: Any) -> list[Any]:
        first = self.offset - 1
        if first + self.length > len(table(input)):
            raise IndexError(
                f"input is a table of {len(input)}; one with entries {self.offset} to "
                f"{first + self.length} is accepted"
            )
        return list(input[first : first + self.length])


class FlattenTable(_ToTable):
    """The tensors of nested tables in one table (Torch7: ``nn.FlattenTable``)."""

    scratch_fields = ("input_map",)

    @deterministic
    def compute(self, input: Any) -> list[Tensor]:
        return list(tensors(table(input)))

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "input_map": []}


class ZipTable(_ToTable):
    """The i-th entries of every table, as the i-th table (Torch7: ``nn.ZipTable``)."""

    @deterministic
    def compute(self, input: Any) -> list[list[Any]]:
        lengths = {len(table(e, name=f"input[{i}]")) for i, e in enumerate(table(input), 1)}
        if len(lengths) > 1:
            raise ValueError(
                f"input has tables of {listed(sorted(lengths), 'and')} entries; tables of one "
                "length are accepted"
            )
        return [list(entries) for entries in zip(*input, strict=True)]


class ZipTableOneToMany(_ToTable):
    """The first entry, paired with each entry of the second (Torch7: ``nn.ZipTableOneToMany``)."""

    workspace_fields = {"gradInputEl": None}

    @deterministic
    def compute(self, input: Any) -> list[list[Any]]:
        one, many = table(input, 2)
        return [[one, entry] for entry in table(many, name="input[2]")]
