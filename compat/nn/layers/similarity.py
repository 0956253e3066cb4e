"""Layers that compare the input with trained vectors."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import Tensor

from compat import random
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import check_gradOutput, check_type
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.core.parameter import Parameter
from compat.nn.functional import distance as f
from compat.nn.layers.initialisation import draw, old_seed, uniform_stdv
from compat.nn.layers.linear import check_features

S = TypeVar("S", bound="_Compared")


class _Compared(Layer):
    """A layer whose ``weight`` holds the vectors, drawn within 1/√(first size)."""

    def reset(self: S, stdv: Scalar | None = None) -> S:
        bound = uniform_stdv(stdv, self.weight.size(0))
        random.uniform_(self.weight, -bound, bound)
        return self


class Cosine(_Compared):
    """The cosine of the angle between the input and each of some vectors (Torch7: ``nn.Cosine``).

    Args:
        inputSize: the number of features.
        outputSize: the number of vectors.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead; ``weight``
    is ``outputSize x inputSize``.

    Differs from Torch7: the gradient of a batch heeds ``scale``.

    PyTorch: ``torch.nn.functional.cosine_similarity``.
    """

    scratch_fields = (
        "_weight",
        "_weightNorm",
        "_inputNorm",
        "_sum",
        "_gradOutput",
        "__norm",
        "_norm",
    )

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.weight = empty(outputSize=outputSize, inputSize=inputSize)
        self.reset()

    def updateOutput(self, input: Tensor) -> Tensor:
        check_features(input, self.weight.size(1))
        return self.set_output(f.cosines(input, self.weight))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        check_gradOutput(gradOutput, self.output)
        gradient = f.cosines_grad_input(input, gradOutput, self.output, self.weight)
        return self.set_gradInput(gradient)

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        if self.gradWeight is None:
            return
        check_gradOutput(gradOutput, self.output)
        f.cosines_acc_(input, gradOutput, self.output, self.weight, self.gradWeight, scale)


class _Distances(_Compared):
    """Euclidean distances; ``weight`` is ``inputSize x outputSize``."""

    scratch_fields = (
        *("_input", "_weight", "_expand", "_expand2", "_expand3", "_expand4", "_repeat"),
        *("_repeat2", "_repeat3", "_div", "_output", "_gradOutput", "_sum", "_diagCov"),
    )
    fastBackward: bool = True

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.weight = empty(inputSize=inputSize, outputSize=outputSize)
        # Read by Lua: that updateOutput came right before.
        self.fastBackward = True
        self.reset()

    # Of `WeightedEuclidean`.
    diagCov: Tensor | None = None
    gradDiagCov: Tensor | None = None

    def updateOutput(self, input: Tensor) -> Tensor:
        check_features(input, self.weight.size(0))
        check_type(input, self.weight)
        return self.set_output(f.distances(input, self.weight, self.diagCov))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        if not self.fastBackward:
            self.updateOutput(input)
        slope, _ = self._slopes(input, gradOutput)
        return self.set_gradInput(slope.sum(-2))

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        slope, ofFactor = self._slopes(input, gradOutput)
        self._add(slope, ofFactor, scale)

    def backward_both(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        if not self.fastBackward:
            self.updateOutput(input)
        slope, ofFactor = self._slopes(input, gradOutput)
        if self.gradInput is not None:
            self.set_gradInput(slope.sum(-2))
        self._add(slope, ofFactor, scale)

    def _slopes(self, input: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor | None]:
        check_gradOutput(gradOutput, self.output)
        return f.distances_backward(input, gradOutput, self.output, self.weight, self.diagCov)

    def _add(self, slope: Tensor, ofFactor: Tensor | None, scale: Scalar) -> None:
        found = (self.gradWeight, slope, -scale), (self.gradDiagCov, ofFactor, scale)
        for gradient, new, times in found:
            if gradient is not None and new is not None:
                total = new if new.dim() == 2 else new.sum(0)
                gradient.add_(total.t(), alpha=times)


class Euclidean(_Distances):
    """The distance of the input from each of some vectors (Torch7: ``nn.Euclidean``).

    Args:
        inputSize: the number of features.
        outputSize: the number of vectors.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead; ``weight``
    is ``inputSize x outputSize``.

    PyTorch: ``torch.cdist``.
    """

    cleared_fields = ("_expand2", "_expand3", "_repeat2")

    def reset(self, stdv: Scalar | None = None) -> Euclidean:
        # With nn.oldSeed one vector is drawn after the other.
        weight = self.weight.t() if old_seed() else self.weight
        draw(weight, uniform_stdv(stdv, self.weight.size(0)))
        return self


class WeightedEuclidean(_Distances):
    """``Euclidean`` with a factor for each feature and vector (Torch7: ``nn.WeightedEuclidean``).

    Args:
        inputSize: the number of features.
        outputSize: the number of vectors.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead; ``weight``
    and the factors ``diagCov`` are ``inputSize x outputSize``.

    Differs from Torch7: the gradient of a batch heeds ``scale``.
    """

    cleared_fields = ("_expand2", "_expand3", "_expand4", "_repeat2", "_repeat3")

    diagCov = Parameter()

    def __init__(self, inputSize: int, outputSize: int) -> None:
        self.diagCov = empty(inputSize=inputSize, outputSize=outputSize)
        super().__init__(inputSize, outputSize)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # Files of before 2015 call the parameters so, and the same tensors weight and bias.
        for old, new in (("templates", "weight"), ("gradTemplates", "gradWeight")):
            value = fields.pop(old, None)
            if value is not None:
                fields[new] = value
        for name in ("bias", "gradBias", "temp"):
            fields.pop(name, None)
        super().t7_restore(fields, version)

    def reset(self, stdv: Scalar | None = None) -> WeightedEuclidean:
        super().reset(stdv)
        self.diagCov.fill_(1)
        return self
