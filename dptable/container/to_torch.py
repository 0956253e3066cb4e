"""``net.to_torch()`` for nets with a DataParallelTable: its first replica stands for all."""

from __future__ import annotations

import torch

from compat.nn.interchange.to_torch import ToTorch, converts
from dptable.container.data_parallel_table import DataParallelTable


@converts(DataParallelTable)
def _first_tower(module: DataParallelTable, convert: ToTorch) -> torch.nn.Module:
    return convert(module.get(1))
