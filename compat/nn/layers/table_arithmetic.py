"""Table layers that compute with the entries of a table element by element."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import check_tensor, flag
from compat.nn.checks.indexing import checked_dim, counted
from compat.nn.checks.tensors import ANYTHING, check_dims, check_type
from compat.nn.functional import table_arithmetic as f
from compat.nn.layers.table_layers import FromTable, one_type, table


def _same_count(input: Any, name: str = "input") -> Any:
    """Check that ``input`` is a table of tensors with as many elements each."""
    first = table(input, name=name)[0]
    if type(first) is Tensor:
        form = first.shape, first.dtype
        if all(type(entry) is Tensor and (entry.shape, entry.dtype) == form for entry in input):
            return input
    for i, entry in enumerate(one_type(input, name), 1):
        if entry.shape != first.shape:
            _check_elements(entry, first, f"{name}[{i}]", f"{name}[1]")
    return input


def _check_elements(entry: Tensor, first: Tensor, name: str, owner: str) -> None:
    if entry.numel() != first.numel():
        raise ValueError(
            f"{name} has size {tuple(entry.shape)}, {owner} has {tuple(first.shape)}; "
            "as many elements are accepted"
        )


class CAddTable(FromTable):
    """The sum of the entries of a table (Torch7: ``nn.CAddTable``).

    Args:
        ip: work in place, in the first entry.

    PyTorch: ``torch.add``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.CAddTable().forward([torch.ones(2), torch.ones(2)]).tolist()
        [2.0, 2.0]
    """

    inplace: bool = False

    def __init__(self, ip: bool = False) -> None:
        super().__init__()
        self.inplace = flag(ip)

    def updateOutput(self, input: Any) -> Tensor:
        _same_count(input)
        if not self.inplace:
            return self.set_output(f.cadd_table(input))
        return self.set_output_view(f.cadd_table_(input))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        if not self.inplace:
            return self.set_gradInput(f.cadd_table_backward(input, gradOutput))
        return self.set_gradInput_view([gradOutput.reshape(entry.shape) for entry in input])


class CSubTable(FromTable):
    """The first entry of a table less the second (Torch7: ``nn.CSubTable``).

    PyTorch: ``torch.sub``.
    """

    def updateOutput(self, input: Any) -> Tensor:
        return self.set_output(f.csub_table(_same_count(table(input, 2))))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.csub_table_backward(input, gradOutput))


class CMulTable(FromTable):
    """The product of the entries of a table, element by element (Torch7: ``nn.CMulTable``).

    PyTorch: ``torch.mul``.
    """

    def updateOutput(self, input: Any) -> Tensor:
        return self.set_output(f.cmul_table(_same_count(input)))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.cmul_table_backward(input, gradOutput))


class CDivTable(FromTable):
    """The first entry of a table divided by the second (Torch7: ``nn.CDivTable``).

    PyTorch: ``torch.div``.
    """

    def updateOutput(self, input: Any) -> Tensor:
        return self.set_output(f.cdiv_table(_same_count(table(input, 2))))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.cdiv_table_backward(input, gradOutput))


class CMaxTable(FromTable):
    """The largest of the entries for each element, of equal ones the first.

    Torch7: ``nn.CMaxTable``.

    Field: ``maxIdx``, the number of the entry that each element is from, counted from 1.

    PyTorch: ``torch.maximum``.
    """

    workspace_fields = dict.fromkeys(("maxIdx", "mask", "maxVals", "gradMaxVals"))
    pass_fields = ("maxIdx",)

    def updateOutput(self, input: Any) -> Tensor:
        output, self.maxIdx = f.extreme_of_table(_same_count(input), torch.gt)
        return self.set_output(output)

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.extreme_of_table_backward(input, gradOutput, self.maxIdx))


class CMinTable(FromTable):
    """The smallest of the entries for each element, of equal ones the first.

    Torch7: ``nn.CMinTable``.

    Field: ``minIdx``, the number of the entry that each element is from, counted from 1.

    PyTorch: ``torch.minimum``.
    """

    workspace_fields = dict.fromkeys(("minIdx", "mask", "minVals", "gradMaxVals"))
    pass_fields = ("minIdx",)

    def updateOutput(self, input: Any) -> Tensor:
        output, self.minIdx = f.extreme_of_table(_same_count(input), torch.lt)
        return self.set_output(output)

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.extreme_of_table_backward(input, gradOutput, self.minIdx))


class CAddTensorTable(FromTable):
    """The first entry, a tensor, added to each tensor of the second, a table.

    Torch7: ``nn.CAddTensorTable``.
    """

    takes = ANYTHING

    def updateOutput(self, input: Any) -> list[Tensor]:
        first, second = table(input, 2)
        check_tensor(first, "input[1]")
        for i, entry in enumerate(table(second, name="input[2]"), 1):
            name = f"input[2][{i}]"
            check_type(check_tensor(entry, name), first, name, "input[1]")
            _check_elements(entry, first, name, "input[1]")
        self.output = output = f.cadd_tensor_table(first, second)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> list[Any] | None:
        if self.gradInput is None:
            return None
        first, second = input
        return self.set_gradInput(list(f.cadd_tensor_table_backward(first, second, gradOutput)))


class MixtureTable(FromTable):
    """The sum of the experts' outputs, weighted by a gater (Torch7: ``nn.MixtureTable``).

    Args:
        dim: the dimension of the experts' tensor that counts the experts, from 1; by default 2 in
            batches and 1 otherwise. Not used if the experts are a table.

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

    def _dim(self, gater: Tensor, experts: Tensor) -> int:
        """Return the dimension of a tensor of experts that counts them, from 0."""
        return checked_dim(self.dim or gater.dim(), experts, "input[2]")

    def updateOutput(self, input: Any) -> Tensor:
        gater, experts = table(input, 2)
        check_tensor(gater, "input[1]")
        check_dims(gater, 1, 2, name="input[1]")
        is_tensor = isinstance(experts, Tensor)
        if is_tensor:
            count = experts.size(self._dim(gater, experts))
        else:
            count = len(table(experts, name="input[2]"))
        if count != gater.size(-1):
            raise ValueError(
                f"input has {count} experts; one for each of the gater's {gater.size(-1)} outputs "
                "is accepted"
            )
        first = experts if is_tensor else _same_count(experts, "input[2]")[0]
        if first.shape[: gater.dim() - 1] != gater.shape[:-1]:
            raise ValueError(
                f"input[1] has a batch of {gater.size(0)}, the experts have one of "
                f"{first.size(0)}; equal ones are accepted"
            )
        check_type(first, gater, "input[2]", "input[1]")
        if is_tensor:
            return self.set_output(f.mixture_of_tensor(gater, experts, self._dim(gater, experts)))
        return self.set_output(f.mixture_of_table(gater, experts))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Any] | None:
        if self.gradInput is None:
            return None
        gater, experts = input
        if isinstance(experts, Tensor):
            dim = self._dim(gater, experts)
            return self.set_gradInput(f.mixture_of_tensor_backward(gater, experts, gradOutput, dim))
        return self.set_gradInput(list(f.mixture_of_table_backward(gater, experts, gradOutput)))
