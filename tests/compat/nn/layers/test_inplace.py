"""In-place layers compute what the others do, whatever comes before them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn
from compat.nn.layers.inplace import writable


def gradients(net: nn.Sequential, x: Tensor) -> list[Tensor]:
    output = net.forward(x.clone()).clone()
    net.zeroGradParameters()
    return [output, net.backward(x, torch.ones_like(output)), *net.parameters()[1]]


@pytest.mark.parametrize("last", [nn.ReLU(True), nn.MulConstant(2, True)], ids=repr)
@pytest.mark.parametrize(
    "middle",
    [nn.View(6), nn.Identity(), nn.Squeeze(), nn.Replicate(3), nn.Narrow(2, 1, 2), nn.Dropout(0)],
    ids=repr,
)
@pytest.mark.parametrize(
    "first", [nn.Tanh(), nn.ReLU(True), nn.SoftMax(), nn.Square(), nn.Identity()], ids=repr
)
def test_after_views_of_results(first: Any, middle: Any, last: Any) -> None:
    net = nn.Sequential().add(nn.Linear(3, 3))
    for module in (first, middle, last):
        net.add(module.clone())
    plain = net.clone()
    plain.get(4).inplace = False
    x = torch.randn(2, 3)
    for ours, wanted in zip(gradients(net, x), gradients(plain, x), strict=True):
        torch.testing.assert_close(ours, wanted)


@pytest.mark.parametrize("view", [nn.View(6), nn.Squeeze()], ids=repr)
def test_memory_is_reused_where_that_is_right(view: nn.Module) -> None:
    net = nn.Sequential().add(nn.Linear(3, 3)).add(view).add(nn.ReLU(True))
    net.forward(torch.randn(2, 3))
    assert net.get(1).output.data_ptr() == net.output.data_ptr()


def test_elements_that_share_memory_are_copied() -> None:
    shared = torch.ones(1).expand(3)
    assert writable(shared).add_(torch.arange(3)).tolist() == [1, 2, 3]
    assert shared.tolist() == [1, 1, 1]
