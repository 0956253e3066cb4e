"""Modules of Torch7's package rnn against formulas and PyTorch's own recurrent layers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import compat.nn as nn
from compat import random, rnn, t7, torch_rnn
from compat.tensor_tables import map_tensors, tensors


@pytest.fixture(autouse=True)
def settings() -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(1)
    random.manualSeed(1)
    yield
    torch.set_default_dtype(before)


def assert_same(value: Any, other: Any) -> None:
    torch.testing.assert_close(list(tensors(value)), [t.detach() for t in tensors(other)])


def gradients(
    module: Any, reference: Callable[[Any], Any], input: Any, gradOutput: Any
) -> tuple[Any, list[Tensor], list[Tensor]]:
    """Output and gradients of ``reference``, a function with the parameters of ``module``."""
    leaves = map_tensors(lambda t: t.detach().requires_grad_(), input)
    weights = list(dict.fromkeys(module.parameters()[0]))
    for weight in weights:
        weight.requires_grad_(True)
    output = reference(leaves)
    sources = [*tensors(leaves), *weights]
    found = torch.autograd.grad(list(tensors(output)), sources, list(tensors(gradOutput)))
    for weight in weights:
        weight.requires_grad_(False)
    count = len(list(tensors(leaves)))
    return output, list(found[:count]), list(found[count:])


def check(module: Any, reference: Callable[[Any], Any], input: Any) -> None:
    output = module.forward(input)
    gradOutput = map_tensors(torch.randn_like, output)
    expected, to_input, to_weights = gradients(module, reference, input, gradOutput)
    assert_same(output, expected)
    module.zeroGradParameters()
    assert_same(module.backward(input, gradOutput), to_input)
    assert_same([w.grad for w in dict.fromkeys(module.parameters()[0])], to_weights)


def sequence(length: int = 4, size: tuple[int, ...] = (2, 3)) -> list[Tensor]:
    return [torch.randn(size) for _ in range(length)]


# Formulas.


def lstm(module: Any) -> Callable[[Any], Any]:
    """Graves' LSTM with the parameters of ``nn.LSTM``."""
    [gates_i, gates_f, hidden, gates_o] = (
        module.inputGate,
        module.forgetGate,
        module.hiddenLayer,
        module.outputGate,
    )

    def sums(part: Any, x: Tensor, h: Tensor, c: Tensor | None) -> Tensor:
        table = next(m for m in part.modules if m.typename == "nn.ParallelTable")
        own, other, *peephole = table.modules
        total = x @ own.weight.t() + own.bias + h @ other.weight.t()
        return total + peephole[0].weight * c if peephole else total

    def run(inputs: Any) -> Any:
        h = c = inputs[0].new_zeros((*inputs[0].shape[:-1], module.outputSize))
        outputs = []
        for x in inputs:
            i = sums(gates_i, x, h, c).sigmoid()
            f = sums(gates_f, x, h, c).sigmoid()
            c = f * c + i * sums(hidden, x, h, None).tanh()
            h = sums(gates_o, x, h, c).sigmoid() * c.tanh()
            outputs.append(h)
        return outputs

    return run


def fast_lstm(module: Any) -> Callable[[Any], Any]:
    def run(inputs: Any) -> Any:
        i2g, o2g = module.i2g, module.o2g
        h = c = inputs[0].new_zeros((*inputs[0].shape[:-1], module.outputSize))
        outputs = []
        for x in inputs:
            gates = x @ i2g.weight.t() + i2g.bias + h @ o2g.weight.t()
            i, g, f, o = gates.chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        return outputs

    return run


def gru(module: Any) -> Callable[[Any], Any]:
    def run(inputs: Any) -> Any:
        Wg, bg, Ug, W, b, U = module.parameters()[0]
        h = inputs[0].new_zeros((*inputs[0].shape[:-1], module.outputSize))
        outputs = []
        for x in inputs:
            r, z = (x @ Wg.t() + bg + h @ Ug.t()).sigmoid().chunk(2, -1)
            new = (x @ W.t() + b + (r * h) @ U.t()).tanh()
            h = (1 - z) * new + z * h
            outputs.append(h)
        return outputs

    return run


def simple(module: Any) -> Callable[[Any], Any]:
    """`nn.Recurrent` of a Linear, a Linear and Tanh."""

    def run(inputs: Any) -> Any:
        start, own, feedback = module.modules[:3]
        h = None
        outputs = []
        for x in inputs:
            total = x @ own.weight.t() + own.bias
            if h is None:
                h = (total + start.bias).tanh()
            else:
                h = (total + h @ feedback.weight.t() + feedback.bias).tanh()
            outputs.append(h)
        return outputs

    return run


CELLS = {
    "LSTM": (lambda: nn.LSTM(3, 4), lstm),
    "LSTM without peepholes": (lambda: nn.LSTM(3, 4, None, False), lstm),
    "FastLSTM": (lambda: nn.FastLSTM(3, 4), fast_lstm),
    "GRU": (lambda: nn.GRU(3, 4), gru),
    "Recurrent": (lambda: nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4), nn.Tanh()), simple),
}
cells = pytest.mark.parametrize(("build", "formula"), CELLS.values(), ids=CELLS)


@cells
def test_a_sequence_in_one_pass(build: Callable[[], Any], formula: Any) -> None:
    cell = build()
    check(nn.Sequencer(cell), formula(cell), sequence())


