"""Maxima over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from compat.checks import number, whole
from compat.nn.checks.tensors import TENSOR, check_dims
from compat.nn.core.module import Module, Scalar
from compat.nn.functional import pooling as f
from compat.nn.layers.pooling.places import Remembering
from compat.nn.layers.pooling.windows import Pooling
from compat.nn.layers.window import Temporal


class _OverFrames(Remembering, abstract=True):
    """The base: ``indices`` are the numbers of frames."""

    def _extent(self, input: Tensor) -> Sequence[int]:
        return input.shape[-2:-1]

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        frames = self.places_in(self._extent(input))
        return self.set_gradInput(f.to_frames(gradOutput, input, frames))


class TemporalMaxPooling(_OverFrames, Pooling, Temporal):
    """The maximum of each run of frames (Torch7: ``nn.TemporalMaxPooling``).

    Args:
        kW: number of frames in a run.
        dW: step, by default ``kW``.

    Shapes: input ``[N x] frames x features``.

    Differs from Torch7: NaN in a run gives NaN; ``indices`` are the numbers of frames, and not
    written to files.

    PyTorch: ``torch.nn.MaxPool1d``.
    """

    def __init__(self, kW: int, dW: int | None = None) -> None:
        super().__init__()
        self._set_window((kW,), (dW,))

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output, frames = f.temporal_max_pool(input, self.kW, self.dW)
        self._remember(frames, input)
        return self.set_output(output)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("ceil_mode", None)
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.pop("indices", None)  # places in runs
        super().t7_restore(fields, version)

    __repr__ = Module.__repr__


class TemporalDynamicKMaxPooling(_OverFrames):
    """The largest values of each feature, in order of time (``nn.TemporalDynamicKMaxPooling``).

    [Kalchbrenner, Grefenstette and Blunsom 2014].

    Args:
        minK: how many to keep at least.
        factor: the share of the frames to keep, rounded up.

    Shapes: input ``[N x] frames x features``, output with the number kept instead of ``frames``.
    Field: ``indices``, the numbers of the frames kept, counted from 1.

    Differs from Torch7: NaN counts as the largest, where there the order depends on how its sort
    happens to meet it.

    PyTorch: ``torch.topk``.
    """

    takes = TENSOR

    def __init__(self, minK: int, factor: Scalar = 0) -> None:
        super().__init__()
        self.minK = whole(minK, "minK", 1)
        self.factor = number(factor, "factor")

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 2, 3)
        frames = input.size(-2)
        k = max(self.minK, math.ceil(self.factor * frames))
        if frames < k:
            raise ValueError(f"input has {frames} frames; at least {k} are accepted")
        self.output, kept = f.k_max(input, k)
        self._remember(kept, input)
        return self.output
