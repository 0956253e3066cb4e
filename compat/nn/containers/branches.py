"""Containers that run their modules side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import given, listed
from compat.nn.checks.indexing import checked_dim, counted_or_none, needed, zero_based
from compat.nn.checks.tensors import TENSOR
from compat.nn.containers.container import Relaying
from compat.nn.containers.joining import joined
from compat.nn.core import results
from compat.nn.core.layer import own_backward
from compat.nn.core.module import Module, Scalar
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import storage_identity

# What errors call the output of a child.
_OUTPUT = "the output of module {}"


class Branches(Relaying, abstract=True):
    """The base of containers whose children run side by side, each on its part of the input.

    A class defines ``_parts(value)``, the parts of the input; ``_gradients(gradOutput)``, the parts
    of the gradient; and ``updateOutput`` and ``_joined_back``, which join the children's results.
    ``copies``: whether the children's gradients are copied into memory of the container.
    """

    copies: ClassVar[bool] = True

    def _parts(self, input: Any) -> Sequence[Any]:
        """Return each child's part of the input; by default all of it."""
        return [input] * len(self.modules)

    def _gradients(self, gradOutput: Any) -> Sequence[Any]:
        """Return what each child gets of the gradient of the output; by default an entry of the
        table.
        """
        count = len(self.modules)
        if not isinstance(gradOutput, (list, tuple)) or len(gradOutput) < count:
            raise ValueError(
                f"gradOutput is {given(gradOutput, counted=True)}; a table of {count} is accepted"
            )
        return gradOutput

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        """Return the gradInput made of the children's; by default their sum."""
        return summed(input, gradients)

    def _outputs(self, input: Any) -> list[Any]:
        parts = self._parts(input)
        return [self.call(i, "updateOutput", part) for i, part in enumerate(parts)]

    def _back(self, method: str, input: Any, gradOutput: Any, *scale: Scalar) -> Any:
        found = []
        for i, (part, gradient) in enumerate(
            zip(self._parts(input), self._gradients(gradOutput), strict=False)
        ):
            if gradient is None and isinstance(self.modules[i], Relaying):
                # Nothing comes back through this branch; a single layer may need no gradient.
                gradInput = None
            else:
                gradInput = self.call(i, method, part, gradient, *scale)
            if self.copies and i + 1 < len(self.modules) and _passing(gradInput, gradient):
                gradInput = map_tensors(Tensor.clone, gradInput)
            found.append(gradInput)
            if method == "backward":
                self.report_finished(i)
        return self._joined_back(input, found)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._back("updateGradInput", input, gradOutput)

    @own_backward
    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        return self._back("backward", input, gradOutput, scale)

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        if self.goes_back_as(Branches):
            self._relay("backward_parameters", input, gradOutput, scale)
        else:
            super().backward_parameters(input, gradOutput, scale)

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        for i, (part, gradient) in enumerate(
            zip(self._parts(input), self._gradients(gradOutput), strict=False)
        ):
            if gradient is not None or not isinstance(self.modules[i], Relaying):
                self.call(i, method, part, gradient, factor)
            self.report_finished(i)

    def _body(self) -> list[str]:
        lines = ["input"]
        for i, module in enumerate(self.modules, 1):
            head, rest = ("   `-> ", " " * 7) if i == len(self.modules) else ("  |`-> ", "  |    ")
            lines.append(f"{head}({i}): " + repr(module).replace("\n", f"\n  {rest}"))
        return [*lines, "   ... -> output"]


def _passing(gradInput: Any, gradOutput: Any) -> bool:
    """Return whether the next child may overwrite what one gave: a buffer, or the
    gradient of both.
    """
    if results.buffer_reuse.on:
        return True
    given = {storage_identity(tensor) for tensor in tensors(gradOutput)}
    return any(storage_identity(tensor) in given for tensor in tensors(gradInput))