@cells
def test_a_sequence_of_samples(build: Callable[[], Any], formula: Any) -> None:
    cell = build()
    check(nn.Sequencer(cell), formula(cell), sequence(3, (3,)))


@cells
@pytest.mark.parametrize("apart", [False, True])
def test_step_by_step_and_back(build: Callable[[], Any], formula: Any, apart: bool) -> None:
    cell = build()
    inputs = sequence(5)
    outputs = [cell.forward(x).clone() for x in inputs]
    gradOutputs = [torch.randn_like(y) for y in outputs]
    expected, to_inputs, to_weights = gradients(cell, formula(cell), inputs, gradOutputs)
    assert_same(outputs, expected)
    cell.zeroGradParameters()
    for x, grad, right in zip(
        reversed(inputs), reversed(gradOutputs), reversed(to_inputs), strict=True
    ):
        if not apart:
            assert_same(cell.backward(x, grad), right)
        else:
            assert_same(cell.updateGradInput(x, grad), right)
            cell.accGradParameters(x, grad)
    assert_same([w.grad for w in cell.parameters()[0]], to_weights)
    with pytest.raises(RuntimeError, match="5 calls are remembered"):
        cell.backward(inputs[0], gradOutputs[0])


def test_cells_take_the_arguments_of_torch7_that_change_nothing() -> None:
    for make in (
        lambda: nn.FastLSTM(3, 4, 999, 0.1, 0, None, 0, False),
        lambda: nn.LSTM(3, 4, 999, True, 0, False),
        lambda: nn.GRU(3, 4, 999, 0, False),
    ):
        assert make().forward(torch.rand(2, 3)).shape == (2, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda mono: nn.LSTM(3, 4, None, None, 0.5, mono),
        lambda mono: nn.FastLSTM(3, 4, None, None, None, None, 0.5, mono),
        lambda mono: nn.GRU(3, 4, None, 0.5, mono),
    ],
)
@pytest.mark.parametrize("mono", [False, True])
def test_dropout_inside_is_drawn_anew_after_backward(make: Any, mono: bool) -> None:
    cell = make(mono)
    inputs = torch.ones(3, 2, 3)
    net = nn.Sequencer(cell)
    first = net.forward(inputs).clone()
    assert_same(net.forward(inputs), first)
    net.backward(inputs, torch.ones_like(first))
    assert not torch.equal(net.forward(inputs), first)
    assert all((mono and m.mono) or not m.mono for m in cell.findModules("nn.Dropout")[0])
    net.evaluate()
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(inputs), net.forward(inputs))


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU])
def test_a_probability_is_below_1(make: Any) -> None:
    with pytest.raises(ValueError, match=r"p is 1; 0 <= p < 1 is accepted"):
        make(3, 4, p=1)


def test_batch_normalisation_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nn.FastLSTM, "usenngraph", True)
    graph, inputs = nn.FastLSTM(3, 4), sequence(4)
    monkeypatch.undo()
    plain = nn.FastLSTM(3, 4)
    plain.getParameters()[0].copy_(graph.getParameters()[0])
    assert graph.recurrentModule.typename == "nn.gModule"
    assert_same(nn.Sequencer(graph).forward(inputs), nn.Sequencer(plain).forward(inputs))
    monkeypatch.setattr(nn.FastLSTM, "bn", True)
    assert len(nn.FastLSTM(3, 4).findModules("nn.BatchNormalization")[0]) == 3


def test_prints() -> None:
    """What Torch7 prints."""
    two = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    recurrent = """\
nn.Recurrent {
  [{input(t), output(t-1)} -> (1) -> (2) -> (3) -> output(t)]
  (1):  {
    input(t)
      |`-> (t==0): nn.Add
      |`-> (t~=0): nn.Linear(2 -> 3)
    output(t-1)
      |`-> nn.Sequential {
      |      [input -> (1) -> (2) -> output]
      |      (1): nn.Linear(3 -> 3)
      |      (2): nn.Tanh
      |    }
  }
  (2): nn.CAddTable
  (3): nn.Sigmoid
}"""
    assert repr(nn.Recurrent(3, nn.Linear(2, 3), two)) == recurrent
    flow = "       V         V             V     "
    repeater = f"""\
nn.Repeater {{
  [  input,    input,  ...,  input  ]
{flow}
  nn.Recursor @ nn.Sequential {{
    [input -> (1) -> (2) -> output]
    (1): nn.Linear(3 -> 3)
    (2): nn.Tanh
  }}
{flow}
  [output(1),output(2),...,output(2)]
}}"""
    assert repr(nn.Repeater(two, 2)) == repeater


@cells
def test_a_file_gives_the_same_module(build: Callable[[], Any], formula: Any) -> None:
    net = nn.Sequencer(build())
    inputs = sequence()
    expected = net.forward(inputs)
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(inputs), expected)
    assert_same(again.parameters()[0], net.parameters()[0])
    assert repr(again) == repr(net)
    assert again.clone().forward(inputs)[0].shape == expected[0].shape


def test_lua_finds_what_it_goes_on_from() -> None:
    fields = t7.loads(t7.dumps(nn.FastLSTM(3, 4)), raw=True).fields
    assert fields["sharedClones"][1] is fields["recurrentModule"] is fields["modules"][1]
    assert fields["step"] == 1 and fields["outputs"] == {} and fields["zeroTensor"].numel() == 0
    fields = t7.loads(t7.dumps(CELLS["Recurrent"][0]()), raw=True).fields
    first, recurrent = fields["initialModule"], fields["recurrentModule"]
    assert list(fields["sharedClones"]) == [2] and fields["sharedClones"][2] is recurrent
    assert first["modules"][2] is fields["startModule"]
    assert first["modules"][1] is not fields["inputModule"]
    weights = first["modules"][1]["weight"], fields["inputModule"]["weight"]
    assert weights[0].data_ptr() == weights[1].data_ptr()


