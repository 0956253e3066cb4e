"""Table layers: their inputs or outputs are lists of tensors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import count
from typing import Any, ClassVar

from torch import Tensor

from compat.checks import check_tensor, listed, whole, whole_or_none, wrong_type
from compat.lua_tables import MixedTable, items, with_values
from compat.nn.checks.indexing import batched, checked_batched, counted, positive
from compat.nn.checks.tensors import ANYTHING, TABLE, check_type
from compat.nn.containers.joining import joined
from compat.nn.core.conversion import Conversion
from compat.nn.core.layer import Layer
from compat.nn.functional import tables as f
from compat.tensor_tables import map_tensors, tensors, with_tensors


class FromTable(Layer, abstract=True):
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
    if all(isinstance(entry, Tensor) and entry.dtype == first.dtype for entry in input):
        return input
    for i, entry in enumerate(input, 1):
        place = f"{name}[{i}]"
        check_type(check_tensor(entry, place), first, place, f"{name}[1]")
    return input


def _zeros(value: Any) -> Any:
    """Return the gradient of what the output does not depend on."""
    if isinstance(value, Tensor):
        return f.zeros(value)
    if isinstance(value, dict):
        return {key: _zeros(entry) for key, entry in value.items()}
    return [_zeros(entry) for entry in value] if isinstance(value, (list, tuple)) else None


class JoinTable(FromTable):
    """The entries of a table, joined along a dimension (Torch7: ``nn.JoinTable``).

    Args:
        dimension: the dimension of a sample to join along, counted from 1, or from the end.
        nInputDims: how many dimensions a sample has. Tensors with one more are batches.

    PyTorch: ``torch.cat``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.JoinTable(1).forward([torch.zeros(2), torch.ones(1)]).tolist()
        [0.0, 0.0, 1.0]
    """

    size_fields = ("size",)
    nInputDims: int | None = None

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims")
        # Work space of the Lua implementation, which expects it.
        self.size: list[int] = []

    def updateOutput(self, input: Any) -> Tensor:
        first = one_type(input)[0]
        dim = batched(self.dimension, first, self.nInputDims)
        return self.set_output(joined(input, dim, "input[{}]"))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        dim = batched(self.dimension, input[0], self.nInputDims)
        return self.set_gradInput(f.join_table_backward(input, gradOutput, dim))


class SelectTable(FromTable):
    """One entry of a table (Torch7: ``nn.SelectTable``).

    Args:
        index: the entry's number, from 1 or, if negative, from the end; or its key.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SelectTable(2).forward([torch.zeros(1), torch.ones(1)]).tolist()
        [1.0]
    """

    passes_on = True

    takes = ANYTHING

    def __init__(self, index: Any) -> None:
        super().__init__()
        self.index = counted(index, "index") if isinstance(index, int) else index

    def convert(self, conversion: Conversion, name: str) -> None:
        super().convert(conversion, name)
        # As in Torch7: they may be another class's next, or a table's.
        self.output, self.gradInput = [], []

    def _key(self, input: Any) -> Any:
        """Return the key of the entry in ``input``, as Lua counts it."""
        others = input.further() if isinstance(input, MixedTable) else input
        if isinstance(others, dict) and (others is input or self.index in others):
            if self.index not in others:
                keys = listed([repr(key) for key in input])
                raise KeyError(f"index is {self.index!r}; a key of input, {keys}, is accepted")
            return self.index
        if not isinstance(self.index, int):
            raise wrong_type(input, "input", f"a dict with the key {self.index!r}")
        if abs(self.index) > len(table(input)):
            raise IndexError(
                f"input is a table of {len(input)}; one with entry {self.index} is accepted"
            )
        return self.index if self.index > 0 else len(input) + 1 + self.index

    def updateOutput(self, input: Any) -> Any:
        key = self._key(input)
        is_entry = isinstance(input, (list, tuple)) and isinstance(key, int)
        self.output = output = input[key - 1] if is_entry else dict(items(input))[key]
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.gradInput is None:
            return None
        chosen = self._key(input)
        found = [
            _zeros(entry)
            if key != chosen or gradOutput is None
            else map_tensors(f.copy, gradOutput)
            for key, entry in items(input)
        ]
        gradInput = with_values(input, found)
        if isinstance(gradInput, MixedTable):
            self.gradInput = gradInput
            return gradInput
        return self.set_gradInput(gradInput)

    def __repr__(self) -> str:
        return f"{self.typename}({self.index})"


class SplitTable(Layer):
    """The slices of a tensor along a dimension, as a table (Torch7: ``nn.SplitTable``).

    Args:
        dimension: the dimension of a sample, counted from 1, or from the end.
        nInputDims: how many dimensions a sample has. An input with one more is a batch.

    Differs from Torch7: of a vector the entries are vectors of one element, not numbers, so that
    backward works.

    PyTorch: ``torch.unbind``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> [part.tolist() for part in nn.SplitTable(2).forward(torch.tensor([[1, 2], [3, 4]]))]
        [[1, 3], [2, 4]]
    """

    nInputDims: int | None = None

    def __init__(self, dimension: int, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims")

    def updateOutput(self, input: Tensor) -> list[Tensor]:
        dim = checked_batched(self.dimension, input, self.nInputDims)
        self.output = output = f.split_table(input, dim)
        return output

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Tensor | None:
        if self.gradInput is None:
            return None
        dim = checked_batched(self.dimension, input, self.nInputDims)
        return self.set_gradInput(f.split_table_backward(input, gradOutput, dim))


class _ToTable(FromTable):
    """The base of layers from table to table whose output holds entries of the input."""

    takes = ANYTHING
    table_fields = ("output", "gradInput")


class NarrowTable(_ToTable):
    """Some entries of a table (Torch7: ``nn.NarrowTable``).

    Args:
        offset: the number of the first, from 1.
        length: how many.
    """

    passes_on = True

    def __init__(self, offset: int, length: int = 1) -> None:
        super().__init__()
        self.offset = positive(offset, "offset")
        self.length = whole(length, "length", 0)

    def updateOutput(self, input: Any) -> list[Any]:
        first = self.offset - 1
        if first + self.length > len(table(input)):
            raise IndexError(
                f"input is a table of {len(input)}; one with entries {self.offset} to "
                f"{first + self.length} is accepted"
            )
        return self.set_output_view(list(input[first : first + self.length]))

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[Any] | None:
        if self.gradInput is None:
            return None
        first = self.offset - 1
        before, after = _zeros(input[:first]), _zeros(input[first + self.length :])
        return self.set_gradInput_view([*before, *gradOutput, *after])


class FlattenTable(_ToTable):
    """The tensors of nested tables in one table (Torch7: ``nn.FlattenTable``).

    Field: ``input_map``, the latest input with the numbers of its tensors in their places.
    """

    workspace_fields = {"input_map": list}

    def updateOutput(self, input: Any) -> list[Tensor]:
        found = tensors(table(input))
        if not _same(found, self.__dict__.get("output")):
            numbers = count(1)
            self.output = found
            self.input_map = map_tensors(lambda _: next(numbers), input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.gradInput is None:
            return None
        entries = len(tensors(input))
        gradients = table(gradOutput, name="gradOutput")[:entries]
        table(gradients, entries, "gradOutput")
        if not _same(gradients, tensors(self.__dict__.get("gradInput"))):
            self.gradInput = with_tensors(input, gradients)
        return self.gradInput


def _same(found: Sequence[Any], known: Any) -> bool:
    if not isinstance(known, list) or len(found) != len(known):
        return False
    return all(map(operator.is_, found, known))


class ZipTable(_ToTable):
    """The i-th entries of every table, as the i-th table (Torch7: ``nn.ZipTable``)."""

    def updateOutput(self, input: Any) -> list[list[Any]]:
        lengths = {len(table(e, name=f"input[{i}]")) for i, e in enumerate(table(input), 1)}
        if len(lengths) > 1:
            raise ValueError(
                f"input has tables of {listed(sorted(lengths), 'and')} entries; tables of one "
                "length are accepted"
            )
        self.output = output = [list(entries) for entries in zip(*input, strict=True)]
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[list[Any]] | None:
        if self.gradInput is None:
            return None
        self.gradInput = gradInput = [list(entries) for entries in zip(*gradOutput, strict=True)]
        return gradInput


class ZipTableOneToMany(_ToTable):
    """The first entry, paired with each entry of the second (Torch7: ``nn.ZipTableOneToMany``)."""

    workspace_fields = {"gradInputEl": None}

    def updateOutput(self, input: Any) -> list[list[Any]]:
        one, many = table(input, 2)
        self.output = output = [[one, entry] for entry in table(many, name="input[2]")]
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[Any] | None:
        if self.gradInput is None:
            return None
        of_one = f.total([first for first, _ in gradOutput], input[0])
        self.gradInput = gradInput = [of_one, [second for _, second in gradOutput]]
        return gradInput
