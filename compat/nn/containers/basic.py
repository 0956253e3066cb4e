"""Modules made of modules: ``nn.Container`` and the containers of the Torch7 manual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import given, listed
from compat.nn.checks.error_place import locate
from compat.nn.checks.indexing import checked_dim, counted_or_none, needed, zero_based
from compat.nn.checks.tensors import ANYTHING, TENSOR
from compat.nn.containers.joining import joined
from compat.nn.core.convertible import check_lists
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Module, Scalar, deterministic, subtract
from compat.nn.core.native import as_module
from compat.nn.core.structure import Structure
from compat.torch_internals import foreach_zero_

C = TypeVar("C", bound="Container")


class Container(Stored):
    """The base of all containers (Torch7: ``nn.Container``).

    Field: ``modules``, the list of children. ``get(i)`` counts from 1, as in Torch7.

    PyTorch: ``torch.nn.ModuleList``.
    """

    takes = ANYTHING
    optional_gradient = False

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

    def call(self, position: int, input: Any) -> Any:
        """Run a child as part of this recording; an error tells which one it was."""
        try:
            return self.modules[position].run(input)
        except Exception as error:
            locate(error, self, position + 1)
            raise

    def given_gradOutput(self) -> list[Module]:
        return self.modules

    def applyToModules(self, function: Callable[[Module], Any]) -> None:
        """Call ``function`` with each child."""
        for module in self.modules:
            function(module)

    def zeroGradParameters(self: C) -> C:
        parameters = self._plain_parameters()
        if parameters is None:
            self.applyToModules(lambda m: m.zeroGradParameters())
        else:
            gradients = [p.grad for p in parameters if p.grad is not None]
            if gradients:
                foreach_zero_(gradients)
        return self

    def _plain_parameters(self) -> list[Tensor] | None:
        """The parameters of the modules below, if all of these treat theirs as modules do."""
        fields = self.__dict__
        structure, parameters = fields.get("_trained", (None, None))
        if structure is None or not structure.holds(fields):
            modules = self.listModules()
            plain = all(_is_plain(module) for module in modules)
            parameters = list(dict.fromkeys(self.parameters()[0])) if plain else None
            fields["_trained"] = Structure(modules), parameters
        return parameters

    def updateParameters(self: C, learningRate: Scalar) -> C:
        """Subtract ``learningRate`` times its gradient from each parameter.

        Modules with an ``updateParameters`` of their own do what that says.
        """
        pairs: list[tuple[Tensor, Tensor | None]] = []
        for module in self.plain_modules(learningRate):
            pairs += zip(*module.parameters(), strict=True)
        subtract(pairs, learningRate)
        return self

    def plain_modules(self, learningRate: Scalar) -> Iterator[Module]:
        """The modules below that move as all do; calls ``updateParameters`` of the others."""
        for module in self.modules:
            method = getattr(type(module), "updateParameters", None)
            if "updateParameters" in vars(module) or method not in _PLAIN_UPDATES:
                module.updateParameters(learningRate)
            elif method is Container.updateParameters:
                yield from module.plain_modules(learningRate)
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
        # Before the graph is gone, which tells which results are tables.
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


_PLAIN_UPDATES = (Module.updateParameters, Container.updateParameters)
_PLAIN_METHODS = {
    "zeroGradParameters": (Module.zeroGradParameters, Container.zeroGradParameters),
    "parameters": (Module.parameters, Container.parameters),
    "trained_parameters": (Module.trained_parameters,),
}


def _is_plain(module: Module) -> bool:
    return all(
        name not in vars(module) and getattr(type(module), name) in plain
        for name, plain in _PLAIN_METHODS.items()
    )


def indented(head: str, module: Module) -> str:
    """A child in the print of a container."""
    return head + repr(module).replace("\n", "\n  ")


class _Branches(Container):
    """Containers whose print shows parallel branches."""

    def _body(self) -> list[str]:
        lines = ["input"]
        for i, module in enumerate(self.modules, 1):
            head, rest = ("   `-> ", " " * 7) if i == len(self.modules) else ("  |`-> ", "  |    ")
            lines.append(f"{head}({i}): " + repr(module).replace("\n", f"\n  {rest}"))
        return [*lines, "   ... -> output"]


class Sequential(Container):
    """Children one after the other (Torch7: ``nn.Sequential``).

    PyTorch: ``torch.nn.Sequential``.
    """

    def insert(self, module: Module, index: int | None = None) -> Sequential:
        """Put ``module`` at place ``index``, counted from 1; at the end by default."""
        most = len(self.modules) + 1
        self.modules.insert(
            self._position(most if index is None else index, most), as_module(module)
        )
        return self

    def remove(self, index: int | None = None) -> Module:
        """Take out and return the module at place ``index``, by default the last."""
        return self.modules.pop(self._position(len(self.modules) if index is None else index))

    @deterministic
    def compute(self, input: Any) -> Any:
        i = 0
        try:
            for i, module in enumerate(self.modules):  # noqa: B007 (the error names it)
                input = module.run(input)
        except Exception as error:
            locate(error, self, i + 1)
            raise
        return input

    def given_gradOutput(self) -> list[Module]:
        return self.modules[-1:]

    def ends_gradient(self) -> bool:
        return self.stops_gradient or any(m.ends_gradient() for m in self.modules[:1])

    def unreached(self, input: Tensor) -> Tensor | None:
        if not self.modules:
            return super().unreached(input)
        return self.modules[0].gradient_of_unreached(input)

    def _head(self) -> str:
        # As in Torch7, whatever class it is that has no print of its own.
        return "nn.Sequential"

    def _body(self) -> list[str]:
        steps = "".join(f"({i}) -> " for i in range(1, len(self.modules) + 1))
        return [f"[input -> {steps}output]", *super()._body()]


# What errors call the output of a child.
_OUTPUT = "the output of module {}"


class Concat(_Branches):
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

    @deterministic
    def compute(self, input: Any) -> Any:
        dim = zero_based(needed(self.dimension, "dimension"))
        return self.joined([self.call(i, input) for i in range(len(self.modules))], dim)

    def joined(self, outputs: list[Tensor], dim: int) -> Tensor:
        """The outputs of the children as one; ``dim`` is PyTorch's number of ``dimension``."""
        return joined(outputs, dim, _OUTPUT)


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


