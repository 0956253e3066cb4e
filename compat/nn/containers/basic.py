"""Modules made of modules: ``nn.Container`` and the containers of the Torch7 manual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import check_number, given, listed
from compat.nn.checks.error_place import explained, locate
from compat.nn.checks.indexing import checked_dim, counted_or_none, needed, zero_based
from compat.nn.checks.tensors import ANYTHING, TENSOR
from compat.nn.containers.joining import joined
from compat.nn.core import completion
from compat.nn.core.convertible import check_lists
from compat.nn.core.module import Module, Scalar, checked_scale, subtract, without_graph
from compat.nn.core.native import as_module
from compat.torch_internals import foreach_zero_

C = TypeVar("C", bound="Container")


class Container(Module):
    """The base of all containers (Torch7: ``nn.Container``).

    Field: ``modules``, the list of children. ``get(i)`` counts from 1, as in Torch7.

    A container computes by the methods of its children, whatever these do. It has a ``backward`` of its own, which calls
    theirs.

    PyTorch: ``torch.nn.ModuleList``.
    """

    takes = ANYTHING
    passes_on = True

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        self.modules: list[Any] = []
        for module in modules:
            self.add(module)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        check_lists(fields, "modules")
        super().t7_restore(fields, version)

    def add(self: C, module: Module | torch.nn.Module) -> C:
        """Append ``module``, a Torch7-style module or any ``torch.nn.Module``. Returns self."""
        self.modules.append(as_module(module))
        return self

    def extend(self: C, *modules: Module | torch.nn.Module) -> C:
        """Append several modules. Returns self."""
        for module in modules:
            self.add(module)
        return self

    def get(self, index: int) -> Any:
        """The child of that number, counted from 1; negative numbers count from the end."""
        return self.modules[self._position(index)]

    def size(self) -> int:
        """How many children there are."""
        return len(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def __bool__(self) -> bool:
        return True

    def _position(self, index: int, most: int | None = None) -> int:
        most = len(self.modules) if most is None else most
        if not isinstance(index, int) or isinstance(index, bool):
            raise TypeError(f"index is {index!r}; a whole number from 1 to {most} is accepted")
        if index == 0:
            raise IndexError(
                f"index is 0; a whole number from 1 to {most} is accepted: modules count from 1, "
                "as in Torch7"
            )
        if not -most <= index <= most:
            raise IndexError(f"index is {index}; a whole number from 1 to {most} is accepted")
        return index - 1 if index > 0 else most + index

    def call(self, position: int, method: str, *arguments: Any) -> Any:
        """Call a method of the child at ``position``, from 0; an error tells which one it was."""
        module = self.modules[position]
        try:
            return getattr(module, method)(*arguments)
        except Exception as error:
            raise self._located(error, position, method, *arguments) from None

    def _checked(self, scale: Any) -> Any:
        try:
            return checked_scale(scale)
        except Exception as error:
            locate(error, self)
            raise

    def _located(
        self, error: Exception, position: int, method: str, *arguments: Any
    ) -> Exception:
        """The error to raise for one of a child, with its place."""
        error = explained(error, self.modules[position], method, *arguments)
        locate(error, self.modules[position])
        locate(error, self, position + 1)
        return error

    def gone_back(self, position: int) -> None:
        """Note that the child at ``position``, from 0, has gone back for the only time in this pass."""
        hear = completion.listener()
        if hear is not None:
            hear(self, position)
        self.modules[position].free_results()

    def applyToModules(self, function: Callable[[Module], Any]) -> None:
        """Call ``function`` with each child."""
        for module in self.modules:
            function(module)

    def zeroGradParameters(self: C) -> C:
        """Fill the gradients of the parameters with zeros, each module by its own method."""
        gradients: list[Tensor] = []
        for module in self._ordinary("zeroGradParameters"):
            gradients += [g for g in module.parameters()[1] if g is not None]
        if gradients:
            foreach_zero_(gradients)
        return self

    def updateParameters(self: C, learningRate: Scalar) -> C:
        """Subtract ``learningRate`` times its gradient from each parameter.

        Modules with an ``updateParameters`` of their own do what that says.
        """
        pairs: list[tuple[Tensor, Tensor | None]] = []
        for module in self._ordinary("updateParameters", learningRate):
            pairs += zip(*module.parameters(), strict=True)
        subtract(pairs, learningRate)
        return self

    def _ordinary(self, name: str, *arguments: Any) -> Iterator[Module]:
        """The modules below whose method ``name`` is that of all; calls the method of the others."""
        ordinary, of_containers = getattr(Module, name), getattr(Container, name)
        for module in self.modules:
            method = getattr(type(module), name, None)
            if name in module.__dict__ or method not in (ordinary, of_containers):
                getattr(module, name)(*arguments)
            elif method is of_containers:
                yield from module._ordinary(name, *arguments)
            else:
                yield module

    def training(self: C) -> C:
        self.applyToModules(lambda m: m.training())
        return super().training()

    def evaluate(self: C) -> C:
        self.applyToModules(lambda m: m.evaluate())
        return super().evaluate()

    def share(self: C, mlp: Module, *names: str) -> C:
        """Share the named fields with ``mlp``, a container of the same shape, child by child."""
        super().share(mlp, *names)
        theirs = getattr(mlp, "modules", [])
        if len(theirs) != len(self.modules):
            raise ValueError(
                f"mlp has {len(theirs)} modules; {len(self.modules)}, as this {self.typename} has, "
                "are accepted"
            )
        for ours, other in zip(self.modules, theirs, strict=True):
            ours.share(other, *names)
        return self

    def reset(self: C, stdv: Scalar | None = None) -> C:
        self.applyToModules(lambda m: m.reset(stdv))
        return self

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        weights: list[Tensor] = []
        gradients: list[Tensor] = []
        for module in self.modules:
            w, g = module.parameters()
            weights += w
            gradients += g
        return weights, gradients

    def clearState(self: C) -> C:
        self.applyToModules(lambda m: m.clearState())
        return super().clearState()

    def _body(self) -> list[str]:
        """The lines of ``__repr__`` between the braces."""
        return [indented(f"({i}): ", module) for i, module in enumerate(self.modules, 1)]

    def _head(self) -> str:
        """What ``__repr__`` calls this container."""
        return self.typename

    def __repr__(self) -> str:
        return "\n".join([f"{self._head()} {{", *(f"  {line}" for line in self._body()), "}"])


def indented(head: str, module: Module) -> str:
    """A child in the print of a container."""
    return head + repr(module).replace("\n", "\n  ")


class Branches(Container, abstract=True):
    """Containers of children beside one another, each of which has a part of the input and of the gradients.

    A class says which: ``_parts(value)`` of the input, ``_gradients(gradOutput)``, and what becomes of the children's
    results, in ``updateOutput`` and ``_joined_back``.
    """

    def _parts(self, input: Any) -> Sequence[Any]:
        """What each child gets of the input; by default all of it."""
        return [input] * len(self.modules)

    def _gradients(self, gradOutput: Any) -> Sequence[Any]:
        """What each child gets of the gradient of the output; by default an entry of the table."""
        count = len(self.modules)
        if not isinstance(gradOutput, (list, tuple)) or len(gradOutput) < count:
            raise ValueError(
                f"gradOutput is {given(gradOutput, counted=True)}; a table of {count} is accepted"
            )
        return gradOutput

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        """The gradInput of those of the children; by default their sum."""
        return summed(input, gradients)

    def _outputs(self, input: Any) -> list[Any]:
        parts = self._parts(input)
        return [self.call(i, "updateOutput", part) for i, part in enumerate(parts)]

    def _back(self, method: str, input: Any, gradOutput: Any, *scale: Scalar) -> Any:
        found = []
        for i, (part, gradient) in enumerate(
            zip(self._parts(input), self._gradients(gradOutput), strict=False)
        ):
            found.append(self.call(i, method, part, gradient, *scale))
            if method == "backward":
                self.gone_back(i)
        return self._joined_back(input, found)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._back("updateGradInput", input, gradOutput)

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        scale = self._checked(scale)
        if self.compilation is not None and self.compilation.ran:
            return self.compilation.backward(self, gradOutput, scale)
        return self._back("backward", without_graph(input), without_graph(gradOutput), scale)

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._each("backward_parameters", input, gradOutput, scale)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._each("accGradParameters", input, gradOutput, self._checked(scale))

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        check_number(lr, "lr")
        self._each("accUpdateGradParameters", input, gradOutput, lr)

    def _each(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        for i, (part, gradient) in enumerate(
            zip(self._parts(input), self._gradients(gradOutput), strict=False)
        ):
            self.call(i, method, part, gradient, factor)
            self.gone_back(i)

    def _body(self) -> list[str]:
        lines = ["input"]
        for i, module in enumerate(self.modules, 1):
            head, rest = ("   `-> ", " " * 7) if i == len(self.modules) else ("  |`-> ", "  |    ")
            lines.append(f"{head}({i}): " + repr(module).replace("\n", f"\n  {rest}"))
        return [*lines, "   ... -> output"]


def summed(input: Any, gradients: Sequence[Any]) -> Any:
    """The sum of what several modules give as the gradient of ``input``, in memory of its own.

    None where none gives any. Those that give None are left out.
    """
    gradients = [gradient for gradient in gradients if gradient is not None]
    if not gradients:
        return None
    if isinstance(input, Tensor):
        if len(gradients) == 1:
            return gradients[0].clone()
        total = gradients[0] + gradients[1]
        for gradient in gradients[2:]:
            total += gradient
        return total
    for gradient in gradients:
        if not isinstance(gradient, (list, tuple)) or len(gradient) != len(input):
            raise ValueError(
                f"gradInput of a child is {given(gradient, counted=True)}; a table of {len(input)}, "
                "as the input is, is accepted"
            )
    return [summed(item, found) for item, found in zip(input, zip(*gradients, strict=True), strict=True)]


class Sequential(Container):
    """Children one after the other (Torch7: ``nn.Sequential``).

    PyTorch: ``torch.nn.Sequential``.
    """

    def add(self, module: Module | torch.nn.Module) -> Sequential:
        super().add(module)
        self._take_over()
        return self

    def _take_over(self) -> None:
        """Have the results of the first and the last module, as Torch7 does when these change."""
        last = self.modules[-1] if self.modules else None
        self.output = self._empty() if last is None else last.output
        first = self.modules[0] if self.modules else None
        self.gradInput = self._empty() if first is None else first.gradInput

    def insert(self, module: Module, index: int | None = None) -> Sequential:
        """Put ``module`` at place ``index``, counted from 1; at the end by default."""
        most = len(self.modules) + 1
        self.modules.insert(
            self._position(most if index is None else index, most), as_module(module)
        )
        self._take_over()
        return self

    def remove(self, index: int | None = None) -> Module:
        """Take out and return the module at place ``index``, by default the last."""
        module = self.modules.pop(self._position(len(self.modules) if index is None else index))
        self._take_over()
        return module

    def updateOutput(self, input: Any) -> Any:
        position = 0
        try:
            for position, module in enumerate(self.modules):  # noqa: B007 (the error names it)
                input = module.updateOutput(input)
        except Exception as error:
            raise self._located(error, position, "updateOutput", input) from None
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        for position, given in self._inputs(input):
            gradOutput = self.call(position, "updateGradInput", given, gradOutput)
            if gradOutput is None:  # not wanted there: nothing for those before
                break
            self.modules[position].gradInput = gradOutput
        self.gradInput = gradOutput
        return gradOutput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._accumulate("accGradParameters", input, gradOutput, self._checked(scale))

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Scalar) -> None:
        check_number(lr, "lr")
        self._accumulate("accUpdateGradParameters", input, gradOutput, lr)

    def _accumulate(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        for position, given in self._inputs(input):
            self.call(position, method, given, gradOutput, factor)
            gradOutput = self.modules[position].gradInput
            self.gone_back(position)
            if gradOutput is None:
                break

    def _inputs(self, input: Any) -> Iterator[tuple[int, Any]]:
        """The places of the modules, the last first, each with its input."""
        modules = self.modules
        for position in range(len(modules) - 1, 0, -1):
            yield position, modules[position - 1].output
        if modules:
            yield 0, input

    def backward(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> Any:
        input, gradOutput = without_graph(input), without_graph(gradOutput)
        scale = self._checked(scale)
        if self.compilation is not None and self.compilation.ran:
            return self.compilation.backward(self, gradOutput, scale)
        gradOutput = self._down_to_first(gradOutput, scale)
        if self.modules and gradOutput is not None:
            gradOutput = self.call(0, "backward", input, gradOutput, scale)
            self.modules[0].gradInput = gradOutput
            self.gone_back(0)
        self.gradInput = gradOutput
        return gradOutput

    def backward_parameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        gradOutput = self._down_to_first(gradOutput, scale)
        if self.modules and gradOutput is not None:
            self.call(0, "backward_parameters", input, gradOutput, scale)
            self.gone_back(0)

    def _down_to_first(self, gradOutput: Any, scale: Scalar) -> Any:
        """Go back through all modules but the first; returns what that one gets."""
        modules, hear = self.modules, completion.listener()
        lean = self.keep_results is False
        position = len(modules)
        try:
            while position > 1 and gradOutput is not None:
                position -= 1
                module = modules[position]
                gradOutput = module.backward(modules[position - 1].output, gradOutput, scale)
                module.gradInput = gradOutput
                if hear is not None:
                    hear(self, position)
                if lean:
                    module.free_results()
        except Exception as error:
            raise self._located(
                error, position, "backward", modules[position - 1].output, gradOutput
            ) from None
        return gradOutput

    def _head(self) -> str:
        # As in Torch7, whatever class it is that has no print of its own.
        return "nn.Sequential"

    def _body(self) -> list[str]:
        steps = "".join(f"({i}) -> " for i in range(1, len(self.modules) + 1))
        return [f"[input -> {steps}output]", *super()._body()]


# What errors call the output of a child.
_OUTPUT = "the output of module {}"


class Concat(Branches):
    """Every child gets the input; the outputs are joined along ``dimension`` (``nn.Concat``).

    Args:
        dimension: the dimension to join along, counted from 1. Scripts leave it out where the
            container only holds modules, for ``getParameters``.

    PyTorch: ``torch.cat``.
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
        """The outputs of the children as one; ``dim`` is PyTorch's number of ``dimension``."""
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
    """``Concat`` of outputs of different sizes (Torch7: ``nn.DepthConcat``).

    The smaller ones are padded with zeros on all sides, the odd zero last.

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
        return [_center(part, m.output.shape, dim) for part, m in zip(parts, self.modules, strict=True)]


def _centered(tensor: Tensor, sizes: list[int], but: int) -> Tensor:
    """``tensor`` between zeros, so that it gets ``sizes``, in all dimensions but one."""
    padding: list[int] = []
    for dim, size in reversed(list(enumerate(tensor.shape))):
        missing = 0 if dim == but else sizes[dim] - size
        padding += [missing // 2, missing - missing // 2]
    return F.pad(tensor, padding) if any(padding) else tensor


def _center(tensor: Tensor, sizes: Sequence[int], but: int) -> Tensor:
    """The part of ``tensor`` that ``_centered`` has put something of ``sizes`` into."""
    for dim, size in enumerate(sizes):
        if dim != but and tensor.size(dim) != size:
            tensor = tensor.narrow(dim, (tensor.size(dim) - size) // 2, size)
    return tensor


class Parallel(Branches):
    """Child i gets the i-th slice of the input; the outputs are joined (``nn.Parallel``).

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
    """Every child gets the input; the output is the list of theirs (``nn.ConcatTable``)."""

    table_fields = ("output",)

    def updateOutput(self, input: Any) -> Any:
        return self.set_output_view(self._outputs(input))

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        gradInput = summed(input, gradients)
        if self.gradInput is None:  # says nothing here, as in Torch7
            self.gradInput = gradInput
            return gradInput
        return self.set_gradInput(gradInput)


class ParallelTable(Branches):
    """Child i gets the i-th entry of the input; the output is a list (``nn.ParallelTable``)."""

    table_fields = ("output", "gradInput")

    def updateOutput(self, input: Any) -> Any:
        return self.set_output_view(self._outputs(input))

    def _parts(self, input: Any) -> Sequence[Any]:
        if not isinstance(input, (list, tuple)) or len(input) < len(self.modules):
            raise ValueError(
                f"input is {given(input, counted=True)}; a table of {len(self.modules)} is accepted"
            )
        return input[: len(self.modules)]

    def _joined_back(self, input: Any, gradients: list[Any]) -> Any:
        return self.set_gradInput_view(gradients)