def summed(input: Any, gradients: Sequence[Any]) -> Any:
    """Return the sum of what several modules give as the gradient of ``input``, in memory of its
    own.

    Modules that return None are left out; if all do, the sum is None.
    """
    gradients = [gradient for gradient in gradients if gradient is not None]
    if not gradients:
        return None
    if isinstance(input, Tensor):
        if len(gradients) == 1:
            return gradients[0].clone()
        first, second, *more = gradients
        total = first + second.reshape(first.shape)  # as Torch7 adds, which counts the elements
        for gradient in more:
            total += gradient.reshape(first.shape)
        return total
    for gradient in gradients:
        if not isinstance(gradient, (list, tuple)) or len(gradient) != len(input):
            raise ValueError(
                f"gradInput of a child is {given(gradient, counted=True)}; a table of "
                f"{len(input)}, as the input is, is accepted"
            )
    return [
        summed(item, found) for item, found in zip(input, zip(*gradients, strict=True), strict=True)
    ]


class Concat(Branches):
    """Children on the same input, with outputs joined along ``dimension`` (Torch7: ``nn.Concat``).

    Args:
        dimension: the dimension to join along, counted from 1. Scripts leave it out where the
            container only holds modules, for ``getParameters``.

    PyTorch: ``torch.cat``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> net = nn.Concat(2).add(nn.Linear(4, 3)).add(nn.Linear(4, 2))
        >>> net.forward(torch.ones(6, 4)).shape
        torch.Size([6, 5])
    """

    size_fields = ("outputSize",)
    scratch_fields = ("size",)

    def __init__(self, dimension: int | None = None) -> None:
        super().__init__()
        self.dimension = counted_or_none(dimension, "dimension")
        # Work space of the Lua implementation, which expects it.
        self.outputSize: list[int] = []

    def updateOutput(self, input: Any) -> Any:
        dim = zero_based(needed(self.dimension, "dimension"))
        outputs = self._outputs(input)
        output = self.joined(outputs, dim)
        self.outputSize = list(output.shape)
        return self.set_output(output)

    def joined(self, outputs: list[Tensor], dim: int) -> Tensor:
        """Return the outputs of the children as one; ``dim`` is PyTorch's number of
        ``dimension``.
        """
        return joined(outputs, dim, _OUTPUT)

    def _gradients(self, gradOutput: Tensor) -> Sequence[Tensor]:
        dim = checked_dim(needed(self.dimension, "dimension"), gradOutput, "gradOutput")
        sizes = [module.output.size(dim) for module in self.modules]
        if gradOutput.size(dim) != sum(sizes):
            raise ValueError(
                f"gradOutput has size {gradOutput.size(dim)} in dimension {self.dimension}; "
                f"{sum(sizes)}, as the output has, is accepted"
            )
        return gradOutput.split(sizes, dim)

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        return self.set_gradInput(summed(input, gradients))


class DepthConcat(Concat):
    """A ``Concat`` of outputs of different sizes (Torch7: ``nn.DepthConcat``).

    Smaller outputs are padded with zeros on all sides, the odd zero last.

    Args:
        dimension: the dimension to join along, counted from 1.

    Differs from Torch7: the gradients of the children's parameters heed ``scale``.
    """

    def joined(self, outputs: list[Tensor], dim: int) -> Tensor:
        dims = {output.dim() for output in outputs}
        if len(dims) != 1:
            raise ValueError(
                f"the children's outputs have {listed(sorted(dims), 'and')} dimensions; equal "
                "ones are accepted"
            )
        sizes = [max(column) for column in zip(*(output.shape for output in outputs), strict=True)]
        return joined(
            [_centered(output, sizes, dim % len(sizes)) for output in outputs], dim, _OUTPUT
        )

    def _gradients(self, gradOutput: Tensor) -> Sequence[Tensor]:
        dim = zero_based(needed(self.dimension, "dimension")) % gradOutput.dim()
        parts = super()._gradients(gradOutput)
        return [
            _center(part, m.output.shape, dim) for part, m in zip(parts, self.modules, strict=True)
        ]


