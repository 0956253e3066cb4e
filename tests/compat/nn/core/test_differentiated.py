"""PyTorch inside a net, and a net inside PyTorch."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

from compat import nn
from compat.nn.core.parameter import Parameter


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)).double()


@pytest.mark.parametrize("to_none", [True, False])
def test_a_net_trains_by_an_optimizer_of_pytorch(to_none: bool) -> None:
    ours = net()
    theirs = ours.to_torch()
    x, target = torch.randn(6, 4).double(), torch.randn(6, 2).double()
    losses = []
    for module in (ours.as_autograd(), theirs):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.5)
        losses.append([])
        for _ in range(4):
            optimizer.zero_grad(set_to_none=to_none)
            loss = (module(x) - target).square().mean()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-10)
    assert ours.get(1).gradWeight is not None


def test_a_net_in_a_graph_gives_the_gradient_of_its_input() -> None:
    ours = net()
    theirs = ours.to_torch()
    x = torch.randn(6, 4).double()
    found = []
    for module in (ours.as_autograd(), theirs):
        leaf = x.clone().requires_grad_()
        module(leaf.sin()).exp().sum().backward()
        found.append(leaf.grad)
    torch.testing.assert_close(found[0], found[1])


def test_the_state_of_a_net_in_a_graph_is_that_of_its_export() -> None:
    def made() -> nn.Sequential:
        inner = nn.Sequential(nn.BatchNormalization(8), nn.Linear(8, 2))
        return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), inner)

    ours, other = made(), made()
    ours.forward(torch.randn(6, 4))
    theirs = ours.to_torch()
    holder = torch.nn.Sequential(ours.as_autograd())
    state = {name.removeprefix("0."): tensor for name, tensor in holder.state_dict().items()}
    wanted = theirs.state_dict()
    wanted = {k: v for k, v in wanted.items() if not k.endswith("num_batches_tracked")}
    assert state.keys() == wanted.keys()
    assert all(state[name].equal(tensor) for name, tensor in wanted.items())
    named = dict(holder.named_parameters())
    assert [*named] == ["0." + name for name, _ in theirs.named_parameters()]
    assert named["0.0.weight"] is ours.get(1).weight

    into = torch.nn.Sequential(other.as_autograd())
    assert str(into.load_state_dict(holder.state_dict())) == "<All keys matched successfully>"
    x = torch.randn(6, 4)
    assert other.evaluate().forward(x).equal(ours.evaluate().forward(x))
    with pytest.raises(RuntimeError, match="Missing key"):
        into.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"size mismatch for 0\.0\.bias"):
        into.load_state_dict(holder.state_dict() | {"0.0.bias": torch.ones(3)})


def test_an_earlier_call_of_a_net_is_refused() -> None:
    module = net().as_autograd()
    first, second = (module(torch.randn(6, 4).double()) for _ in range(2))
    with pytest.raises(RuntimeError, match="has gone forward again since"):
        (first.sum() + second.sum()).backward()


def test_a_computation_may_use_modules() -> None:
    class Gated(nn.Module):
        gain = Parameter()

        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(4, 4)
            self.gain = torch.ones(4)

        def compute(self, input: Tensor) -> Tensor:
            return torch.sigmoid(self.inner.run(input * self.gain)) * input

    module = Gated().double()
    x, gradOutput = torch.randn(6, 4).double(), torch.randn(6, 4).double()
    inner = copy.deepcopy(module.inner)
    weight, bias, gain = (
        p.clone().requires_grad_() for p in (inner.weight, inner.bias, module.gain)
    )
    leaf = x.clone().requires_grad_()
    wanted = torch.sigmoid((leaf * gain) @ weight.t() + bias) * leaf
    wanted.backward(gradOutput)
    torch.testing.assert_close(module.forward(x), wanted.detach())
    torch.testing.assert_close(module.updateGradInput(x, gradOutput), leaf.grad)
    assert not module.inner.gradWeight.any()
    module.accGradParameters(x, gradOutput, 0.5)
    torch.testing.assert_close(module.gradGain, gain.grad / 2)
    torch.testing.assert_close(module.inner.gradWeight, weight.grad / 2)


def test_a_net_in_a_graph_notices_what_was_changed_since() -> None:
    for change in ("input", "output", "parameter"):
        ours = net()
        x = torch.randn(6, 4).double()
        y = ours.as_autograd()(x)
        {"input": x, "output": y.detach(), "parameter": ours.get(1).weight}[change].mul_(2)
        with pytest.raises(RuntimeError, match="was changed in place"):
            y.sum().backward()


def test_a_containers_own_backward_counts_where_no_gradInput_is_wanted() -> None:
    inner = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    branches = nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Linear(4, 2))
    for first in (inner, branches):
        first.dontBackward()
        whole = nn.Sequential(nn.Sequential(first, nn.Identity())).double()
        whole.zeroGradParameters()
        output = whole.forward(torch.randn(3, 4).double())
        whole.backward_parameters(torch.randn(3, 4).double(), output)
        assert not any(gradient.any() for gradient in whole.parameters()[1])
