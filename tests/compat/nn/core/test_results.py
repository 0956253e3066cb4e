"""Where results go: new tensors or Torch7's buffers, kept or freed as backward passes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from compat import nn


@pytest.fixture
def buffers() -> Iterator[None]:
    before = nn.reuse_buffers(True)
    yield
    nn.reuse_buffers(before)


def sequential() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def branches() -> nn.Module:
    table = nn.ConcatTable(nn.Linear(3, 2), nn.Sequential(nn.Linear(3, 2), nn.Tanh()))
    return nn.Sequential(table, nn.CAddTable(), nn.BatchNormalization(2))


def graph() -> nn.Module:
    input = nn.Identity()()
    hidden = nn.Tanh()(nn.Linear(3, 4)(input))
    return nn.gModule([input], [nn.Linear(4, 2)(hidden)])


NETS = pytest.mark.parametrize("made", [sequential, branches, graph])


def passes(net: nn.Module, count: int) -> list[Tensor]:
    """Results and gradients of some passes."""
    torch.manual_seed(1)
    found: list[Tensor] = []
    net.zeroGradParameters()
    for _ in range(count):
        input, gradOutput = torch.randn(5, 3), torch.randn(5, 2)
        net.forward(input)
        net.backward(input, gradOutput)
        found += [net.output.clone(), net.gradInput.clone()]
    return [*found, *(g.clone() for g in net.parameters()[1])]


@NETS
def test_lean_nets_compute_the_same(made: Callable[[], nn.Module]) -> None:
    net = made()
    lean = net.clone().keepResults(False)
    torch.testing.assert_close(passes(lean, 3), passes(net, 3), rtol=0, atol=0)


@NETS
def test_what_lean_nets_free_cannot_be_read_until_the_next_forward(
    made: Callable[[], nn.Module],
) -> None:
    net = made().keepResults(False)
    passes(net, 2)
    inside = net.modules[-1]
    for name in ("output", "gradInput"):
        with pytest.raises(RuntimeError, match=f"{name} of this .* keepResults"):
            getattr(inside, name)
    net.forward(torch.ones(5, 3))
    assert inside.output.shape == (5, 2)


@NETS
def test_results_are_kept_again(made: Callable[[], nn.Module]) -> None:
    net = made().keepResults(False)
    passes(net, 1)
    net.keepResults()
    passes(net, 1)
    assert all(module.output is not None for module in net.listModules())
    assert net.modules[-1].output.shape == (5, 2)


def test_going_back_twice_in_lean_mode_names_the_switch() -> None:
    net = sequential().keepResults(False)
    input, gradOutput = torch.ones(5, 3), torch.ones(5, 2)
    net.forward(input)
    net.backward(input, gradOutput)
    with pytest.raises(RuntimeError, match="keepResults"):
        net.backward(input, gradOutput)


def test_a_module_that_is_in_a_net_twice_keeps_its_results() -> None:
    shared = nn.Tanh()
    net = nn.Sequential(nn.Linear(3, 3), shared, nn.Linear(3, 3), shared).keepResults(False)
    net.forward(torch.ones(3))
    net.backward(torch.ones(3), torch.ones(3))
    assert shared.output.shape == (3,)


def test_each_pass_gives_new_tensors() -> None:
    net = sequential()
    first = net.forward(torch.ones(3))
    known = first.clone()
    second = net.forward(torch.zeros(3))
    assert second is not first and first.equal(known)


@pytest.mark.usefixtures("buffers")
def test_buffers_are_filled_again() -> None:
    net = sequential()
    first = net.forward(torch.ones(3))
    gradInput = net.backward(torch.ones(3), torch.ones(2))
    assert net.forward(torch.zeros(5, 3)) is first and first.shape == (5, 2)
    assert net.backward(torch.zeros(5, 3), torch.ones(5, 2)) is gradInput


class Columns(nn.Module):
    """Gives a part of its input, in the input's memory."""

    def compute(self, input: Tensor) -> Tensor:
        return input[:, 1:]


class Passes(nn.Module):
    """Its gradient is the gradOutput itself."""

    def compute(self, input: Tensor) -> Tensor:
        return input + 1


@pytest.mark.usefixtures("buffers")
@pytest.mark.parametrize("layer", [Columns, Passes])
@pytest.mark.parametrize("apart", [False, True])
def test_refilled_buffers_are_not_in_memory_of_what_a_layer_is_given(
    layer: type[nn.Module], apart: bool
) -> None:
    """Batches of one data set, and by themselves; of another type than the first, empty buffers."""
    net, width = layer(), 4 if layer is Columns else 5
    data, grads = torch.rand(3, 4, 5).double(), torch.rand(3, 4, width).double()
    known = data.clone(), grads.clone()
    batches = [
        (x.clone(), g.clone()) if apart else (x, g) for x, g in zip(data, grads, strict=True)
    ]
    for input, gradOutput in batches:
        output = net.forward(input)
        assert output.equal(input[:, 1:] if layer is Columns else input + 1)
        assert net.backward(input, gradOutput)[:, -4:].equal(gradOutput[:, -4:])
    assert torch.stack([x for x, _ in batches]).equal(known[0])
    assert torch.stack([g for _, g in batches]).equal(known[1])
