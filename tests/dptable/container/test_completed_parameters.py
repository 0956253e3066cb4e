"""When the parameters of a net are told to be complete."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn
from compat.nn.containers import completion
from dptable.container.completed_parameters import CompletedParameters


def told(net: Any, method: str = "backward") -> list[int]:
    """The numbers of the parameters in the order in which they are told of."""
    input = torch.randn(3, 4)
    wanted = net.clone()
    for one in (net, wanted):
        one.zeroGradParameters()
        gradOutput = torch.ones_like(one.forward(input))
    wanted.backward(input, gradOutput)
    parameters, gradients = net.parameters()
    order: list[int] = []

    def complete(i: int) -> None:
        order.append(i)
        if len({g.data_ptr() for g in gradients}) == len(gradients):
            torch.testing.assert_close(gradients[i], wanted.parameters()[1][i])

    if method == "accGradParameters":
        net.updateGradInput(input, gradOutput)
    with completion.listening(CompletedParameters(net, parameters).listener(complete)):
        getattr(net, method)(input, gradOutput)
    return order


def linear() -> nn.Linear:
    return nn.Linear(4, 4, False)


def graph() -> nn.gModule:
    x = nn.Identity()()
    return nn.gModule([x], [nn.CAddTable()([linear()(x), linear()(nn.Tanh()(x))])])


class Own(nn.Sequential):
    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: float = 1) -> None:
        super().accGradParameters(input, gradOutput, scale)


@pytest.mark.parametrize("method", ["backward", "backward_parameters", "accGradParameters"])
@pytest.mark.parametrize(
    ("net", "order"),
    [
        (nn.Sequential().add(linear()).add(nn.Tanh()).add(linear()), [1, 0]),
        (nn.Sequential().add(nn.Sequential().add(linear()).add(linear())).add(linear()), [2, 1, 0]),
        (nn.Sequential().add(linear()).add(nn.Concat(2).add(linear()).add(linear())), [1, 2, 0]),
        (nn.Sequential().add(graph()).add(linear()), [2, 0, 1]),
        # Within a class of one's own, in another container's hands or in torch.nn: as a whole.
        (nn.Sequential().add(linear()).add(Own().add(linear()).add(linear())), [1, 2, 0]),
        (nn.Sequential().add(linear()).add(nn.Bottle(linear())), [1, 0]),
        (nn.Sequential().add(linear()).add(torch.nn.Linear(4, 4)), [1, 2, 0]),
        (Own().add(linear()), []),
    ],
)
def test_the_order(net: Any, order: list[int], method: str) -> None:
    assert told(net.clone(), method) == order


def test_what_is_shared_is_complete_when_all_its_places_have_gone_back() -> None:
    layer = linear()
    tied = layer.clone("weight", "gradWeight")
    net = nn.Sequential().add(layer).add(linear()).add(tied)
    # Two tensors over one memory; who sums them waits for both.
    assert told(net) == [2, 1, 0]
    same = nn.Sequential().add(nn.Tanh()).add(layer).add(nn.Tanh())
    branches = nn.ConcatTable().add(same).add(nn.Sequential().add(layer))
    net = nn.Sequential().add(branches).add(nn.CAddTable())
    order: list[int] = []
    hear = CompletedParameters(net, [layer.weight]).listener(order.append)
    hear(same, 1)
    assert order == []
    hear(branches.get(2), 0)
    assert order == [0]


def test_a_container_in_several_places_tells_several_times() -> None:
    inner = nn.Sequential().add(linear())
    net = nn.ConcatTable().add(inner).add(inner)
    order: list[int] = []
    hear = CompletedParameters(net, inner.parameters()[0]).listener(order.append)
    hear(inner, 0)
    assert order == []
    hear(inner, 0)
    assert order == [0]
    # One that lies within a unit, too, tells of that one's passes.
    net = nn.ConcatTable().add(inner).add(nn.Bottle(inner))
    order = []
    hear = CompletedParameters(net, inner.parameters()[0]).listener(order.append)
    for _ in range(3):
        hear(inner, 0)
    assert order == []
    hear(net, 1)
    hear(net, 0)
    assert order == [0]
