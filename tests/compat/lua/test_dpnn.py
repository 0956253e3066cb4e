"""What package dpnn brings in Lua, and what a script may do between forward and backward."""

from __future__ import annotations

import pytest
import torch

from compat import lua


def test_profiled_nets_print_times_and_compute_the_same(
    runtime: lua.Runtime, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime.execute(
        """
        require 'dpnn'
        local inner = nn.ParallelTable():add(nn.Linear(2, 2)):add(nn.Tanh())
        local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Replicate(2)):add(nn.SplitTable(1))
           :add(inner):add(nn.CAddTable())
        local x, g = torch.randn(4, 3), torch.randn(4, 2)
        net:zeroGradParameters()
        output, gradInput = net:forward(x):clone(), net:backward(x, g):clone()
        gradients = {}
        for i, t in ipairs(select(2, net:parameters())) do gradients[i] = t:clone() end
        net:profile()
        net:zeroGradParameters()
        output:csub(net:forward(x))
        gradInput:csub(net:backward(x, g))
        for i, t in ipairs(select(2, net:parameters())) do gradients[i]:csub(t) end
        """
    )
    runtime.flush()
    said = [line.rpartition(":")[0] for line in capfd.readouterr().out.splitlines()]
    assert said[:3] == [
        "nn.Linear updateOutput",
        "nn.Replicate updateOutput",
        "nn.SplitTable updateOutput",
    ]
    assert said.count("nn.Linear backward") == 1
    assert {"nn.Tanh updateGradInput", "nn.Linear accGradParameters"} <= set(said)
    for difference in (runtime.globals().output, runtime.globals().gradInput):
        assert float(difference.abs().max()) == 0
    assert all(float(t.abs().max()) < 1e-12 for t in runtime.eval("gradients"))


def test_the_serial_state_is_of_plain_tables(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'dpnn'
        net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh()):mediumSerial()
        net:forward(torch.randn(1, 2))
        state = net:getSerialState()
        """
    )
    assert runtime.eval("state.dpnn_typename, getmetatable(state), #state.modules") == (
        "nn.Sequential",
        None,
        2,
    )
    assert runtime.eval("state.modules[1].weight == net:get(1).weight")
    assert runtime.eval("state.modules[1].dpnn_typename, state.modules[1].output:dim()") == (
        "nn.Linear",
        0,
    )


@pytest.mark.parametrize("layer", ["Tanh", "Sigmoid", "Exp"])
def test_backward_sees_a_changed_output_in_every_pass(runtime: lua.Runtime, layer: str) -> None:
    """Torch7's layers whose derivative is of their output take what is there."""
    runtime.execute(
        f"""
        require 'nn'
        net = nn.Sequential():add(nn.Linear(3, 3)):add(nn.{layer}())
        x = torch.randn(2, 3)
        found, outputs = {{}}, {{}}
        for i = 1, 3 do
           net:forward(x)
           net.output:mul(2)
           outputs[i] = net.output:clone()
           found[i] = net:backward(x, torch.ones(2, 3)):clone()
        end
        weight = net:get(1).weight
        """
    )
    derivative = {
        "Tanh": lambda y: 1 - y * y,
        "Sigmoid": lambda y: y * (1 - y),
        "Exp": lambda y: y,
    }[layer]
    weight = runtime.globals().weight.detach()
    for gradient, y in zip(runtime.eval("found"), runtime.eval("outputs"), strict=True):
        torch.testing.assert_close(gradient, derivative(y) @ weight)


def test_backward_sees_a_changed_result_inside_the_net(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        net = nn.Sequential():add(nn.Tanh()):add(nn.Linear(3, 2))
        x, g, found = torch.randn(4, 3), torch.randn(4, 2), {}
        for i = 1, 3 do
           net:zeroGradParameters()
           net:forward(x)
           net:get(1).output:mul(2)
           net:backward(x, g)
           found[i] = net:get(2).gradWeight:clone()
        end
        """
    )
    x, g = runtime.globals().x, runtime.globals().g
    for gradient in runtime.eval("found"):
        torch.testing.assert_close(gradient, g.t() @ (2 * x.tanh()))


def test_backward_takes_another_input_than_an_expanded_one(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        m, x = nn.CMul(4, 3), torch.rand(5, 1, 3):expand(5, 4, 3)
        y = m:forward(x):clone()
        m:zeroGradParameters()
        g = torch.rand(5, 4, 3)
        gradInput = m:backward(y, g)
        """
    )
    found = runtime.globals()
    weight = found.m.weight.detach()
    torch.testing.assert_close(found.gradInput, g := found.g * weight)
    torch.testing.assert_close(found.m.gradWeight, (found.g * found.y).sum(0))
    assert g.shape == (5, 4, 3)


def test_contiguous_has_an_output_of_its_own(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'nn'
        m, x = nn.Contiguous(), torch.rand(3, 2)
        first = m:forward(x)
        shared, kept = first:storage() == x:storage(), x:clone()
        second = m:forward(x:t())
        """
    )
    assert runtime.eval("shared, first == x, first == second") == (True, False, True)
    assert runtime.eval("x:equal(kept), second:isContiguous()") == (True, True)


def test_steps_of_a_criterion_keep_their_gradients(runtime: lua.Runtime) -> None:
    runtime.execute(
        """
        require 'rnn'
        local c = nn.SequencerCriterion(nn.MSECriterion())
        local function steps() return {torch.randn(2), torch.randn(2)} end
        c:forward(steps(), steps())
        first = c:backward(steps(), steps())
        step = first[2]
        local x, y = torch.randn(2, 2), torch.randn(2, 2)
        whole = c:backward(x, y):clone()
        second = c:backward({x[1], x[2]}, {y[1], y[2]})
        """
    )
    assert runtime.eval("first == second, first[2] == second[2], step == second[2]") == (
        False,
        True,
        True,
    )
    assert runtime.eval("(whole[2] - step):abs():max()") == 0
