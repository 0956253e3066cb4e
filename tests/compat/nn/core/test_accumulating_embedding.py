"""Large lookup tables add their gradient to the rows that were named, and to no others."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from compat import nn
from compat.nn.core.contributions import Contributions


def expected(layer: nn.LookupTable, rows: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    weight = layer.weight.detach().clone().requires_grad_()
    padding = layer.paddingValue - 1 if layer.paddingValue else None
    F.embedding(rows - 1, weight, padding).backward(g)
    return weight.grad


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("scale", [1, 0.5])
@pytest.mark.parametrize("index", [1000, 10], ids=["large", "small"])
@pytest.mark.parametrize("shape", [(4, 6), (6,)], ids=["batch", "sample"])
def test_gradients_are_those_of_autograd_and_add_up(
    padding: int, scale: float, index: int, shape: tuple[int, ...]
) -> None:
    layer = nn.LookupTable(index, 80, padding).double()
    rows = torch.randint(1, 8, shape)  # several occur more than once
    rows.view(-1)[0] = 3
    g = torch.randn(*shape, 80).double()
    wanted = expected(layer, rows, g)
    _, gradients = layer.getParameters()
    for passes in (1, 2, 3):  # by a plan from the third on
        layer.forward(rows)
        layer.backward(rows, g, scale)
        torch.testing.assert_close(layer.gradWeight, passes * scale * wanted)
    assert layer.gradWeight.data_ptr() == gradients.data_ptr()


def test_only_the_rows_that_are_named_are_written() -> None:
    layer = nn.LookupTable(1000, 80)
    layer.gradWeight.fill_(float("inf"))
    layer.gradWeight[4].zero_()
    rows, g = torch.tensor([5, 5]), torch.ones(2, 80)
    layer.forward(rows)
    layer.backward(rows, g)
    assert layer.gradWeight[4].eq(2).all()
    assert layer.gradWeight.isinf().sum() == 999 * 80


def test_a_layer_used_twice_adds_both() -> None:
    layer = nn.LookupTable(1000, 80).double()
    net = nn.Sequential().add(nn.ConcatTable().add(layer).add(layer)).add(nn.CAddTable())
    rows, g = torch.randint(1, 1001, (4, 6)), torch.randn(4, 6, 80).double()
    net.forward(rows)
    net.backward(rows, g)
    torch.testing.assert_close(layer.gradWeight, 2 * expected(layer, rows, g))


def test_hooks_hear_of_the_gradient() -> None:
    layer = nn.LookupTable(1000, 80)
    heard = []
    layer.weight.requires_grad_(True)
    layer.weight.register_post_accumulate_grad_hook(lambda w: heard.append(w.grad.abs().sum()))
    layer.weight.requires_grad_(False)
    rows = torch.tensor([5, 6])
    layer.forward(rows)
    layer.backward(rows, torch.randn(2, 80))
    assert len(heard) == 1 and heard[0] > 0


def test_who_keeps_contributions_gets_the_gradient_instead() -> None:
    layer = nn.LookupTable(1000, 80)
    rows, g = torch.randint(1, 1001, (4, 6)), torch.randn(4, 6, 80)
    kept = Contributions()
    with kept:
        layer.forward(rows)
        layer.backward(rows, g)
    assert layer.gradWeight.abs().sum() == 0
    [value] = kept.to(layer.gradWeight)
    torch.testing.assert_close(value, expected(layer, rows, g))


def test_a_wrong_index_is_named() -> None:
    layer = nn.LookupTable(1000, 80)
    with pytest.raises(ValueError, match="input has the index 1001; 1 to 1000 are accepted"):
        layer.forward(torch.tensor([5, 1001]))
