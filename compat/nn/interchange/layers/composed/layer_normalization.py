"""``LayerNormalization``, which is refused: PyTorch's computes something else."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.composed import layer_normalization as torch7


def _refused(module: Any) -> nn.Module:
    raise ValueError("Torch7 centres batches wrongly; put a torch.nn.LayerNorm in its place")


converts_simply(torch7.LayerNormalization, _refused)
