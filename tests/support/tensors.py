"""Tensors that tests begin with."""

from __future__ import annotations

import torch
from torch import Tensor


def randn(*size: int) -> Tensor:
    """Normal random numbers in double."""
    return torch.randn(*size, dtype=torch.float64)
