"""PyTorch's optimizers train a net's parameters, ``zero_grad()`` included."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest
import torch

from compat import nn
from compat.nn.core import parameter

INPUT, GRADIENT = torch.ones(4, 3), torch.ones(4, 2)


def net() -> Any:
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).float()


def steps(net: Any, optimizer: Any, set_to_none: bool) -> list[torch.Tensor]:
    for _ in range(3):
        optimizer.zero_grad(set_to_none=set_to_none)
        net.forward(INPUT)
        net.backward(INPUT, GRADIENT)
        optimizer.step()
    return [p.clone() for p in net.parameters()[0]]


@pytest.mark.parametrize("method", [torch.optim.SGD, torch.optim.Adam])
def test_zero_grad_leaves_the_net_trained(method: Any) -> None:
    first = net()
    second = first.clone()
    before = [p.clone() for p in first.parameters()[0]]
    found = steps(first, method(first.parameters()[0], 0.1), True)
    expected = steps(second, method(second.parameters()[0], 0.1), False)
    for a, b, old in zip(found, expected, before, strict=True):
        assert a.equal(b) and not a.equal(old)


def test_flat_gradients_stay_views() -> None:
    model = net()
    params, gradients = model.getParameters()
    optimizer = torch.optim.SGD(model.parameters()[0], 0.1)
    found = steps(model, optimizer, True)
    assert torch.cat([p.flatten() for p in found]).equal(params)
    assert gradients.abs().sum() > 0
    optimizer.zero_grad()
    model.zeroGradParameters()
    assert gradients.abs().sum() == 0


def test_frozen_parameters_stay_frozen() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters()[0], 0.1)
    model.get(1).gradWeight = None
    weight = model.get(1).weight.clone()
    steps(model, optimizer, True)
    assert model.get(1).weight.equal(weight) and model.get(1).gradWeight is None
    assert copy.deepcopy(model).get(1).gradWeight is None


def test_a_converted_net_goes_on() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters()[0], 0.1)
    optimizer.zero_grad()
    model.double()
    assert model.get(1).gradWeight.dtype == torch.float64
    model.forward(INPUT.double())
    model.backward(INPUT.double(), GRADIENT.double())
    assert model.get(1).gradWeight.abs().sum() > 0


def test_nothing_of_a_dead_net_is_remembered() -> None:
    gc.collect()
    before = len(parameter._handed_out._entries)
    model = net()
    model.parameters()
    assert len(parameter._handed_out._entries) == before + 4
    del model
    gc.collect()
    assert len(parameter._handed_out._entries) <= before
