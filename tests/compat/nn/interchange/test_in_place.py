"""Layers in place overwrite what others read, in the converted net as in Torch7's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from compat import nn
from compat.nn.source.written import write

LAYERS: dict[str, Callable[[], nn.Module]] = {
    "AddConstant": lambda: nn.AddConstant(2, True),
    "MulConstant": lambda: nn.MulConstant(2, True),
    "ReLU": lambda: nn.ReLU(True),
    "HardTanh": lambda: nn.HardTanh(-0.2, 0.2, True),
    "CAddTable": lambda: nn.Sequential(
        nn.ConcatTable(nn.Identity(), nn.Linear(3, 3)), nn.CAddTable(True)
    ),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("before", [False, True])
def test_a_branch_beside_reads_what_was_overwritten(name: str, before: bool) -> None:
    branches = [LAYERS[name](), nn.Identity()]
    table = nn.ConcatTable(*(reversed(branches) if before else branches))
    net = nn.Sequential(nn.Linear(3, 3), table, nn.JoinTable(2)).evaluate()
    x = torch.randn(2, 3)
    wanted = net.forward(x)
    with torch.no_grad():
        assert torch.equal(net.to_torch()(x), wanted)


@pytest.mark.parametrize("first", [nn.ReLU, nn.Tanh, nn.Identity])
def test_sums_in_place_can_be_trained(first: type[nn.Module]) -> None:
    """Autograd would refuse to overwrite what the layers before read again in backward."""
    branches = nn.ConcatTable(nn.Identity(), nn.Linear(3, 3))
    net = nn.Sequential(nn.Linear(3, 3), first(), branches, nn.CAddTable(True))
    net.add(nn.MulConstant(3, True))
    x = torch.randn(2, 3)
    plain = net.to_torch()
    plain(x).sum().backward()
    apart = net.clone()
    for module in apart.listModules():
        if hasattr(module, "inplace"):
            module.inplace = False
    apart.zeroGradParameters()
    apart.backward(x, torch.ones_like(apart.forward(x)))
    for parameter, gradient in zip(plain.parameters(), apart.parameters()[1], strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
    source = write(net, x)
    source.net(x).sum().backward()
    assert "_(" not in source.text.partition("def forward")[2].partition("def load")[0]


def test_a_source_whose_gradients_cannot_be_the_nets_is_refused() -> None:
    branches = nn.ConcatTable(nn.MulConstant(2, True), nn.Identity())
    with pytest.raises(ValueError, match="set its inplace to False"):
        write(nn.Sequential(branches, nn.CAddTable()), torch.randn(2, 3))
