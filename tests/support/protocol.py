"""Torch7's protocol, interpreted naively: what compat.nn's passes are held against.

Classes have the names, arguments and fields of Torch7's and do what its Lua sources do, call by
call, with plain formulas; nothing of compat.nn is used.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import assume
from torch import Tensor

from compat import random


class Setting:
    """Whether results are put into the tensors of the pass before, as in Lua."""

    reuse = False


def put(module: Any, name: str, value: Any) -> Any:
    """Make ``value``, new memory, a result, as Lua's ``resizeAs`` and ``copy``."""
    value = _into(getattr(module, name), value) if Setting.reuse else value
    setattr(module, name, value)
    return value


def _into(buffer: Any, value: Any) -> Any:
    if isinstance(value, list) and isinstance(buffer, list):
        buffer[:] = [
            _into(b, v) for b, v in zip([*buffer, *[None] * len(value)], value, strict=False)
        ]
        return buffer
    if (
        not isinstance(buffer, Tensor)
        or not isinstance(value, Tensor)
        or buffer.dtype != value.dtype
    ):
        return value
    if buffer.shape != value.shape or not buffer.is_contiguous():
        if not buffer.untyped_storage().resizable():
            return value
        buffer.resize_(value.shape)
    return buffer.copy_(value)


def point(module: Any, name: str, value: Tensor) -> Tensor:
    """Make ``value``, memory of somebody else, a result, as Lua's ``set``."""
    buffer = getattr(module, name)
    if Setting.reuse and isinstance(buffer, Tensor) and buffer.dtype == value.dtype:
        value = buffer if buffer is value else buffer.set_(value)
    setattr(module, name, value)
    return value


def above(x: Tensor, kink: float) -> Tensor:
    """Where ``x`` is greater. A case in which rounding decides that is not drawn.

    Values on the kink itself, as dropout makes them, are no matter of rounding.
    """
    distance = (x - kink).abs()
    assume(not ((distance > 0) & (distance < (1e-8 if x.dtype == torch.float64 else 1e-4))).any())
    return x > kink


def own(tensor: Tensor) -> Tensor:
    return tensor.clone(memory_format=torch.contiguous_format)


class Module:
    """nn.Module, and a leaf."""

    weight: Any = None
    bias: Any = None
    gradWeight: Any = None
    gradBias: Any = None
    inplace = False
    tables: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.modules: list[Any] = []
        self.train = True
        self.clear()

    def clear(self) -> None:
        for name in ("output", "gradInput"):
            if getattr(self, name, 0) is not None:
                was_table = isinstance(getattr(self, name, None), list)
                empty: Any = [] if name in self.tables or was_table else torch.empty(0).double()
                setattr(self, name, empty)

    def forward(self, input: Any) -> Any:
        return self.updateOutput(input)

    def backward(self, input: Any, gradOutput: Any, scale: float = 1) -> Any:
        self.updateGradInput(input, gradOutput)
        self.accGradParameters(input, gradOutput, scale)
        return self.gradInput

    def updateOutput(self, input: Any) -> Any:
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        pass

    def walk(self) -> list[Any]:
        return [self, *(m for child in self.modules for m in child.walk())]

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        pairs = [(self.weight, self.gradWeight), (self.bias, self.gradBias)]
        pairs = [pair for pair in pairs if pair[0] is not None]
        for child in self.modules:
            pairs += zip(*child.parameters(), strict=True)
        return [p for p, _ in pairs], [g for _, g in pairs]

    def clone(self) -> Any:
        return copy.deepcopy(self)


# Functions of one tensor: of (input, module), and of (gradOutput, input, output, module).

Forward = Callable[[Tensor, Any], Tensor]
Back = Callable[[Tensor, Tensor, Tensor, Any], Tensor]


def leaf(forward: Forward, back: Back, **defaults: Any) -> type[Any]:
    """A class of a layer that fills its buffers by formulas."""

    class Leaf(Module):
        def __init__(self, *arguments: Any) -> None:
            super().__init__()
            for (name, value), given in zip(
                defaults.items(), [*arguments, *[None] * len(defaults)], strict=False
            ):
                setattr(self, name, value if given is None else given)

        def updateOutput(self, input: Tensor) -> Tensor:
            value = forward(input, self)
            if self.inplace:
                return point(self, "output", input.copy_(value))
            return put(self, "output", own(value))

        def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
            if self.gradInput is None:
                return None
            value = back(gradOutput, input, self.output, self)
            if self.inplace:
                point(self, "gradInput", gradOutput.copy_(value))
                self.restore(input)
                return self.gradInput
            return put(self, "gradInput", own(value))

        def restore(self, input: Tensor) -> None:
            pass

    return Leaf


