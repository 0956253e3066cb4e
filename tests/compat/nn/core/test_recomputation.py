"""Results of inner modules after backward, which frees them: computed again when read."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from support.nn_golden import case_names, copied, load_case, restored
from support.tensors import randn
from torch import Tensor

from compat import nn, random, t7

pytestmark = pytest.mark.usefixtures("double_by_default")


class _Counted(nn.Module):
    """Passes its input on and counts how often it goes forward."""

    repeatable = True

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def compute(self, input: Tensor) -> Tensor:
        self.seen.append(1)
        return 1 * input


def net() -> Any:
    return nn.Sequential(_Counted(), nn.Linear(4, 5), nn.BatchNormalization(5), nn.Linear(5, 3))


INPUT, GRADIENT = torch.randn(6, 4).double(), torch.randn(6, 3).double()


def step(module: Any) -> None:
    module.zeroGradParameters()
    module.forward(INPUT)
    module.backward(INPUT, GRADIENT)


def results(module: Any) -> list[Any]:
    """Outputs and gradInputs of all modules, and all they hold."""
    inner = module.listModules()
    state = [v.clone() for m in inner for v in vars(m).values() if isinstance(v, Tensor)]
    read = [[copied(m.output), copied(m.gradInput)] for m in inner]
    after = [v.clone() for m in inner for v in vars(m).values() if isinstance(v, Tensor)]
    assert all(torch.equal(a, b) for a, b in zip(state, after, strict=True))
    return [*read, state]


def test_they_are_what_they_would_have_been() -> None:
    one, other = net(), net()
    for p, q in zip(one.parameters()[0], other.parameters()[0], strict=True):
        p.copy_(q)
    other.keepResults()
    for module in (one, other):
        step(module)
    torch.testing.assert_close(results(one), results(other), rtol=1e-12, atol=1e-12)


def cases() -> list[Any]:
    """One case of each recorded class that a net can be built around."""
    chosen = {}
    for name, case in case_names("nn"):
        if "float" not in case and "evaluate" not in case and name not in chosen:
            chosen[name] = pytest.param(name, case, id=name)
    return list(chosen.values())


@pytest.mark.parametrize(("name", "case"), cases())
def test_every_module_repeats_itself_or_says_that_it_does_not(name: str, case: str) -> None:
    recorded = load_case("nn", name, case)
    if "gradOutput" not in recorded:
        return
    found = []
    for keep in (False, True):
        random.manualSeed(2)
        module = nn.Sequential(nn.Identity(), restored(recorded, "module"), nn.Identity())
        module.keepResults(keep)
        input = copied(recorded["input"])
        module.training()
        module.zeroGradParameters()
        random.manualSeed(3)
        module.forward(input)
        random.manualSeed(4)
        module.backward(input, copied(recorded["gradOutput"]))
        random.manualSeed(5)
        found.append([copied(module.get(i).output) for i in (1, 2, 3)])
        random.manualSeed(4)
        found[-1] += [copied(module.get(i).gradInput) for i in (3, 2)]
        found[-1].append([p.clone() for p in module.parameters()[0]])
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-9, equal_nan=True)


def test_who_reads_once_finds_them_kept_from_then_on() -> None:
    module = net()
    counted = module.get(1).seen
    step(module)
    step(module)
    assert len(counted) == 2
    _ = module.output, module.gradInput
    assert len(counted) == 2
    _ = module.get(2).output, module.get(3).gradInput
    assert len(counted) == 3
    step(module)
    _ = module.get(2).output, module.get(3).gradInput
    assert len(counted) == 4
    module.clearState()
    step(module)
    _ = module.get(2).output
    assert len(counted) == 6


def test_what_was_read_stays_the_same_object() -> None:
    module = net()
    module.zeroGradParameters()
    output = module.forward(INPUT)
    inner = module.get(2).output
    gradInput = module.backward(INPUT, GRADIENT)
    assert module.get(2).output is inner
    _ = module.get(3).output
    assert module.output is output and module.gradInput is gradInput
    assert module.get(2).output is inner


def test_going_back_twice() -> None:
    module = net()
    step(module)
    once = [g.clone() for g in module.parameters()[1]]
    module.backward(INPUT, GRADIENT)
    torch.testing.assert_close(module.parameters()[1], [2 * g for g in once])
    step(module)
    # An inner module may go back by itself.
    linear = module.get(4)
    linear.backward(linear.latest_record.input, GRADIENT)
    torch.testing.assert_close(linear.gradWeight, 2 * once[-2])


def test_backward_frees_what_only_it_needs() -> None:
    module = net()
    module.forward(INPUT)
    held = [weakref.ref(record.output) for record in module.latest_tape.records[1:-1]]
    module.backward(INPUT, GRADIENT)
    gc.collect()
    assert [ref() for ref in held] == [None] * 3


@pytest.mark.parametrize("part", [nn.Dropout(0.5), torch.nn.Dropout(), nn.ReLU(True)])
def test_nets_that_would_not_repeat_themselves_keep_everything(part: Any) -> None:
    module = nn.Sequential(part, nn.Linear(4, 3))
    input = INPUT.clone()
    output = module.forward(input).clone()
    module.backward(input, GRADIENT)
    inner = module.get(1).output
    torch.testing.assert_close(inner @ module.get(2).weight.T + module.get(2).bias, output)
    assert not module.latest_tape.spent


def test_classes_of_ones_own_keep_everything_unless_they_say_otherwise() -> None:
    class _Mine(nn.Module):
        def compute(self, input: Tensor) -> Tensor:
            return input + torch.rand(())

    class _MyLinear(nn.Linear):
        def compute(self, input: Tensor) -> Tensor:
            return super().compute(input) + torch.rand(())

    class _Named(nn.Linear):
        pass

    assert not _Mine.repeatable and not _MyLinear.repeatable
    assert nn.Linear.repeatable and _Named.repeatable
    assert not nn.Dropout.repeatable and not nn.RReLU.repeatable


@pytest.mark.parametrize(
    ("module", "input"),
    [
        (nn.SeqLSTM(4, 5), randn(3, 2, 4)),
        (nn.SeqGRU(4, 5), randn(3, 2, 4)),
        (nn.SeqBRNN(4, 5), randn(3, 2, 4)),
        (nn.Sequencer(nn.LSTM(4, 5)), [randn(2, 4) for _ in range(3)]),
        (nn.Sequencer(nn.Sequential(nn.Linear(4, 5), nn.GRU(5, 5))), [randn(2, 4)] * 3),
        (nn.Repeater(nn.LSTM(4, 5), 3), randn(2, 4)),
        (nn.BiSequencer(nn.FastLSTM(4, 5)), [randn(2, 4) for _ in range(3)]),
        (nn.MaskZero(nn.Linear(4, 5), 1), randn(2, 4)),
    ],
    ids=lambda value: getattr(value, "typename", ""),
)
def test_recurrent_nets_let_go_of_results_too(module: nn.Module, input: Any) -> None:
    net = nn.Sequential(nn.Identity(), module, nn.Identity()).double()
    output = net.forward(input)
    net.backward(input, output)
    assert net.latest_tape.spent
    expected = nn.Sequential(nn.Identity(), module.clone(), nn.Identity())
    expected.forward(input)
    torch.testing.assert_close(net.get(2).output, expected.get(2).output, rtol=0, atol=0)


def test_a_net_that_remembers_keeps_its_results() -> None:
    for module in (nn.Sequencer(nn.LSTM(4, 5)).remember(), nn.SeqLSTM(4, 5).remember()):
        net = nn.Sequential(nn.Identity(), module).double()
        input = randn(3, 2, 4) if isinstance(module, nn.SeqLSTM) else [randn(2, 4)] * 3
        net.backward(input, net.forward(input))
        assert not net.latest_tape.spent


def test_computing_again_leaves_memories_as_they_are() -> None:
    lstm = nn.LSTM(4, 5)
    net = nn.Sequential(nn.Identity(), nn.Sequencer(lstm)).double()
    input = [randn(2, 4) for _ in range(3)]
    net.backward(input, net.forward(input))
    lstm.evaluate()
    lstm.forget()
    first = lstm.forward(input[0]).clone()
    before = [m.clone() for m in lstm.getHiddenState()]
    assert net.get(1).output is not None  # computed again
    assert all(map(torch.equal, before, lstm.getHiddenState())) and lstm.step == 2
    assert torch.equal(lstm.output, first)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda net: net.updateParameters(0.1), "the parameters have changed since backward"),
        (lambda net: net.evaluate(), "the net was switched between training and evaluation"),
        (lambda net: net.input.add_(1), "the input was changed in place since backward"),
    ],
    ids=["update", "evaluate", "input"],
)
def test_what_cannot_be_computed_again_is_refused(change: Any, message: str) -> None:
    module = net()
    input = module.input = INPUT.clone()
    for _ in range(3):
        # After the second time, it no longer notes what it takes.
        module.zeroGradParameters()
        module.forward(input)
        module.backward(input, GRADIENT)
        module.updateParameters(0)
    module.forward(input)
    module.backward(input, GRADIENT)
    change(module)
    with pytest.raises(RuntimeError, match=f"{message}.*has freed what output of nn.Linear needs"):
        _ = module.get(2).output
    with pytest.raises(RuntimeError, match=f"{message}.*call keepResults()"):
        _ = module.get(2).gradInput
    # What is known is there.
    assert module.output.shape == (6, 3) and module.gradInput.shape == (6, 4)


def test_a_net_that_is_gone() -> None:
    module = net()
    linear = module.get(2)
    step(module)
    del module
    gc.collect()
    with pytest.raises(RuntimeError, match="the net around was dropped since backward"):
        _ = linear.output


def overwritten_between(module: Any) -> Any:
    """The gradInput of an inner module, read after the caller has overwritten gradOutput."""
    gradOutput = GRADIENT.clone()
    module.zeroGradParameters()
    module.forward(INPUT)
    module.backward(INPUT, gradOutput)
    gradOutput.zero_()
    return module.get(2).gradInput


@pytest.mark.parametrize("keep", [None, True])
def test_gradOutput_is_taken_as_it_was(keep: bool | None) -> None:
    one, other = net().keepResults(keep), net()
    for p, q in zip(one.parameters()[0], other.parameters()[0], strict=True):
        p.copy_(q)
    step(other)
    torch.testing.assert_close(overwritten_between(one), other.get(2).gradInput)
    torch.testing.assert_close(one.gradInput, other.gradInput)


def test_gradOutput_that_was_overwritten_is_refused_once() -> None:
    module = net()
    for _ in range(2):
        step(module)
        module.updateParameters(0.1)
    with pytest.raises(RuntimeError, match=r"gradOutput was changed.*gradInput of nn.Linear"):
        overwritten_between(module)
    expected = net()
    for p, q in zip(expected.parameters()[0], module.parameters()[0], strict=True):
        p.copy_(q)
    step(expected)
    torch.testing.assert_close(overwritten_between(module), expected.get(2).gradInput)


def test_gradOutput_of_inference_mode() -> None:
    module = net()
    with torch.inference_mode():
        gradOutput = GRADIENT.clone()
    for _ in range(3):
        module.zeroGradParameters()
        module.forward(INPUT)
        module.backward(INPUT, gradOutput)
        module.updateParameters(0)
    found = module.gradInput
    step(module)
    torch.testing.assert_close(found, module.gradInput)


def test_files_and_copies_do_not_compute() -> None:
    module = net()
    step(module)
    module.updateParameters(0.1)
    counted = len(module.get(1).seen)
    del module.modules[0]  # a class of the test's own has no place in a file
    again = t7.loads(t7.dumps(module))
    assert again.get(1).output.numel() == 0 and again.output.shape == (6, 3)
    module.clone()
    assert counted == 1