def test_old_files_hold_clones_of_every_step() -> None:
    cell = nn.FastLSTM(3, 4)
    fields = t7.loads(t7.dumps(cell), raw=True).fields
    fields["sharedClones"] = [fields["recurrentModule"], fields["recurrentModule"]]
    fields |= {"outputs": [torch.ones(1)], "cells": {0: torch.ones(1)}, "step": 7}
    again = t7.loads(t7.dumps(t7.TorchObject("nn.FastLSTM", 1, fields)))
    assert again.sharedClones == {1: again.recurrentModule}
    inputs = sequence()
    assert_same(nn.Sequencer(again).forward(inputs), nn.Sequencer(cell).forward(inputs))


# The memory.


def test_a_sequencer_forgets_unless_told_to_remember() -> None:
    net = nn.Sequencer(nn.FastLSTM(3, 4))
    inputs = sequence(4)
    whole = net.forward(inputs)
    halves = [net.forward(inputs[:2]), net.forward(inputs[2:])]
    assert_same(halves[0], whole[:2])
    assert not torch.equal(halves[1][0], whole[2])
    for when, mode in (("both", "training"), ("both", "evaluate"), ("eval", "evaluate")):
        getattr(net.remember(when).evaluate().training(), mode)()
        net.forget()
        assert_same(net.forward(inputs[:2]) + net.forward(inputs[2:]), whole)
    net.training()
    assert_same(net.forward(inputs[:2]), net.forward(inputs[:2]))


def test_backward_stops_at_the_sequence_before() -> None:
    net = nn.Sequencer(nn.FastLSTM(3, 4)).remember("both")
    inputs = sequence(4)
    net.forward(inputs[:2])
    net.forward(inputs[2:])
    gradInput = net.backward(inputs[2:], [torch.ones(2, 4)] * 2)
    assert len(gradInput) == 2 and gradInput[0].abs().sum() > 0


def test_only_the_latest_calls_are_remembered() -> None:
    cell = nn.FastLSTM(3, 4, 2)
    inputs = sequence(5)
    outputs = [cell.forward(x) for x in inputs]
    for x, y in zip(inputs[:1:-1], outputs[:1:-1], strict=True):
        cell.backward(x, y)
    with pytest.raises(RuntimeError, match="3 calls are remembered"):
        cell.backward(inputs[1], outputs[1])
    with pytest.raises(RuntimeError, match="needs updateGradInput"):
        cell.forward(inputs[0])
        cell.accGradParameters(inputs[0], outputs[0])


def test_evaluation_goes_on_until_it_forgets() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.GRU(3, 4), nn.Linear(4, 2)).evaluate()
    inputs = sequence()
    outputs = [net.forward(x) for x in inputs]
    rnn.forget(net)
    assert_same([net.forward(x) for x in inputs], outputs)
    assert not torch.equal(net.forward(inputs[0]), outputs[0])


@pytest.mark.parametrize("joined", [False, True], ids=["list", "tensor"])
@pytest.mark.parametrize("cell", [nn.FastLSTM, nn.GRU])
def test_buffers_that_are_filled_again_in_evaluation(cell: Any, joined: bool) -> None:
    plain = nn.Sequencer(cell(3, 4))
    net = plain.clone()
    input: Any = torch.stack(sequence()) if joined else sequence()
    before = nn.reuse_buffers(True)
    try:
        net.forward(input)
        net.evaluate()
        found = [map_tensors(torch.clone, net.forward(input)) for _ in range(2)]
        repeated = nn.Repeater(net.get(1), 3).evaluate().forward(input[0])
    finally:
        nn.reuse_buffers(before)
    for output in found:
        assert_same(output, plain.evaluate().forward(input))
    assert_same(repeated, nn.Repeater(plain.get(1), 3).forward(input[0]))


def test_a_criterion_of_sequences_whose_class_has_set_its_clones() -> None:
    class Own(nn.SequencerCriterion):
        def __init__(self) -> None:
            super().__init__()
            self.criterion, self.clones = nn.MSECriterion(), []

    steps = sequence()
    assert Own().forward(steps, [s + 1 for s in steps]) == pytest.approx(len(steps))


def test_the_first_memory_may_be_given() -> None:
    cell = nn.FastLSTM(3, 4)
    inputs = sequence(4)
    whole = nn.Sequencer(cell).forward(inputs)
    cell.forget()
    cell.evaluate()
    for x in inputs[:2]:
        cell.forward(x)
    output, state = cell.getHiddenState()
    cell.forget()
    cell.userPrevOutput, cell.userPrevCell = output, state
    assert_same([cell.forward(x) for x in inputs[2:]], whole[2:])


def test_a_recursor_goes_back_through_stacked_layers() -> None:
    first, second = nn.GRU(3, 4), nn.FastLSTM(4, 2)
    stack = nn.Recursor(nn.Sequential(first, nn.Tanh(), second))
    inputs = sequence(3)

    def reference(x: Any) -> Any:
        return fast_lstm(second)([h.tanh() for h in gru(first)(x)])

    outputs = [stack.forward(x).clone() for x in inputs]
    gradOutputs = [torch.randn_like(y) for y in outputs]
    expected, to_inputs, to_weights = gradients(stack, reference, inputs, gradOutputs)
    assert_same(outputs, expected)
    stack.zeroGradParameters()
    for t in (2, 1, 0):
        assert_same(stack.backward(inputs[t], gradOutputs[t]), to_inputs[t])
    assert_same([w.grad for w in stack.parameters()[0]], to_weights)
    stack.forget()
    check(nn.Sequencer(stack), reference, inputs)


