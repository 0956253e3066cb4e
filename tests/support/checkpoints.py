"""What a training run has left in its folder."""

from __future__ import annotations

import os

import torch
from torch import Tensor

from dptable import checkpoints


def parameters(folder: str | os.PathLike[str]) -> Tensor:
    """The parameters of the latest checkpoint, in one vector."""
    _, model, _ = checkpoints.latest(folder)
    return torch.cat([p.detach().flatten() for p in model.parameters()[0]])
