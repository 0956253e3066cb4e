"""In-place layers overwrite what they are given, forward and back, as Torch7's do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn

LAYERS = [
    nn.Threshold(0.1, 0, True),
    nn.ReLU(True),
    nn.ReLU6(True),
    nn.HardTanh(-1, 1, True),
    nn.LeakyReLU(0.1, True),
    nn.ELU(1, True),
    nn.RReLU(0.1, 0.4, True),
    nn.RReLU(0.1, 0.4, True).evaluate(),
    nn.Dropout(0.5, False, True),
    nn.Dropout(0.5, True, True).evaluate(),
]
UNDOING = [nn.MulConstant(2, True), nn.AddConstant(2, True), nn.AddConstant(torch.ones(4), True)]


@pytest.mark.parametrize("module", [*LAYERS, *UNDOING], ids=repr)
def test_results_are_what_was_given(module: Any) -> None:
    x, gradOutput = torch.randn(3, 4), torch.randn(3, 4)
    assert module.forward(x).data_ptr() == x.data_ptr()
    assert module.backward(x, gradOutput).data_ptr() == gradOutput.data_ptr()
    assert module.gradInput.data_ptr() == gradOutput.data_ptr()


@pytest.mark.parametrize("module", UNDOING, ids=repr)
def test_backward_gives_the_input_its_former_value(module: Any) -> None:
    net = nn.Sequential(nn.Tanh(), module.clone())
    x = torch.randn(3, 4)
    leaf = x.clone().requires_grad_()
    wanted = leaf.tanh() * 2 if isinstance(module, nn.MulConstant) else leaf.tanh()
    wanted.backward(torch.ones(3, 4))
    net.forward(x)
    torch.testing.assert_close(net.backward(x, torch.ones(3, 4)), leaf.grad)
    given = x.clone()
    module.forward(given)
    module.backward(given, torch.ones(3, 4))
    torch.testing.assert_close(given, x)


@pytest.mark.parametrize("module", [*LAYERS, *UNDOING], ids=repr)
def test_no_gradient_leaves_gradOutput_and_input_alone(module: Any) -> None:
    module, x, gradOutput = module.clone(), torch.randn(3, 4), torch.ones(3, 4)
    module.gradInput = None
    output = module.forward(x).clone()
    assert module.backward(x, gradOutput) is None
    assert torch.equal(x, output)
    assert torch.equal(gradOutput, torch.ones(3, 4))


def gradients(net: nn.Sequential, x: Tensor) -> list[Tensor]:
    output = net.forward(x.clone()).clone()
    net.zeroGradParameters()
    return [output, net.backward(x, torch.ones_like(output)), *net.parameters()[1]]


@pytest.mark.parametrize("last", [nn.ReLU(True), nn.MulConstant(2, True)], ids=repr)
@pytest.mark.parametrize(
    "middle",
    [nn.View(6), nn.Identity(), nn.Squeeze(), nn.Narrow(2, 1, 2), nn.Dropout(0)],
    ids=repr,
)
@pytest.mark.parametrize("first", [nn.ReLU(True), nn.Square(), nn.Identity()], ids=repr)
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
def test_memory_is_reused(view: nn.Module) -> None:
    net = nn.Sequential().add(nn.Linear(3, 3)).add(view).add(nn.ReLU(True))
    net.forward(torch.randn(2, 3))
    assert net.get(1).output.data_ptr() == net.output.data_ptr()