def test_recurrence_of_a_table() -> None:
    inner = nn.Sequential(nn.ParallelTable(nn.Linear(3, 4), nn.Linear(4, 4)), nn.CAddTable())
    net = nn.Sequencer(nn.Recurrence(inner.add(nn.Sigmoid()), 4, 1))
    own, other = inner.get(1).modules

    def reference(inputs: Any) -> Any:
        h = inputs[0].new_zeros(2, 4)
        outputs = []
        for x in inputs:
            total = x @ own.weight.t() + own.bias + h @ other.weight.t() + other.bias
            h = total.sigmoid()
            outputs.append(h)
        return outputs

    check(net, reference, sequence())
    again = t7.loads(t7.dumps(net))
    inputs = sequence()
    assert_same(again.forward(inputs), net.forward(inputs))


def test_a_recurrent_module_in_a_recurrence_with_layers_after_it() -> None:
    cell, last = nn.GRU(4, 4), nn.Linear(4, 4)
    sums = nn.Sequential(nn.ParallelTable(nn.Linear(3, 4), nn.Linear(4, 4)), nn.CAddTable())
    own, other = sums.get(1).modules
    net = nn.Sequencer(nn.Recurrence(sums.add(cell).add(last).add(nn.Tanh()), 4, 1))

    def reference(inputs: Any) -> Any:
        Wg, bg, Ug, W, b, U = cell.parameters()[0]
        h = state = inputs[0].new_zeros(2, 4)
        outputs = []
        for step in inputs:
            x = step @ own.weight.t() + own.bias + h @ other.weight.t() + other.bias
            r, z = (x @ Wg.t() + bg + state @ Ug.t()).sigmoid().chunk(2, -1)
            new = (x @ W.t() + b + (r * state) @ U.t()).tanh()
            state = (1 - z) * new + z * state
            h = (state @ last.weight.t() + last.bias).tanh()
            outputs.append(h)
        return outputs

    check(net, reference, sequence())


def test_a_clone_goes_back_through_the_calls_of_the_original() -> None:
    cell, inputs = nn.FastLSTM(3, 4), sequence(3)
    outputs = [cell.forward(x) for x in inputs]
    cell.zeroGradParameters()
    other = cell.clone()
    for x, y in zip(reversed(inputs), reversed(outputs), strict=True):
        assert_same(other.backward(x, y), cell.backward(x, y))
    assert_same(other.parameters()[1], cell.parameters()[1])


@cells
def test_step_modules_train_flat_parameters(build: Callable[[], Any], formula: Any) -> None:
    cell = build()
    net, inputs = nn.Sequencer(cell), sequence()
    net.forward(inputs)
    parameters, _ = net.getParameters()
    parameters.mul_(0.5)
    check(net, formula(cell), inputs)
    net.float().double()
    check(net, formula(cell), inputs)


def test_the_gradient_of_the_input_may_be_switched_off() -> None:
    cell, layer = nn.GRU(4, 4), nn.Linear(3, 4)
    net, inputs = nn.Sequencer(nn.Sequential(layer, cell)), sequence()
    whole = nn.Sequencer(nn.Sequential(layer.sharedClone(), cell.sharedClone(True, False)))
    layer.gradInput = None
    gradOutput = [torch.randn(2, 4) for _ in inputs]
    for module in (net, whole):
        module.zeroGradParameters()
        module.forward(inputs)
        module.backward(inputs, gradOutput)
    assert_same(net.parameters()[1], whole.parameters()[1])
    assert net.gradInput == [None] * 4


def test_gradients_of_another_size_are_refused() -> None:
    cell, x = nn.GRU(3, 4), torch.randn(2, 3)
    cell.forward(x)
    for wrong in (torch.ones(1, 4), torch.ones(4), torch.ones(2, 5)):
        with pytest.raises(ValueError, match=r"gradOutput has size .*; \(2, 4\) is accepted"):
            cell.backward(x, wrong)
    net = nn.Sequencer(cell)
    net.forward([x, x])
    with pytest.raises(ValueError, match="gradOutput is a list of 1; a sequence of 2"):
        net.backward([x, x], [torch.ones(2, 4)])


def test_evaluation_goes_back_through_the_latest_call() -> None:
    cell, inputs = nn.GRU(3, 4), sequence(2)
    gradOutput = torch.randn(2, 4)
    for x in inputs:
        cell.forward(x)
    expected = cell.backward(inputs[1], gradOutput)
    cell.forget()
    cell.evaluate()
    for x in inputs:
        cell.forward(x)
    assert_same(cell.backward(inputs[1], gradOutput), expected)
    with pytest.raises(RuntimeError, match="called 2 times, and 1 calls are remembered"):
        cell.backward(inputs[0], gradOutput)


# Sequencers.


def test_sequences_of_sequences() -> None:
    inner, outer = nn.FastLSTM(3, 4), nn.GRU(4, 2)
    words = nn.Sequential(nn.Sequencer(inner), nn.SelectTable(-1))
    net = nn.Sequencer(nn.Sequential(words, outer))

    def reference(inputs: Any) -> Any:
        return gru(outer)([fast_lstm(inner)(words)[-1] for words in inputs])

    check(net, reference, [sequence(n) for n in (2, 3, 1)])