def _centered(tensor: Tensor, sizes: list[int], but: int) -> Tensor:
    """Return ``tensor`` padded with zeros to ``sizes`` in all dimensions but one."""
    padding: list[int] = []
    for dim, size in reversed(list(enumerate(tensor.shape))):
        missing = 0 if dim == but else sizes[dim] - size
        padding += [missing // 2, missing - missing // 2]
    return F.pad(tensor, padding) if any(padding) else tensor


def _center(tensor: Tensor, sizes: Sequence[int], but: int) -> Tensor:
    """Return the part of ``tensor`` into which ``_centered`` put a tensor of ``sizes``."""
    for dim, size in enumerate(sizes):
        if dim != but and tensor.size(dim) != size:
            tensor = tensor.narrow(dim, (tensor.size(dim) - size) // 2, size)
    return tensor


class _Halved(Branches, abstract=True):
    """Branches whose backward calls ``updateGradInput`` of all children first, as in Torch7."""

    backward = Module.backward
    backward_parameters = Module.backward_parameters


class Parallel(_Halved):
    """Children on one slice of the input each, with joined outputs (Torch7: ``nn.Parallel``).

    Args:
        inputDimension: the dimension that is sliced, counted from 1.
        outputDimension: the dimension of the children's outputs to join along, counted from 1.

    Scripts leave both out where the container only holds modules, for ``getParameters``.
    """

    takes = TENSOR
    scratch_fields = ("totalOutputSize", "size")

    def __init__(
        self, inputDimension: int | None = None, outputDimension: int | None = None
    ) -> None:
        super().__init__()
        self.inputDimension = counted_or_none(inputDimension, "inputDimension")
        self.outputDimension = counted_or_none(outputDimension, "outputDimension")

    def updateOutput(self, input: Tensor) -> Any:
        dim = zero_based(needed(self.outputDimension, "outputDimension"))
        return self.set_output(joined(self._outputs(input), dim, _OUTPUT))

    def _parts(self, input: Tensor) -> Sequence[Tensor]:
        slices = input.unbind(checked_dim(needed(self.inputDimension, "inputDimension"), input))
        if len(slices) > len(self.modules):
            raise ValueError(
                f"input has size {len(slices)} in dimension {self.inputDimension}; at most "
                f"{len(self.modules)}, one for each module, is accepted"
            )
        return slices

    def _gradients(self, gradOutput: Tensor) -> Sequence[Tensor]:
        dim = checked_dim(needed(self.outputDimension, "outputDimension"), gradOutput, "gradOutput")
        parts, offset = [], 0
        for module in self.modules:
            size = module.output.size(dim) if module.output.numel() else 0
            if not size or offset + size > gradOutput.size(dim):
                break  # the last ones have had no slice
            parts.append(gradOutput.narrow(dim, offset, size))
            offset += size
        return parts

    def _joined_back(self, input: Tensor, gradients: list[Any]) -> Any:
        if any(gradient is None for gradient in gradients):
            return self.set_gradInput(None)
        dim = checked_dim(needed(self.inputDimension, "inputDimension"), input)
        return self.set_gradInput(torch.stack(gradients, dim))


class ConcatTable(Branches):
    """Children on the same input, with a list of outputs (Torch7: ``nn.ConcatTable``).

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> net = nn.ConcatTable().add(nn.Identity()).add(nn.MulConstant(2))
        >>> [output.tolist() for output in net.forward(torch.ones(2))]
        [[1.0, 1.0], [2.0, 2.0]]
    """

    table_fields = ("output",)

    def updateOutput(self, input: Any) -> Any:
        return self.set_output_view(self._outputs(input))

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        return self.set_gradInput(summed(input, gradients))


class ParallelTable(_Halved):
    """Children on one entry of a table each, with a list of outputs (``nn.ParallelTable``).

    A tensor of two or more dimensions stands for the table of its slices along the first.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> net = nn.ParallelTable().add(nn.MulConstant(2)).add(nn.AddConstant(1))
        >>> [output.tolist() for output in net.forward([torch.ones(2), torch.ones(1)])]
        [[2.0, 2.0], [2.0]]
    """

    table_fields = ("output", "gradInput")
    copies = False

    def updateOutput(self, input: Any) -> Any:
        return self.set_output_view(self._outputs(input))

    def _parts(self, input: Any) -> Sequence[Any]:
        if isinstance(input, Tensor) and input.dim() > 1:
            input = input.unbind()
        if not isinstance(input, (list, tuple)) or len(input) < len(self.modules):
            raise ValueError(
                f"input is {given(input, counted=True)}; a table of {len(self.modules)} is accepted"
            )
        return input[: len(self.modules)]

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        return self.set_gradInput_view(gradients)
