"""Connection tables for convolutions between chosen planes (Torch7: ``nn.tables``).

A table has two columns, the numbers of an input plane and of an output plane, counted from 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from compat.random import randperm


def full(nin: int, nout: int) -> Tensor:
    """Return every one of ``nin`` input planes with every one of ``nout`` output planes."""
    rows = [(i, j) for j in range(1, nout + 1) for i in range(1, nin + 1)]
    return torch.tensor(rows, dtype=torch.get_default_dtype())


def oneToOne(nfeat: int) -> Tensor:
    """Return each of ``nfeat`` input planes with the output plane of the same number."""
    planes = torch.arange(1, nfeat + 1, dtype=torch.get_default_dtype())
    return torch.stack([planes, planes], dim=1)


def random(nin: int, nout: int, nto: int) -> Tensor:
    """Return each output plane with ``nto`` input planes, drawn from Torch7's generator.

    The input planes are shuffled and dealt out ``nto`` at a time, and shuffled anew when fewer than
    ``nto`` are left.
    """
    if not 1 <= nto <= nin:
        raise ValueError(f"nto is {nto}; a whole number from 1 to nin, {nin}, is accepted")
    deck, dealt = randperm(nin), 0
    rows = []
    for plane in range(1, nout + 1):
        rows += [(int(i), plane) for i in deck[dealt : dealt + nto]]
        dealt += nto
        if dealt + nto > nin:
            deck, dealt = randperm(nin), 0
    return torch.tensor(rows, dtype=torch.get_default_dtype())