def test_repeater_and_its_criterion() -> None:
    cell = nn.FastLSTM(3, 4)
    net = nn.Repeater(cell, 3)
    check(net, lambda x: fast_lstm(cell)([x] * 3), torch.randn(2, 3))
    outputs = net.forward(torch.randn(2, 3))
    target = torch.randn(2, 4)
    criterion = nn.RepeaterCriterion(nn.MSECriterion())
    loss = sum(torch.nn.functional.mse_loss(y, target) for y in outputs)
    assert criterion.forward(outputs, target) == pytest.approx(float(loss))
    assert_same(criterion.backward(outputs, target), [2 * (y - target) / 8 for y in outputs])


def test_sequencer_criterion() -> None:
    scores = [torch.randn(2, 5).log_softmax(1) for _ in range(3)]
    targets = [torch.tensor([1.0, 5.0]), torch.tensor([2.0, 2.0]), torch.tensor([3.0, 4.0])]
    criterion = nn.SequencerCriterion(nn.ClassNLLCriterion())
    loss = sum(
        float(torch.nn.functional.nll_loss(x, y.long() - 1))
        for x, y in zip(scores, targets, strict=True)
    )
    assert criterion.forward(scores, targets) == pytest.approx(loss)
    assert criterion.forward(scores, torch.stack(targets)) == pytest.approx(loss)
    assert len(criterion.backward(scores, targets)) == 3
    again = t7.loads(t7.dumps(criterion))
    assert again.forward(scores, targets) == pytest.approx(loss)
    with pytest.raises(ValueError, match="target is one of 2; as many"):
        criterion.forward(scores, targets[:2])
    with pytest.raises(TypeError, match="sizeAverage is 'yes'"):
        nn.SequencerCriterion(nn.MSECriterion(), "yes")  # type: ignore[arg-type]


def test_criterions_of_steps_are_converted_with_the_whole() -> None:
    weighted = nn.ClassNLLCriterion(torch.tensor([1.0, 2.0, 3.0]))
    criterion, target = nn.SequencerCriterion(weighted), [torch.tensor([1.0, 3.0])] * 2
    scores = [torch.randn(2, 3).log_softmax(1) for _ in range(2)]
    loss = criterion.forward(scores, target)
    single = [score.float() for score in scores]
    assert criterion.float().forward(single, target) == pytest.approx(loss, rel=1e-5)
    assert criterion.backward(single, target)[0].dtype == torch.float32


def test_bisequencer() -> None:
    net = nn.BiSequencer(nn.FastLSTM(3, 4), nn.GRU(3, 2))

    def reference(inputs: Any) -> Any:
        forwards = fast_lstm(net.forwardModule)(inputs)
        backwards = gru(net.backwardModule)(inputs[::-1])[::-1]
        return [torch.cat(pair, -1) for pair in zip(forwards, backwards, strict=True)]

    inputs = sequence()
    check(net, reference, inputs)
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(inputs), net.forward(inputs))
    copied = nn.BiSequencer(nn.FastLSTM(3, 4), None, nn.CAddTable())
    assert not torch.equal(copied.backwardModule.i2g.weight, copied.forwardModule.i2g.weight)
    assert copied.forward(inputs)[0].shape == (2, 4)


def test_bisequencer_for_language_models() -> None:
    net = nn.BiSequencerLM(nn.FastLSTM(3, 4), nn.GRU(3, 2))

    def reference(inputs: Any) -> Any:
        forwards = fast_lstm(net.forwardModule)(inputs[:-1])
        backwards = gru(net.backwardModule)(inputs[:0:-1])[::-1]
        forwards = [torch.zeros_like(forwards[0]), *forwards]
        backwards = [*backwards, torch.zeros_like(backwards[0])]
        return [torch.cat(pair, -1) for pair in zip(forwards, backwards, strict=True)]

    inputs = sequence()
    check(net, reference, inputs)
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(inputs), net.forward(inputs))


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="ops is"):
        nn.MuFuRu(3, 4, ["keep", "drop"])
    net = nn.Sequencer(nn.Linear(3, 2))
    with pytest.raises(ValueError, match="remember is 'always'"):
        net.remember("always")
    with pytest.raises(TypeError, match=r"nn\.Sequencer.*input is an? int"):
        net.forward(3)
    with pytest.raises(ValueError, match="rho is 0"):
        nn.Repeater(nn.Linear(3, 2), 0)
    with pytest.raises(TypeError, match="has no maskZero"):
        CELLS["Recurrent"][0]().maskZero(1)


# Padding.


@pytest.mark.parametrize("name", ["FastLSTM", "GRU"])
def test_zero_rows_give_zeros_and_reset_the_memory(name: str) -> None:
    build, formula = CELLS[name]
    cell = build()
    plain = cell.clone()
    net = nn.Sequencer(cell.maskZero(1))
    inputs = sequence(4, (1, 3))
    inputs[1] = torch.zeros(1, 3)
    outputs = net.forward(inputs)
    assert_same(outputs[0], formula(plain)(inputs[:1])[0])
    assert outputs[1].abs().sum() == 0
    assert_same(outputs[2:], formula(plain)(inputs[2:]))
    gradInput = net.backward(inputs, [torch.ones(1, 4)] * 4)
    assert gradInput[1].abs().sum() == 0 and gradInput[2].abs().sum() > 0
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(inputs), outputs)