def _elu_back(g: Tensor, x: Tensor, o: Tensor, m: Any) -> Tensor:
    return torch.where(above(o, 0), g, g * (o + m.alpha))


def _hard_back(g: Tensor, x: Tensor, o: Tensor, m: Any) -> Tensor:
    return torch.where(above(x, m.min_val) & above(-x, -m.max_val), g, 0.0)


LEAVES: dict[str, type[Any]] = {
    "Tanh": leaf(lambda x, m: x.tanh(), lambda g, x, o, m: g * (1 - o * o)),
    "Sigmoid": leaf(lambda x, m: 1 / (1 + (-x).exp()), lambda g, x, o, m: g * o * (1 - o)),
    "Square": leaf(lambda x, m: x * x, lambda g, x, o, m: 2 * g * x),
    "Abs": leaf(lambda x, m: x.abs(), lambda g, x, o, m: torch.where(above(-x, 0), -g, g)),
    "SoftSign": leaf(lambda x, m: x / (1 + x.abs()), lambda g, x, o, m: g / (1 + x.abs()) ** 2),
    "SoftMax": leaf(
        lambda x, m: (x - x.logsumexp(-1, True)).exp(),
        lambda g, x, o, m: o * (g - (g * o).sum(-1, True)),
    ),
    "LogSoftMax": leaf(
        lambda x, m: x - x.logsumexp(-1, True),
        lambda g, x, o, m: g - o.exp() * g.sum(-1, True),
    ),
    "Threshold": leaf(
        lambda x, m: torch.where(above(x, m.threshold), x, float(m.val)),
        lambda g, x, o, m: torch.where(above(x, m.threshold), g, 0.0),
        threshold=0,
        val=0,
        inplace=False,
    ),
    "LeakyReLU": leaf(
        lambda x, m: torch.where(x > 0, x, x * m.negval),
        lambda g, x, o, m: torch.where(above(x, 0), g, g * m.negval),
        negval=0.01,
        inplace=False,
    ),
    "ELU": leaf(
        lambda x, m: torch.where(x <= 0, (x.exp() - 1) * m.alpha, x),
        _elu_back,
        alpha=1,
        inplace=False,
    ),
    "HardTanh": leaf(
        lambda x, m: x.clamp(m.min_val, m.max_val),
        _hard_back,
        min_val=-1,
        max_val=1,
        inplace=False,
    ),
    "MulConstant": leaf(
        lambda x, m: x * m.constant_scalar,
        lambda g, x, o, m: g * m.constant_scalar,
        constant_scalar=1,
        inplace=False,
    ),
    "AddConstant": leaf(
        lambda x, m: x + m.constant_scalar,
        lambda g, x, o, m: g,
        constant_scalar=1,
        inplace=False,
    ),
}
LEAVES["MulConstant"].restore = lambda self, input: input.div_(self.constant_scalar)
LEAVES["AddConstant"].restore = lambda self, input: input.sub_(self.constant_scalar)


class Identity(Module):
    def updateOutput(self, input: Any) -> Any:
        self.output = input
        return input

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput
        return gradOutput


class GradientReversal(Module):
    def updateOutput(self, input: Any) -> Any:
        return point(self, "output", input)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return put(self, "gradInput", own(-gradOutput))


