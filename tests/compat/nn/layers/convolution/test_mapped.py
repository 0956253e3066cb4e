from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn, random


def loop(module: Any, x: torch.Tensor, function: Any) -> torch.Tensor:
    """The definition: one plane after the other."""
    outputs: list[Any] = [None] * module.nOutputPlane
    for (i, o), kernel in zip(module.connTable.int().tolist(), module.weight, strict=True):
        part = function(x[:, i - 1 : i], kernel[None, None], stride=(module.dH, module.dW))
        outputs[o - 1] = part if outputs[o - 1] is None else outputs[o - 1] + part
    return torch.cat(outputs, 1) + module.bias.view(-1, 1, 1)


@pytest.mark.parametrize(
    ("cls", "function"),
    [
        (nn.SpatialConvolutionMap, F.conv2d),
        (nn.SpatialFullConvolutionMap, F.conv_transpose2d),
    ],
)
@pytest.mark.parametrize(
    "table",
    [
        nn.tables.full(2, 3),
        nn.tables.oneToOne(3),
        torch.tensor([[1.0, 1.0], [3.0, 1.0], [2.0, 2.0], [2.0, 2.0]]),
    ],
)
def test_planes_are_connected_as_the_table_says(cls: Any, function: Any, table: Any) -> None:
    module = cls(table, 3, 2, 2, 1)
    x = torch.randn(2, module.nInputPlane, 5, 6)
    torch.testing.assert_close(module.forward(x), loop(module, x, function))
    torch.testing.assert_close(module.forward(x[0]), loop(module, x, function)[0])


def test_tables() -> None:
    assert nn.tables.full(2, 2).tolist() == [[1, 1], [2, 1], [1, 2], [2, 2]]
    assert nn.tables.oneToOne(3).tolist() == [[1, 1], [2, 2], [3, 3]]


def test_random_tables_deal_out_all_planes_before_any_twice() -> None:
    random.manualSeed(3)
    table = nn.tables.random(6, 4, 3)
    assert table[:, 1].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    for half in (table[:6, 0], table[6:, 0]):
        assert sorted(half.tolist()) == [1, 2, 3, 4, 5, 6]


def test_kernels_are_bounded_by_the_connections_of_their_output() -> None:
    module = nn.SpatialConvolutionMap(torch.tensor([[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]), 9, 9)
    two, one = 1 / math.sqrt(81 * 2), 1 / 9
    assert module.weight[:2].abs().max() <= two < module.weight[2].abs().max() <= one
    module.reset(0.01)
    assert module.weight.abs().max() <= 0.01 * math.sqrt(3)


def test_decay_parameters() -> None:
    module = nn.SpatialConvolutionMap(nn.tables.oneToOne(2), 2, 2)
    weight, bias = module.weight.clone(), module.bias.clone()
    module.decayParameters(0.25)
    torch.testing.assert_close(module.weight, weight * 0.75)
    torch.testing.assert_close(module.bias, bias * 0.75)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.SpatialConvolutionMap(torch.ones(3), 2, 2), r"conMatrix is \(3,\)"),
        (
            lambda: nn.SpatialConvolutionMap(torch.zeros(3, 2), 2, 2),
            "has the number 0; numbers",
        ),
        (lambda: nn.tables.random(2, 2, 3), "nto is 3"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_planes_that_the_table_does_not_name_get_no_gradient() -> None:
    module = nn.SpatialConvolutionMap(torch.tensor([[1.0, 1.0], [2.0, 2.0]]), 2, 2)
    input = torch.randn(2, 4, 3, 3)
    assert torch.equal(module.forward(input), module.forward(input[:, :2]))
    module.forward(input)
    gradInput = module.backward(input, torch.ones(2, 2, 2, 2))
    assert gradInput[:, :2].abs().min() > 0 and not gradInput[:, 2:].any()