def test_lookup_table_with_an_index_for_padding() -> None:
    table = nn.LookupTableMaskZero(4, 3)
    output = table.forward(torch.tensor([[0, 4, 1]]))
    assert output[0, 0].abs().sum() == 0
    assert_same(output[0, 1:], table.weight[[4, 1]])


# Whole sequences as tensors.


def test_seq_lstm_is_a_sequence_of_fast_lstm() -> None:
    net = nn.SeqLSTM(3, 4)
    assert_same(net.bias, torch.tensor([0.0] * 4 + [1.0] * 4 + [0.0] * 8))

    def reference(x: Tensor) -> Tensor:
        Wx, Wh = net.weight[:3], net.weight[3:]
        h = c = x.new_zeros(x.size(1), 4)
        outputs = []
        for step in x:
            i, f, o, g = (step @ Wx + h @ Wh + net.bias).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs.append(h)
        return torch.stack(outputs)

    x = torch.randn(5, 2, 3)
    check(net, reference, x)
    again = t7.loads(t7.dumps(net))
    assert_same(again.forward(x), net.forward(x))
    net.batchfirst = True
    check(net, lambda x: reference(x.transpose(0, 1)).transpose(0, 1), x.transpose(0, 1))
    converted = net.to_torch()
    assert_same(converted(x.transpose(0, 1)), net.forward(x.transpose(0, 1)))
    assert converted.weight_hh_l0.requires_grad and not converted.bias_hh_l0.requires_grad
    net.maskZero()
    x[1, 0] = 0
    masked = x.transpose(0, 1)
    assert_same(net.to_torch()(masked), net.forward(masked))


def test_seq_gru_is_a_sequence_of_gru() -> None:
    net = nn.SeqGRU(3, 4)

    def reference(x: Tensor) -> Tensor:
        Wx, Wh = net.weight[:3], net.weight[3:]
        h = x.new_zeros(x.size(1), 4)
        outputs = []
        for step in x:
            sums = step @ Wx + net.bias
            r, u = (sums[:, :8] + h @ Wh[:, :8]).sigmoid().chunk(2, 1)
            new = (sums[:, 8:] + (r * h) @ Wh[:, 8:]).tanh()
            h = (1 - u) * new + u * h
            outputs.append(h)
        return torch.stack(outputs)

    x = torch.randn(5, 2, 3)
    check(net, reference, x)
    assert_same(t7.loads(t7.dumps(net)).forward(x), net.forward(x))


@pytest.mark.parametrize("build", [nn.SeqLSTM, nn.SeqGRU])
def test_states_of_whole_sequences(build: Any) -> None:
    net = build(3, 4)
    x = torch.randn(6, 2, 3)
    whole = net.forward(x)
    net.remember("both")
    net.forget()
    assert_same(torch.cat([net.forward(x[:3]), net.forward(x[3:])]), whole)
    net.evaluate()
    assert_same(net.forward(x), whole)
    net.remember("neither")
    start = torch.zeros(2, 4)
    given = [start, start, x] if build is nn.SeqLSTM else [start, x]
    output = net.training().forward(given)
    assert_same(output, whole)
    assert len(net.backward(given, output)) == len(given)


WHOLE = {"SeqLSTM": nn.SeqLSTM, "SeqGRU": nn.SeqGRU, "LSTM": torch_rnn.LSTM}
WHOLE["VanillaRNN"] = torch_rnn.VanillaRNN
whole = pytest.mark.parametrize("build", WHOLE.values(), ids=WHOLE)


@whole
@pytest.mark.parametrize("size", [(1, 4), (3, 4), (64, 4), (2, 3), (2, 400), (4,), (2, 4, 1)])
def test_a_state_of_another_size_is_refused(build: Any, size: tuple[int, ...]) -> None:
    # In single precision PyTorch's LSTM would read, and write, as much as there should be.
    net = build(3, 4).float()
    input = [torch.randn(size).float(), torch.randn(2, 2, 3).float()]
    with pytest.raises(ValueError, match=r"input has a state of size .*; 2 x 4 is accepted"):
        net.forward(input)
    with pytest.raises(ValueError, match="input is a table of 5; up to"):
        net.forward([torch.zeros(2, 4)] * 4 + input[1:])
    with pytest.raises(TypeError, match=r"input\[1\] is torch\.float64"):
        net.forward([torch.zeros(2, 4).double(), input[1]])
    if build is nn.SeqLSTM:
        cell = torch.zeros(2, 4).float()
        with pytest.raises(ValueError, match="input has a state of size"):
            net.forward([cell, *input])


@whole
def test_a_remembered_state_of_another_size_is_refused(build: Any) -> None:
    net = build(3, 4).float()
    net.remember_states = True
    if isinstance(net, (nn.SeqLSTM, nn.SeqGRU)):
        net.remember("both").batchfirst = True
    forget = net.forget if hasattr(net, "forget") else net.resetStates
    x = torch.randn(3, 5, 3).float()
    net.forward(x)
    with pytest.raises(ValueError, match="input has 2 sequences, the call before had 3; to remem"):
        net.forward(x[:2])
    assert net.forward(x).shape == (3, 5, 4)
    forget()
    assert net.forward(x[:2]).shape == (2, 5, 4)


