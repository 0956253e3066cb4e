"""A DataParallelTable on the way out of Torch7."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.tensors import on

from compat import cutorch, nn
from dptable import DataParallelTable


@pytest.mark.devices(2)
def test_the_first_tower_stands_for_all() -> None:
    tower = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    dpt = DataParallelTable(1, True).add(tower, [1, 2])
    net = nn.Sequential(dpt, nn.Linear(3, 2))
    net.move(cutorch.device(1))
    converted: Any = net.to_torch()
    assert [type(m) for m in converted[0]] == [torch.nn.Linear, torch.nn.Tanh]
    assert len(list(converted.parameters())) == 4
    input = on(1, torch.randn(5, 4))
    torch.testing.assert_close(converted(input), net.forward(input))
