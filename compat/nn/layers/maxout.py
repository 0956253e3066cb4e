"""``nn.Maxout``."""

from __future__ import annotations

from compat.checks import whole
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.layers.linear import Linear
from compat.nn.layers.reduction import Max
from compat.nn.layers.shape import View


class Maxout(Sequential):
    """The largest of several affine maps (Torch7: ``nn.Maxout``; Goodfellow et al., 2013).

    Args:
        inputSize, outputSize: numbers of features.
        maxoutNumber: the number of maps.
        preprocess: a module applied before the maximum is taken.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead.
    """

    def __init__(
        self, inputSize: int, outputSize: int, maxoutNumber: int, preprocess: Module | None = None
    ) -> None:
        whole(outputSize, "outputSize", 1)
        whole(maxoutNumber, "maxoutNumber", 1)
        super().__init__(
            Linear(inputSize, outputSize * maxoutNumber),
            View(maxoutNumber, outputSize).setNumInputDims(1),
        )
        if preprocess is not None:
            self.add(preprocess)
        self.add(Max(1, 2))