@pytest.mark.parametrize("name", ["userPrevOutput", "userPrevCell"])
@pytest.mark.parametrize("size", [(1, 4), (2, 9)])
def test_a_user_given_state_of_another_size_is_refused(name: str, size: tuple[int, int]) -> None:
    net, x = nn.SeqLSTM(3, 4).float(), torch.randn(5, 2, 3).float()
    setattr(net, name, torch.zeros(size).float())
    with pytest.raises(ValueError, match=f"{name} is a state of size .* 2 x 4 is accepted"):
        net.forward(x)
    setattr(net, name, torch.ones(2, 4).float())
    first, second = net.forward(x), net.forward(x)
    assert not torch.equal(first, second)


@whole
@pytest.mark.parametrize("change", ["weight", "bias"])
def test_parameters_of_another_size_are_refused(build: Any, change: str) -> None:
    net = build(3, 4).float()
    parameter = getattr(net, change)
    for wrong in (parameter[:-1], parameter[..., :-1], parameter[..., :1], parameter[:0]):
        setattr(net, change, wrong.clone())
        with pytest.raises(ValueError, match=r"(is|are) accepted"):
            net.forward(torch.randn(2, 5, 3).float())


@whole
def test_gradients_of_parameters_are_scaled(build: Any) -> None:
    net, x = build(3, 4), torch.randn(5, 2, 3)
    grad = torch.randn_like(net.forward(x))
    net.zeroGradParameters()
    net.backward(x, grad)
    expected = [2.5 * g for g in net.parameters()[1]]
    net.accGradParameters(x, grad, 0.5)
    net.backward(x, grad, 1)
    assert_same(net.parameters()[1], expected)


@whole
def test_gradients_of_another_size_than_the_sequence_are_refused(build: Any) -> None:
    net, x = build(3, 4), torch.randn(5, 2, 3)
    net.forward(x)
    for wrong in (torch.ones(1), torch.ones(2, 5, 4), torch.ones(5, 2, 9), torch.ones(5, 2)):
        with pytest.raises(ValueError, match=r"gradOutput has size .*; that of the output"):
            net.backward(x, wrong)


WHOLE_FORMULAS: dict[str, Callable[..., Any]] = {
    "SeqLSTM": lambda net: _whole_lstm(net, False),
    "LSTM": lambda net: _whole_lstm(net, True),
    "SeqLSTMP": lambda net: _whole_lstm(net, False),
    "VanillaRNN": lambda net: _vanilla(net),
}


def _whole_lstm(net: Any, batch_first: bool) -> Callable[[Any], Any]:
    def run(input: Any) -> Any:
        c, h, x = input
        features = x.size(2)
        outputs = []
        for step in x.unbind(int(batch_first)):
            sums = step @ net.weight[:features] + h @ net.weight[features:] + net.bias
            i, f, o, g = sums.chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            h = h if getattr(net, "weightO", None) is None else h @ net.weightO
            outputs.append(h)
        return torch.stack(outputs, int(batch_first))

    return run


def _vanilla(net: Any) -> Callable[[Any], Any]:
    def run(input: Any) -> Any:
        h, x = input
        outputs = []
        for step in x.unbind(1):
            h = (step @ net.weight[:3] + h @ net.weight[3:] + net.bias).tanh()
            outputs.append(h)
        return torch.stack(outputs, 1)

    return run


@pytest.mark.parametrize("name", WHOLE_FORMULAS)
def test_whole_sequences_from_given_states(name: str) -> None:
    build = {**WHOLE, "SeqLSTMP": lambda inputs, outputs: nn.SeqLSTMP(inputs, 5, outputs)}[name]
    net = build(3, 4)
    batch = 2 if name.startswith("Seq") else 6
    states = [torch.randn(batch, 4)]
    if name != "VanillaRNN":
        states.insert(0, torch.randn(batch, 5 if name == "SeqLSTMP" else 4))
    check(net, WHOLE_FORMULAS[name](net), [*states, torch.randn(6, 2, 3)[:, :, :]])
    strided = torch.randn(3, 2, 6).permute(2, 1, 0)
    check(net, WHOLE_FORMULAS[name](net), [*states, strided])


@cells
def test_clones_and_files_go_on_with_the_memory(build: Callable[[], Any], formula: Any) -> None:
    cell = build()
    inputs = sequence(4)
    expected = formula(cell)(inputs)
    for x in inputs[:2]:
        cell.forward(x)
    for other in (cell.clone(), t7.loads(t7.dumps(cell)), pickle.loads(pickle.dumps(cell))):
        assert other.step == 3
        assert_same([other.forward(x) for x in inputs[2:]], expected[2:])
        other.forget()
        assert_same(other.forward(inputs[0]), expected[0])
    assert_same([cell.forward(x) for x in inputs[2:]], expected[2:])
    assert t7.loads(t7.dumps(cell.clearState())).step == 1


def test_a_converted_net_goes_on_with_the_memory() -> None:
    cell = nn.GRU(3, 4)
    inputs = sequence(2)
    cell.forward(inputs[0])
    memory = cell.output
    output = cell.float().forward(inputs[1].float())
    cell.double().forget()
    cell.userPrevOutput = memory
    torch.testing.assert_close(output, cell.forward(inputs[1]).float())


@pytest.mark.parametrize("name", ["LSTM", "GRU", "FastLSTM"])
def test_a_sequence_as_a_tensor(name: str) -> None:
    build, formula = CELLS[name]
    cell = build()
    check(nn.Sequencer(cell), lambda x: torch.stack(formula(cell)(list(x))), torch.randn(4, 2, 3))