class Dropout(Module):
    def __init__(self, p: float, v1: bool = False, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.v2, self.inplace = p, not v1, inplace
        self.noise = torch.empty(0).double()

    def clear(self) -> None:
        super().clear()
        self.noise = torch.empty(0).double()

    def _scale(self, tensor: Tensor, factor: Any, name: str) -> Tensor:
        if self.inplace:
            return point(self, name, tensor.mul_(factor))
        return put(self, name, own(tensor * factor))

    def updateOutput(self, input: Tensor) -> Tensor:
        if self.train:
            self.noise = random.bernoulli_(input.new_empty(input.shape), 1 - self.p)
            self.noise /= 1 - self.p if self.v2 else 1
            return self._scale(input, self.noise, "output")
        return self._scale(input, 1 if self.v2 else 1 - self.p, "output")

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        factor = self.noise if self.train else 1 if self.v2 else 1 - self.p
        return self._scale(gradOutput, factor, "gradInput")


class Linear(Module):
    def updateOutput(self, input: Tensor) -> Tensor:
        return put(
            self, "output", input @ self.weight.t() + (0 if self.bias is None else self.bias)
        )

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
        return None if self.gradInput is None else put(self, "gradInput", gradOutput @ self.weight)

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        gradOutput, input = (
            gradOutput.reshape(-1, gradOutput.size(-1)),
            input.reshape(-1, input.size(-1)),
        )
        if self.gradWeight is not None:
            self.gradWeight += scale * gradOutput.t() @ input
        if self.gradBias is not None:
            self.gradBias += scale * gradOutput.sum(0)


class Pointwise(Module):
    """CMul, CAdd, Add and Mul."""

    def updateOutput(self, input: Tensor) -> Tensor:
        if self.weight is not None and self.weight.numel() not in (1, input.size(-1)):
            raise ValueError("sizes")
        value = input + self.bias if self.weight is None else input * self.weight
        return put(self, "output", value)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
        if self.gradInput is None:
            return None
        return put(
            self, "gradInput", own(gradOutput if self.weight is None else gradOutput * self.weight)
        )

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        if self.weight is None:
            if self.gradBias is not None:
                self.gradBias += scale * gradOutput.reshape(-1, self.bias.numel()).sum(0).view(
                    self.bias.shape
                )
        elif self.gradWeight is not None:
            product = (input * gradOutput).reshape(-1, self.weight.numel())
            self.gradWeight += scale * product.sum(0).view(self.weight.shape)


class BatchNormalization(Module):
    eps, momentum = 1e-5, 0.1

    def __init__(self, count: int) -> None:
        super().__init__()
        self.running_mean, self.running_var = (
            torch.zeros(count).double(),
            torch.ones(count).double(),
        )

    def updateOutput(self, x: Tensor) -> Tensor:
        if x.size(-1) != self.running_mean.numel() or x.dim() != 2:
            raise ValueError("sizes")
        mean, variance = self.running_mean, self.running_var
        if self.train and len(x) > 1:
            mean, variance = x.mean(0), x.var(0, unbiased=False)
            assume((variance > 1e-4).all())  # else rounding is all that is normalized
            n = len(x)
            self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
            self.running_var.mul_(1 - self.momentum).add_(self.momentum * variance * n / (n - 1))
            self.save = mean, (variance + self.eps).rsqrt()
        return put(
            self, "output", (x - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias
        )

    def _back(self, x: Tensor, g: Tensor, scale: float, to_input: bool, to_parameters: bool) -> Any:
        training = self.train and len(x) > 1
        mean, inverse = (
            self.save if training else (self.running_mean, (self.running_var + self.eps).rsqrt())
        )
        normal = (x - mean) * inverse
        if to_parameters:
            if self.gradWeight is not None:
                self.gradWeight += scale * (g * normal).sum(0)
            if self.gradBias is not None:
                self.gradBias += scale * g.sum(0)
        if to_input and self.gradInput is not None:
            inner = g - g.mean(0) - normal * (g * normal).mean(0) if training else g
            put(self, "gradInput", inner * inverse * self.weight)
        return self.gradInput

    def backward(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> Any:
        return self._back(input, gradOutput, scale, True, True)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Any:
        return self._back(input, gradOutput, 1, True, False)

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        self._back(input, gradOutput, scale, False, True)


# Tables and sizes.


class Table(Module):
    """A layer of tables: fills the entries of gradInput."""

    tables = ("gradInput",)


class CAddTable(Table):
    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def updateOutput(self, input: Any) -> Tensor:
        if not self.inplace:
            return put(self, "output", sum(input[1:], own(input[0])))
        point(self, "output", input[0])
        for entry in input[1:]:
            self.output += entry
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        if self.inplace:
            self.gradInput = [gradOutput for _ in input]
            return self.gradInput
        return put(self, "gradInput", [own(gradOutput) for _ in input])


class CSubTable(Table):
    def updateOutput(self, input: Any) -> Tensor:
        return put(self, "output", input[0] - input[1])

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        return put(self, "gradInput", [own(gradOutput), own(-gradOutput)])


class CMulTable(Table):
    def updateOutput(self, input: Any) -> Tensor:
        output = own(input[0])
        for entry in input[1:]:
            output = output * entry
        return put(self, "output", output)

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        def of(i: int) -> Tensor:
            product = own(gradOutput)
            for j, entry in enumerate(input):
                product = product if i == j else product * entry
            return product

        return put(self, "gradInput", [of(i) for i in range(len(input))])


class JoinTable(Table):
    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dim = dimension - 1

    def updateOutput(self, input: Any) -> Tensor:
        return put(self, "output", torch.cat(list(input), self.dim))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        parts = gradOutput.split([entry.size(self.dim) for entry in input], self.dim)
        return put(self, "gradInput", [own(part) for part in parts])


class SelectTable(Table):
    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def updateOutput(self, input: Any) -> Any:
        self.output = input[self.index - 1]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        zeros = [torch.zeros(entry.shape, dtype=entry.dtype) for entry in input]
        zeros[self.index - 1] = own(gradOutput)
        return put(self, "gradInput", zeros)


class SplitTable(Module):
    tables = ("output",)

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dim = dimension - 1

    def updateOutput(self, input: Tensor) -> Any:
        self.output = list(input.unbind(self.dim))
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Tensor:
        return put(self, "gradInput", torch.stack(list(gradOutput), self.dim))


class View(Module):
    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.sizes = sizes

    def updateOutput(self, input: Tensor) -> Tensor:
        return point(self, "output", input.view(self.sizes))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        return point(self, "gradInput", gradOutput.view(input.shape))


class Narrow(Module):
    def __init__(self, dimension: int, index: int, length: int) -> None:
        super().__init__()
        self.part = dimension - 1, index - 1, length

    def updateOutput(self, input: Tensor) -> Tensor:
        return put(self, "output", own(input.narrow(*self.part)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        whole = torch.zeros(input.shape, dtype=input.dtype)
        whole.narrow(*self.part).copy_(gradOutput)
        return put(self, "gradInput", whole)


# Containers.


class Container(Module):
    def add(self, module: Any) -> Any:
        self.modules.append(module)
        return self


class Sequential(Container):
    def add(self, module: Any) -> Any:
        super().add(module)
        self.changed()
        return self

    def changed(self) -> None:
        if not self.modules:
            self.output, self.gradInput = torch.empty(0).double(), torch.empty(0).double()
            return
        self.output, self.gradInput = self.modules[-1].output, self.modules[0].gradInput

    def updateOutput(self, input: Any) -> Any:
        for module in self.modules:
            input = module.updateOutput(input)
        self.output = input
        return input

    def _steps(self, input: Any) -> list[tuple[Any, Any]]:
        inputs = [input, *(module.output for module in self.modules[:-1])]
        return list(zip(self.modules, inputs, strict=True))[::-1]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        for i in range(len(self.modules) - 1, -1, -1):
            given = self.modules[i - 1].output if i else input
            gradOutput = self.modules[i].updateGradInput(given, gradOutput)
        self.gradInput = gradOutput
        return gradOutput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        for i in range(len(self.modules) - 1, -1, -1):
            given = self.modules[i - 1].output if i else input
            self.modules[i].accGradParameters(given, gradOutput, scale)
            gradOutput = self.modules[i].gradInput

    def backward(self, input: Any, gradOutput: Any, scale: float = 1) -> Any:
        for i in range(len(self.modules) - 1, -1, -1):
            given = self.modules[i - 1].output if i else input
            gradOutput = self.modules[i].backward(given, gradOutput, scale)
            if i:
                self.modules[i].gradInput = gradOutput
        self.gradInput = gradOutput
        return gradOutput


class ConcatTable(Container):
    tables: tuple[str, ...] = ("output",)

    def updateOutput(self, input: Any) -> Any:
        outputs = [module.updateOutput(input) for module in self.modules]
        return self._table("output", outputs)

    def _table(self, name: str, entries: list[Any]) -> Any:
        if Setting.reuse and isinstance(getattr(self, name), list):
            getattr(self, name)[:] = entries
        else:
            setattr(self, name, entries)
        return getattr(self, name)

    def gradients(self, gradOutput: Any) -> Any:
        return gradOutput

    def _back(self, method: str, input: Any, gradOutput: Any, *scale: float) -> Any:
        total: Any = None
        for module, gradient in zip(self.modules, self.gradients(gradOutput), strict=True):
            found = getattr(module, method)(input, gradient, *scale)
            total = own(found) if total is None else total + found
        return put(self, "gradInput", total)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._back("updateGradInput", input, gradOutput)

    def backward(self, input: Any, gradOutput: Any, scale: float = 1) -> Any:
        return self._back("backward", input, gradOutput, scale)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        for module, gradient in zip(self.modules, self.gradients(gradOutput), strict=True):
            module.accGradParameters(input, gradient, scale)


class Concat(ConcatTable):
    tables = ()

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dim = dimension - 1

    def updateOutput(self, input: Any) -> Any:
        outputs = [module.updateOutput(input) for module in self.modules]
        return put(self, "output", torch.cat(outputs, self.dim))

    def gradients(self, gradOutput: Any) -> Any:
        return gradOutput.split([m.output.size(self.dim) for m in self.modules], self.dim)


class ParallelTable(ConcatTable):
    """Without a backward of its own, as in Torch7."""

    tables = ("output", "gradInput")
    backward = Module.backward

    def updateOutput(self, input: Any) -> Any:
        outputs = [m.updateOutput(entry) for m, entry in zip(self.modules, input, strict=True)]
        return self._table("output", outputs)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        triples = list(zip(self.modules, input, gradOutput, strict=True))
        return self._table("gradInput", [m.updateGradInput(x, g) for m, x, g in triples])

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        for module, entry, gradient in zip(self.modules, input, gradOutput, strict=True):
            module.accGradParameters(entry, gradient, scale)


class Parallel(Container):
    """Of two dimensions counted from 1; without a backward of its own, as in Torch7."""

    def __init__(self, inputDimension: int, outputDimension: int) -> None:
        super().__init__()
        self.dim, self.out = inputDimension - 1, outputDimension - 1

    def updateOutput(self, input: Tensor) -> Tensor:
        outputs = [
            m.updateOutput(x) for m, x in zip(self.modules, input.unbind(self.dim), strict=True)
        ]
        return put(self, "output", torch.cat(outputs, self.out))

    def _triples(self, input: Tensor, gradOutput: Tensor) -> Any:
        parts = gradOutput.split([m.output.size(self.out) for m in self.modules], self.out)
        return list(zip(self.modules, input.unbind(self.dim), parts, strict=True))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        found = [m.updateGradInput(x, g) for m, x, g in self._triples(input, gradOutput)]
        return put(self, "gradInput", torch.stack(found, self.dim))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        for m, x, g in self._triples(input, gradOutput):
            m.accGradParameters(x, g, scale)


class gModule(Container):
    """A graph whose last module gives the output.

    ``sources[i]`` tells what module i takes: 0 for the input, j + 1 for the output of module j.
    """

    def __init__(self, modules: list[Any], sources: list[list[int]]) -> None:
        super().__init__()
        self.modules, self.sources = modules, sources

    def updateOutput(self, input: Any) -> Any:
        values, self.inputs = [input], []
        for module, sources in zip(self.modules, self.sources, strict=True):
            given = [values[source] for source in sources]
            self.inputs.append(given[0] if len(given) == 1 else given)
            values.append(module.updateOutput(self.inputs[-1]))
        self.output = values[-1]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        arrived: list[list[Any]] = [[] for _ in range(len(self.modules) + 1)]
        arrived[-1].append(gradOutput)
        self.gradients: list[Any] = [None] * len(arrived)
        for i in range(len(self.modules), -1, -1):
            found = arrived[i]
            total = self.gradients[i] = (
                found[0] if len(found) == 1 else sum(found[1:], own(found[0]))
            )
            if i:
                sources = self.sources[i - 1]
                back = self.modules[i - 1].updateGradInput(self.inputs[i - 1], total)
                for source, gradient in zip(
                    sources, [back] if len(sources) == 1 else back, strict=True
                ):
                    arrived[source].append(gradient)
        self.gradInput = self.gradients[0]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        for i in range(len(self.modules), 0, -1):
            self.modules[i - 1].accGradParameters(self.inputs[i - 1], self.gradients[i], scale)


CLASSES: dict[str, Any] = {
    **LEAVES,
    "Linear": Linear,
    **dict.fromkeys(("CMul", "CAdd", "Add", "Mul"), Pointwise),
    **{
        cls.__name__: cls
        for cls in (
            *(Identity, GradientReversal, Dropout, BatchNormalization),
            *(CAddTable, CSubTable, CMulTable, JoinTable, SelectTable, SplitTable, View, Narrow),
            *(Sequential, ConcatTable, Concat, ParallelTable, Parallel),
        )
    },
}
