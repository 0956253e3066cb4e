"""Multiply-adds and sizes, against formulas."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn
from compat.viewer.costs import costs


def of(found: Any, module: Any) -> tuple[str, int]:
    cost = found.modules[id(module)]
    return cost.output, cost.multiply_adds


def test_a_convolution_multiplies_its_filters_with_each_place() -> None:
    first, second, linear = nn.SpatialConvolution(3, 8, 5, 3, 2, 1), nn.Tanh(), nn.Linear(40, 7)
    net = nn.Sequential(
        first, second, nn.View(-1).setNumInputDims(3), nn.Linear(8 * 12 * 26, 40), linear
    )
    found = costs(net)
    assert found.input == "1x3x28x28" and found.reason == ""
    assert of(found, first) == ("1×8×26×12", 8 * 26 * 12 * 3 * 5 * 3)
    assert of(found, second) == ("1×8×26×12", 0)
    assert of(found, linear) == ("1×7", 280)
    whole = 8 * 26 * 12 * 45 + 8 * 12 * 26 * 40 + 280
    assert of(found, net) == ("1×7", whole)


def test_a_given_input_is_taken() -> None:
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3))
    assert of(costs(net, "4x1x10x12"), net) == ("4×2×8×10", 4 * 2 * 8 * 10 * 9)
    assert "input is 'wide'" in costs(net, "wide").reason


def test_groups_full_convolutions_and_volumes_count() -> None:
    for layer, macs in (
        (nn.SpatialFullConvolution(2, 3, 4, 4, 2, 2), 2 * 3 * 16 * 28 * 28),
        (nn.VolumetricConvolution(2, 3, 2, 2, 2), 3 * 15**3 * 2 * 8),
        (nn.TemporalConvolution(4, 5, 3), 14 * 5 * 4 * 3),
    ):
        assert of(costs(layer), layer)[1] == macs


def test_a_shared_layer_counts_each_time_it_is_used() -> None:
    layer = nn.Linear(6, 6)
    net = nn.Sequential(layer, nn.Tanh(), layer)
    assert of(costs(net), net)[1] == of(costs(net), layer)[1] == 72


def test_tables_and_graphs_are_run() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    net = nn.gModule([x, y], [nn.CAddTable()([nn.Linear(4, 3)(x), nn.Linear(5, 3)(y)])])
    found = costs(net)
    assert found.input == "1x4,1x5" and of(found, net) == ("1×3", 27)
    branches = nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Linear(4, 3))
    assert of(costs(branches), branches) == ("1×2, 1×3", 20)


def test_why_nothing_is_counted_is_told() -> None:
    assert "input" in costs(nn.Tanh()).reason
    many = nn.Sequential(*(nn.Identity() for _ in range(3000)))
    assert costs(many).reason == "the net has more than 2,000 modules"

    class Own(nn.Module):
        def updateOutput(self, input: Any) -> Any:
            raise AssertionError("not to be called")

    assert "Own" in costs(nn.Sequential(nn.Linear(2, 2), Own())).reason or costs(Own()).reason


def test_the_net_and_the_random_numbers_stay_as_they_were() -> None:
    net = nn.Sequential(
        nn.SpatialConvolution(3, 4, 3, 3), nn.SpatialBatchNormalization(4)
    ).training()
    mean, state = net.modules[1].running_mean.clone(), torch.get_rng_state()
    found = costs(net)
    assert of(found, net)[1] > 0 and net.train and net.output.numel() == 0
    assert torch.equal(net.modules[1].running_mean, mean)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.FastLSTM])
def test_recurrent_steps_count_their_products(kind: Any) -> None:
    net = nn.Sequencer(kind(4, 3))
    found = costs(net)
    assert found.reason or of(found, net)[1] > 0
