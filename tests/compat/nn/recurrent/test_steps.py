"""The layers of torch/rnn whose step is one module, against formulas and what Lua computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support.tensors import here
from torch import Tensor

import compat.nn as nn
from compat import random, t7
from compat.tensor_tables import tensors

RECORDED = t7.load(Path(__file__).parents[3] / "golden/rnn/steps.t7", plain=True)
pytestmark = [pytest.mark.usefixtures("double_by_default"), pytest.mark.devices(1)]


def assert_same(value: Any, other: Any) -> None:
    # Of indices the gradient, zeros, has their type.
    options = {"rtol": 1e-9, "atol": 1e-12, "check_dtype": False}
    torch.testing.assert_close(list(tensors(value)), list(tensors(other)), **options)


recorded = pytest.mark.parametrize("case", RECORDED, ids=[case["make"] for case in RECORDED])


@recorded
def test_the_same_seed_makes_the_same_module(case: Any) -> None:
    random.manualSeed(7)
    assert_same(eval(case["make"], {"nn": nn}).parameters()[0], case["params"])


@recorded
def test_a_pass_is_lua_s(case: Any) -> None:
    for net in (case["net"], t7.loads(t7.dumps(case["net"])), case["net"].clone()):
        here(net).zeroGradParameters()
        assert_same(net.forward(here(case["input"])), case["output"])
        given = here(case["input"]), here(case["gradOutput"])
        assert_same(net.backward(*given), case["gradInput"])
        assert_same(net.parameters()[1], case["gradParams"])


@recorded
def test_it_prints_as_in_lua(case: Any) -> None:
    if "Seq" not in case["make"] or "Recurrence" in case["make"]:  # sequences tell no sizes here
        assert repr(case["net"]) == case["printed"]


def gradients(output: Any, gradOutput: Any, sources: list[Tensor]) -> list[Tensor]:
    return list(torch.autograd.grad(list(tensors(output)), sources, list(tensors(gradOutput))))


def test_an_lstm_is_pytorch_s() -> None:
    net = nn.Sequencer(nn.RecLSTM(3, 4))
    x = torch.randn(5, 2, 3)
    lstm = torch.nn.LSTM(3, 4)
    weight, bias = net.parameters()[0]
    i, f, o, g = (t.detach() for t in weight.t().chunk(4))
    rows = torch.cat([i, f, g, o])
    i, f, o, g = (t.detach() for t in bias.chunk(4))
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(rows[:, :3])
        lstm.weight_hh_l0.copy_(rows[:, 3:])
        lstm.bias_ih_l0.copy_(torch.cat([i, f, g, o]))
        lstm.bias_hh_l0.zero_()
    leaf = x.clone().requires_grad_()
    expected, _ = lstm(leaf)
    assert_same(net.forward(x), expected.detach())
    grad = torch.randn_like(expected)
    assert_same(net.backward(x, grad), gradients(expected, grad, [leaf]))


def test_states_may_be_given_and_are_kept() -> None:
    step = nn.RecLSTM(3, 4, 2)
    x, h, c = torch.randn(2, 3), torch.randn(2, 2), torch.randn(2, 4)
    step.setHiddenState(0, [h, c])
    output = step.forward(x)
    assert_same([output, step.cell], step.recurrentModule.clone().forward([x, h, c]))
    assert_same(step.getHiddenState(1), [output, step.cell])
    for other in (step.forget(), step.clone().forget(), t7.loads(t7.dumps(step.forget()))):
        assert_same(other.forward(x), output)
    step.clearState()
    assert [state.shape for state in step.getHiddenState(0, x)] == [(2, 2), (2, 4)]
    assert not any(state.any() for state in step.getHiddenState(0, x))


def test_inputs_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"nn.StepGRU\(3 -> 4\): input has sizes .*; N x \[3, 4\]"):
        nn.StepGRU(3, 4).forward([torch.ones(2, 3), torch.ones(2, 3)])
    with pytest.raises(ValueError, match="a table of 3 tensors is accepted"):
        nn.StepLSTM(3, 4).forward([torch.ones(2, 3), torch.ones(2, 4)])


def test_only_the_way_forwards_remembers() -> None:
    net = nn.SeqBLSTM(3, 4).remember("both")
    assert (net.getForward().hasMemory(), net.getBackward().hasMemory()) == (True, False)
    assert isinstance(nn.SeqBLSTM(3, 4, nn.JoinTable(3)).get(1).get(2), nn.JoinTable)


def test_tables_are_reversed_too() -> None:
    a, b = torch.ones(2), torch.zeros(2)
    layer = nn.ReverseSequence()
    assert_same(layer.forward([a, b]), [b, a])
    assert_same(layer.backward([a, b], [a, b]), [b, a])
