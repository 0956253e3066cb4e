"""Large linear layers add their weight gradient by the matrix product itself."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from compat import nn


def expected(layer: nn.Linear, x: torch.Tensor, g: torch.Tensor) -> list[torch.Tensor]:
    given = [x, layer.weight, *([] if layer.bias is None else [layer.bias])]
    leaves = [t.detach().clone().requires_grad_() for t in given]
    F.linear(*leaves).backward(g)
    return [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", [1, 0.5])
@pytest.mark.parametrize("size", [300, 10])
@pytest.mark.parametrize("rows", [(4,), ()], ids=["batch", "sample"])
def test_gradients_are_those_of_autograd_and_add_up(
    bias: bool, scale: float, size: int, rows: tuple[int, ...]
) -> None:
    layer = nn.Linear(300, size, bias).double()
    x, g = torch.randn(*rows, 300).double(), torch.randn(*rows, size).double()
    wanted = expected(layer, x, g)
    _, gradients = layer.getParameters()
    for passes in (1, 2):
        layer.forward(x)
        torch.testing.assert_close(layer.backward(x, g, scale), wanted[0])
        torch.testing.assert_close(layer.parameters()[1], [passes * scale * w for w in wanted[1:]])
    assert layer.gradWeight.data_ptr() == gradients.data_ptr()


def test_a_layer_used_twice_adds_both() -> None:
    layer = nn.Linear(300, 300).double()
    net = nn.Sequential().add(layer).add(nn.ReLU(True)).add(layer)
    x, g = torch.randn(4, 300).double(), torch.randn(4, 300).double()
    net.forward(x)
    net.backward(x, g)
    weight = layer.weight.clone().requires_grad_()
    bias = layer.bias.clone().requires_grad_()
    F.linear(F.linear(x, weight, bias).relu(), weight, bias).backward(g)
    torch.testing.assert_close(layer.gradWeight, weight.grad)
    torch.testing.assert_close(layer.gradBias, bias.grad)


def test_hooks_hear_of_the_gradient() -> None:
    layer = nn.Linear(300, 300)
    heard = []
    layer.weight.requires_grad_(True)
    layer.weight.register_post_accumulate_grad_hook(lambda w: heard.append(w.grad.abs().sum()))
    layer.weight.requires_grad_(False)
    x = torch.randn(4, 300)
    layer.forward(x)
    layer.backward(x, torch.randn(4, 300))
    assert len(heard) == 1 and heard[0] > 0


def test_an_in_place_layer_after_it_writes_into_its_output() -> None:
    net = nn.Sequential().add(nn.Linear(300, 300)).add(nn.ReLU(True))
    net.forward(torch.randn(4, 300))
    assert net.get(1).output.data_ptr() == net.get(2).output.data_ptr()


def test_a_gradient_that_is_not_wanted_is_left_out() -> None:
    layer = nn.Linear(300, 300)
    x = torch.randn(4, 300)
    layer.forward(x)
    layer.updateGradInput(x, torch.randn(4, 300))
    assert layer.gradWeight.abs().sum() == 0


def test_an_in_place_layer_after_it_writes_into_the_output_of_a_sample() -> None:
    net = nn.Sequential().add(nn.Linear(300, 300)).add(nn.ReLU(True))
    x, g = torch.randn(300), torch.randn(300)
    net.forward(x)
    sample = net.backward(x, g).clone()
    net.forward(x[None])
    torch.testing.assert_close(sample, net.backward(x[None], g[None])[0])