def _centered(tensor: Tensor, sizes: list[int], but: int) -> Tensor:
    """``tensor`` between zeros, so that it gets ``sizes``, in all dimensions but one."""
    padding: list[int] = []
    for dim, size in reversed(list(enumerate(tensor.shape))):
        missing = 0 if dim == but else sizes[dim] - size
        padding += [missing // 2, missing - missing // 2]
    return F.pad(tensor, padding) if any(padding) else tensor


class Parallel(_Branches):
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

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        dim = zero_based(needed(self.outputDimension, "outputDimension"))
        slices = input.unbind(checked_dim(needed(self.inputDimension, "inputDimension"), input))
        if len(slices) > len(self.modules):
            raise ValueError(
                f"input has size {len(slices)} in dimension {self.inputDimension}; at most "
                f"{len(self.modules)}, one for each module, is accepted"
            )
        outputs = [self.call(i, part) for i, part in enumerate(slices)]
        return joined(outputs, dim, _OUTPUT)


class ConcatTable(_Branches):
    """Every child gets the input; the output is the list of theirs (``nn.ConcatTable``)."""

    table_fields = ("output",)

    @deterministic
    def compute(self, input: Any) -> Any:
        return [self.call(i, input) for i in range(len(self.modules))]


class ParallelTable(_Branches):
    """Child i gets the i-th entry of the input; the output is a list (``nn.ParallelTable``)."""

    table_fields = ("output", "gradInput")

    @deterministic
    def compute(self, input: Any) -> Any:
        if not isinstance(input, (list, tuple)) or len(input) < len(self.modules):
            raise ValueError(
                f"input is {given(input, counted=True)}; a table of {len(self.modules)} is accepted"
            )
        return [self.call(i, input[i]) for i in range(len(self.modules))]
