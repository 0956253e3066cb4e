"""Elementwise layers: the transfer functions of the Torch7 manual."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from compat.nn.module import Module


class ReLU(Module):
    def __init__(self, ip: bool = False) -> None:
        super().__init__()
        self.inplace = ip

    def compute(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)