def test_files_of_sequencers_hold_tables_where_lua_fills_them() -> None:
    def fields(module: Any) -> Any:
        return t7.loads(t7.dumps(module), raw=True).fields

    cell = nn.FastLSTM(3, 4)
    assert fields(cell)["gradOutputs"] == {} and fields(nn.GRU(3, 4))["gradOutputs"] == {}
    sequencer = nn.Sequencer(cell)
    for module in (nn.ReverseTable(), nn.Repeater(cell, 2), sequencer, nn.BiSequencer(cell)):
        assert fields(module)["output"] == {}
    sequencer.evaluate().forward(torch.randn(3, 2, 3))
    held = fields(sequencer)
    assert held["output"] == held["tableoutput"] == held["_output"] == {}
    assert fields(nn.RepeaterCriterion(nn.MSECriterion()))["clones"] == {}
    repeater = nn.Repeater(cell, 2)
    repeater.forward(torch.randn(2, 3))
    assert fields(repeater)["output"] == {}


@pytest.mark.parametrize("build", [nn.SeqLSTM, nn.SeqGRU])
def test_zero_rows_of_whole_sequences(build: Any) -> None:
    net = build(3, 4).maskZero()
    x = torch.randn(5, 2, 3)
    x[2, 0] = 0
    output = net.forward(x)
    assert output[2, 0].abs().sum() == 0
    assert_same(output[3:, :1], build_like(net).forward(x[3:, :1]))
    assert_same(output[:, 1:], build_like(net).forward(x[:, 1:]))


def build_like(net: Any) -> Any:
    other = net.clone()
    other.maskzero = False
    return other


def test_both_directions_of_whole_sequences() -> None:
    net = nn.SeqBRNN(3, 4, True)
    x = torch.randn(2, 5, 3)
    forwards, backwards = (m.clone() for m in (net.forwardModule, net.backwardModule))
    steps = x.transpose(0, 1)
    expected = forwards.forward(steps) + backwards.forward(steps.flip(0)).flip(0)
    assert_same(net.forward(x), expected.transpose(0, 1))
    assert_same(t7.loads(t7.dumps(net)).forward(x), net.forward(x))


def test_shared_clones_train_the_same_parameters() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    clone = rnn.shared_clone(net)
    assert clone.get(1) is not net.get(1)
    assert clone.get(1).weight is net.get(1).weight
    clone.forward(torch.ones(1, 2))
    clone.backward(torch.ones(1, 2), torch.ones(1, 2))
    assert net.get(1).gradWeight.abs().sum() > 0


def test_sadd_of_a_file_without_negate() -> None:
    module = t7.loads(t7.dumps(nn.SAdd(2)))
    del module.negate
    assert torch.equal(module.forward(torch.zeros(3)), torch.full((3,), 2.0))


def test_mask_zero_criterion_of_numbers() -> None:
    criterion = nn.MaskZeroCriterion(nn.MSECriterion(), 0)
    input, target = torch.tensor([1.0, 0.0, 3.0]), torch.tensor([2.0, 5.0, 1.0])
    assert criterion.forward(input, target) == (1 + 4) / 2
    assert_same(criterion.backward(input, target), torch.tensor([-1.0, 0.0, 2.0]))


def attention(forwardActions: bool = False) -> nn.RecurrentAttention:
    rnn = nn.Sequential(nn.JoinTable(1, 1), nn.Linear(5, 4))
    locator = nn.Sequential(nn.Linear(4, 2), nn.ReinforceNormal(0.5))
    module = nn.RecurrentAttention(rnn, locator, 3, [4])
    module.forwardActions = forwardActions
    return module


def test_attention_takes_rewards_and_gives_its_actions_no_gradient() -> None:
    net, x = attention(), torch.randn(2, 3)
    outputs = net.forward(x)
    assert len(outputs) == len(net.actions) == 3
    linear, locate = net.rnn.modules[0].get(2), net.action.modules[0].get(1)
    states = [torch.zeros(2, 4), *outputs]
    for state, action, output in zip(states[:-1], net.actions, outputs, strict=True):
        assert_same(output, torch.cat([x, action], 1) @ linear.weight.t() + linear.bias)
        assert action.shape == locate.weight.new_empty(2, 2).shape and state.shape == (2, 4)
    reward = torch.randn(2)
    net.zeroGradParameters()
    net.reinforce(reward)
    given = [torch.randn(2, 4) for _ in outputs]
    net.backward(x, given)
    of_bias = torch.zeros(2)
    for state, action in zip(states[:-1], net.actions, strict=True):
        mean = state @ locate.weight.t() + locate.bias
        of_bias += (-(action - mean) / 0.25 * reward.view(2, 1)).sum(0)
    torch.testing.assert_close(locate.gradBias, of_bias.detach())


def test_attention_may_forward_its_actions() -> None:
    net = attention(True)
    outputs = net.forward(torch.randn(2, 3))
    assert [[tuple(t.shape) for t in pair] for pair in outputs] == [[(2, 4), (2, 2)]] * 3


def test_attention_in_files() -> None:
    net = attention()
    net.evaluate()
    again, x = t7.loads(t7.dumps(net)), torch.randn(2, 3)
    assert again.nStep == 3 and again.hiddenSize == [4] and len(again.modules) == 2
    for found, expected in zip(again.forward(x), net.forward(x), strict=True):
        assert_same(found, expected)
    assert "action : nn.Recursor @ nn.Sequential {" in repr(again)
