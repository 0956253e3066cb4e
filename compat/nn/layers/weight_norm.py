"""Weights as a length and a direction (Salimans and Kingma, 2016)."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat import random, t7
from compat.checks import flag, number, whole
from compat.nn.checks.arguments import empty
from compat.nn.containers.decorators import Decorator
from compat.nn.core.module import Module, Scalar
from compat.nn.core.parameter import Parameter, gradient_of
from compat.nn.functional import linear
from compat.nn.functional import weight_norm as f
from compat.nn.layers.distance import torch7_lengths
from compat.nn.layers.initialisation import uniform_stdv
from compat.nn.layers.linear import Linear, check_features
from compat.torch_internals import version


class LinearWeightNorm(Linear):
    """``Linear`` with weights ``v * g / |v|`` (Torch7: ``nn.LinearWeightNorm``).

    Args:
        inputSize, outputSize: numbers of features.
        bias: whether to add one.
        eps: the least length of a row of ``v``.

    Training changes the directions ``v``, ``outputSize x inputSize``, the lengths ``g``,
    ``outputSize x 1``, and the bias; ``weight`` follows from them.

    Differs from Torch7: the gradients of ``v`` and ``g`` accumulate over several backward passes,
    and backward leaves ``weight`` as it is.

    PyTorch: ``torch.nn.utils.parametrizations.weight_norm``.
    """

    scratch_fields = ("weight", "gradWeight")
    workspace_fields = {"norm": None, "scale": None}

    v = Parameter()
    g = Parameter()
    bias = Parameter()
    transient_fields: ClassVar[tuple[str, ...]] = ("_shown",)
    pass_fields: ClassVar[tuple[str, ...]] = ("_used",)
    # The weights that somebody was shown, and their version then.
    _shown: tuple[Tensor, int] | None = None
    # Those of the latest forward pass.
    _used: Tensor | None = None

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        bias: bool = True,
        eps: Scalar = 1e-16,
    ) -> None:
        Module.__init__(self)
        self.eps = number(eps, "eps")
        self.outputSize = outputSize
        self.inputSize = inputSize
        self.v = empty(outputSize=outputSize, inputSize=inputSize)
        self.g = self.v.new_empty(outputSize, 1)
        self.bias = empty(outputSize=outputSize) if flag(bias, "bias") else None
        self.reset()

    def _norm(self) -> Tensor:
        return self.v.norm(dim=1, keepdim=True).clamp_(min=self.eps)

    def _normalised(self) -> Tensor:
        return f.normalised(self.v, self.g, self._norm())

    @property
    def weight(self) -> Any:
        """The weights in use. Only ``initFromWeight`` reads values written into them."""
        if self._shown is None or version(self._shown[0]) == self._shown[1]:
            weight = self._normalised()
            self._shown = weight, version(weight)
        return self._shown[0]

    def initFromWeight(self, weight: Tensor | None = None) -> LinearWeightNorm:
        """Take lengths and directions from ``weight``, by default from what ``weight`` shows."""
        weight = self.weight if weight is None else weight
        self._shown = None
        self.g.copy_(torch7_lengths(weight).clamp(min=self.eps))
        self.v.copy_(weight)
        return self

    @staticmethod
    def fromLinear(linear: Linear) -> LinearWeightNorm:
        """Return a layer that computes what ``linear`` does."""
        outputs, inputs = linear.weight.shape
        module = LinearWeightNorm(inputs, outputs, linear.bias is not None)
        module.initFromWeight(linear.weight)
        if linear.bias is not None:
            module.bias.copy_(linear.bias)
        return module

    def toLinear(self) -> Linear:
        """Return a ``Linear`` layer that computes the same."""
        module = Linear(self.inputSize, self.outputSize, self.bias is not None)
        module.weight.copy_(self.weight)
        if self.bias is not None:
            module.bias.copy_(self.bias)
        return module

    def reset(self, stdv: Scalar | None = None) -> LinearWeightNorm:
        bound = uniform_stdv(stdv, self.inputSize)
        self.initFromWeight(random.uniform_(torch.empty_like(self.v), -bound, bound))
        if self.bias is not None:
            random.uniform_(self.bias, -bound, bound)
        return self

    def updateOutput(self, input: Tensor) -> Tensor:
        check_features(input, self.inputSize)
        self._shown = None
        self._used = self._normalised()
        return self.set_output(linear.linear(input, self._used, self.bias))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        weight = self._normalised() if self._used is None else self._used
        return self.set_gradInput(linear.linear_grad_input(input, gradOutput, weight))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        gradient = torch.zeros_like(self.v)
        linear.linear_acc_(input, gradOutput, gradient, self.gradBias, scale)
        f.normalised_acc_(gradient, self.v, self.g, self._norm(), self.gradV, self.gradG)

    def t7_fields(self) -> dict[str, Any]:
        return super().t7_fields() | {"weight": self.weight}


class WeightNorm(Decorator):
    """Any module with its weight as lengths and directions (Torch7: ``nn.WeightNorm``).

    Args:
        module: has a ``weight``.
        outputDim: the dimension of the weight that counts the outputs, from 1.

    Training changes the directions ``v``, outputs x everything else, the lengths ``g``, and the
    module's bias. The module's ``weight`` follows from them; it is brought up to date by every
    forward pass and left out of files.

    Differs from Torch7: the gradient of ``g`` accumulates over several backward passes, that of
    ``v`` keeps its shape, and backward leaves ``weight`` as it is.

    PyTorch: ``torch.nn.utils.parametrizations.weight_norm``.
    """

    size_fields = ("weightSize",)
    scratch_fields = (
        "weight",
        "gradWeight",
        "bias",
        "gradBias",
        "viewIn",
        "viewOut",
        "_norm",
        "_scale",
    )

    weight: Any = property(lambda self: self.modules[0].weight)
    bias: Any = property(lambda self: self.modules[0].bias)
    gradWeight: Any = property(lambda self: self.modules[0].gradWeight)
    gradBias: Any = property(lambda self: self.modules[0].gradBias)
    v = Parameter()
    g = Parameter()

    def __init__(self, module: Module, outputDim: int = 1) -> None:
        super().__init__(module)
        weight = getattr(self.modules[0], "weight", None)
        if weight is None:
            raise ValueError(f"module is {module}; one with a weight is accepted")
        self.outputDim = whole(outputDim, "outputDim", 1, weight.dim())
        outputs = weight.size(self.outputDim - 1)
        self.otherDims = weight.numel() // outputs
        self.weightSize = list(weight.shape)
        self.v = torch.empty(outputs, self.otherDims).to(weight)
        self.g = torch.empty(outputs, 1).to(weight)
        self.resetInit()

    def resetInit(self) -> WeightNorm:
        """Draw the directions from a normal distribution; the bias becomes 0."""
        random.normal_(self.v, 0, math.sqrt(2 / self.otherDims))
        self.g.copy_(torch7_lengths(self.v))
        if self.bias is not None:
            self.bias.zero_()
        self.updateWeight()
        return self

    def _length(self) -> Tensor:
        return self.v.square().sum(1, keepdim=True).add_(1e-4).sqrt_()

    def _normalised(self) -> Tensor:
        rows = f.normalised(self.v, self.g.reshape(-1, 1), self._length())
        axis = self.outputDim - 1
        sizes = list(self.weightSize)
        return rows.reshape([sizes.pop(axis), *sizes]).movedim(0, axis)

    def updateWeight(self) -> None:
        """Bring the module's ``weight`` up to date with ``v`` and ``g``."""
        self.weight.copy_(self._normalised())

    def updateOutput(self, input: Any) -> Any:
        self.updateWeight()
        self.output = self.modules[0].updateOutput(input)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.gradInput is None:
            return None
        self.gradInput = self.modules[0].updateGradInput(input, gradOutput)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        module, g, gradG = self.modules[0], self.g, self.gradG
        gradWeight = module.gradWeight
        if gradWeight is None:
            gradWeight = module.gradWeight = torch.zeros_like(module.weight)
        # It gathers the gradient of this pass alone.
        gradWeight.zero_()
        module.accGradParameters(input, gradOutput, scale)
        gradient = gradWeight.movedim(self.outputDim - 1, 0).reshape(self.v.shape)
        gradG = None if gradG is None else gradG.view(-1, 1)
        f.normalised_acc_(gradient, self.v, g.reshape(-1, 1), self._length(), self.gradV, gradG)

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        own = [p for p in (self.v, self.g, self.bias) if p is not None]
        return own, [gradient_of(p) for p in own]  # type: ignore[misc]

    zeroGradParameters = Module.zeroGradParameters
    updateParameters = Module.updateParameters

    def set_train(self, train: bool) -> None:
        if not train:
            self.updateWeight()
        super().set_train(train)

    def t7_fields(self) -> dict[str, Any]:
        axis, sizes = self.outputDim - 1, list(self.weightSize)
        fields = {
            **super().t7_fields(),
            "bias": self.bias,
            "gradBias": self.gradBias,
            "viewIn": t7.Storage(list(self.v.shape), "torch.LongStorage"),
            "viewOut": t7.Storage([sizes.pop(axis), *sizes], "torch.LongStorage"),
            "_norm": torch.empty_like(self.g),
            "_scale": torch.empty_like(self.g).squeeze(1),
        }
        return {name: value for name, value in fields.items() if value is not None}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        weight = fields.get("weight")
        super().t7_restore(fields, version)
        if weight is not None:
            # The first versions wrote the weight and not its size.
            self.weightSize = list(weight.shape)
        if self.weight is None:
            # Of the weight, its gradient and what it is computed from.
            rows = self.g.numel() * self.v.size(-1)
            t7.claim(self.v.itemsize * (2 * math.prod(self.weightSize) + 3 * rows))
            self.modules[0].weight = self.v.new_empty(self.weightSize)
            self.updateWeight()


def _write(module: WeightNorm) -> Generator[tuple[Any, Any], None, None]:
    # The weight is left out, as Torch7 does, because it follows from the rest.
    inner = module.modules[0].__dict__
    weight = inner.pop("weight")
    try:
        yield t7.FIELDS, module.t7_fields()
    finally:
        inner["weight"] = weight


t7.register("nn.WeightNorm", WeightNorm, write=_write)
