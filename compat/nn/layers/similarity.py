"""Layers that compare the input with trained vectors."""

from __future__ import annotations

from typing import Any, TypeVar

from torch import Tensor
from torch.nn import functional as F

from compat import random
from compat.nn.checks.arguments import empty
from compat.nn.checks.tensors import check_type
from compat.nn.core.file_fields import Stored
from compat.nn.core.initialisation import draw, old_seed
from compat.nn.core.module import Scalar, deterministic
from compat.nn.core.parameter import Parameter
from compat.nn.layers.distance import norm
from compat.nn.layers.linear import check_features, uniform_stdv

S = TypeVar("S", bound="_Compared")


class _Compared(Stored):
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

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_features(input, self.weight.size(1))
        lengths = input.norm(dim=-1, keepdim=True) + 1e-12
        return F.linear(input, self.weight) / (self.weight.norm(dim=1) + 1e-12) / lengths


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

    def weighted(self, difference: Tensor) -> Tensor:
        """``difference``, ``… x outputSize x inputSize``, as the distance takes it."""
        return difference

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_features(input, self.weight.size(0))
        check_type(input, self.weight)
        return norm(self.weighted(input.unsqueeze(-2) - self.weight.t()), 2, 1e-7)


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

    def weighted(self, difference: Tensor) -> Tensor:
        return difference * self.diagCov.t()
