"""The recurrent classes as torch.nn modules compute what they computed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import nn, random
from compat.char_rnn import OneHot
from compat.nn.interchange.recurrent.memory import forget
from compat.nn.recurrent import torch_rnn
from compat.tensor_tables import tensors

STEP = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
STEPS = [STEP, STEP.flip(0) / 2, -STEP, STEP + 1]
PADDED = [STEP, STEP * torch.tensor([[0.0], [1.0]]), -STEP]
SEQUENCE = torch.stack(STEPS)
PADDED_SEQUENCE = torch.stack(PADDED)


def assert_same(converted: Any, net: Any, input: Any, calls: int = 3) -> None:
    for _ in range(calls):
        expected, found = net.forward(input), converted(input)
        assert isinstance(found, torch.Tensor) == isinstance(expected, torch.Tensor)
        torch.testing.assert_close(list(tensors(found)), list(tensors(expected)))


def merged() -> Any:
    both = nn.ParallelTable().add(nn.Linear(3, 4)).add(nn.Linear(4, 4))
    return nn.Sequential(both, nn.CAddTable(), nn.Tanh())


def remembering(layer: Any) -> Any:
    layer.remember_states = True
    return layer


def batch_first(layer: Any) -> Any:
    layer.batchfirst = True
    return layer


NETS: dict[str, tuple[Callable[[], Any], Any]] = {
    "LSTM": (lambda: nn.LSTM(3, 4), STEP),
    "LSTM of a sample": (lambda: nn.LSTM(3, 4), STEP[0]),
    "FastLSTM": (lambda: nn.FastLSTM(3, 4), STEP),
    "GRU": (lambda: nn.GRU(3, 4), STEP),
    "MuFuRu": (lambda: nn.Sequencer(nn.MuFuRu(3, 4)), STEPS),
    "NormStabilizer": (
        lambda: nn.Sequencer(nn.Sequential(nn.LSTM(3, 4), nn.NormStabilizer(0.5))),
        STEPS,
    ),
    "Recursor": (lambda: nn.Recursor(nn.Sequential(nn.GRU(3, 4))), STEP),
    "Recurrence": (lambda: nn.Recurrence(merged(), 4, 1), STEP),
    "Recurrent": (lambda: nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4)), STEP),
    "Sequencer": (lambda: nn.Sequencer(nn.Sequential(nn.LSTM(3, 4), nn.LogSoftMax())), STEPS),
    "Sequencer of a tensor": (lambda: nn.Sequencer(nn.Linear(3, 4)), SEQUENCE),
    "remember": (lambda: nn.Sequencer(nn.LSTM(3, 4)).remember("both"), STEPS),
    "remember in evaluation": (lambda: nn.Sequencer(nn.LSTM(3, 4)).remember("eval"), STEPS),
    "Repeater": (lambda: nn.Repeater(nn.LSTM(3, 3), 3), STEP),
    "BiSequencer": (lambda: nn.BiSequencer(nn.LSTM(3, 4)), STEPS),
    "BiSequencerLM": (lambda: nn.BiSequencerLM(nn.LSTM(3, 4)), STEPS),
    "MaskZero": (lambda: nn.Sequencer(nn.MaskZero(nn.Linear(3, 4), 1)), PADDED),
    "TrimZero": (lambda: nn.Sequencer(nn.TrimZero(nn.Linear(3, 4), 1)), PADDED),
    "maskZero": (lambda: nn.Sequencer(nn.LSTM(3, 4).maskZero(1)), PADDED),
    "LookupTableMaskZero": (lambda: nn.LookupTableMaskZero(5, 3), torch.tensor([[0, 1], [5, 0]])),
    "SeqLSTM": (lambda: nn.SeqLSTM(3, 4), SEQUENCE),
    "SeqLSTM with states": (
        lambda: nn.SeqLSTM(3, 4),
        [torch.ones(2, 4), torch.ones(2, 4), SEQUENCE],
    ),
    "SeqLSTM, batch first": (lambda: batch_first(nn.SeqLSTM(3, 4)), SEQUENCE),
    "SeqLSTM, remember": (lambda: nn.SeqLSTM(3, 4).remember("both"), SEQUENCE),
    "SeqLSTM, maskZero": (lambda: nn.SeqLSTM(3, 4).maskZero(), PADDED_SEQUENCE),
    "SeqLSTMP": (lambda: nn.SeqLSTMP(3, 4, 2), SEQUENCE),
    "SeqLSTMP, batch first": (lambda: batch_first(nn.SeqLSTMP(3, 4, 2)), SEQUENCE),
    "SeqLSTMP, maskZero": (lambda: nn.SeqLSTMP(3, 4, 2).maskZero(), PADDED_SEQUENCE),
    "SeqGRU": (lambda: nn.SeqGRU(3, 4), SEQUENCE),
    "SeqGRU, batch first": (lambda: batch_first(nn.SeqGRU(3, 4)), SEQUENCE),
    "SeqGRU, remember": (lambda: nn.SeqGRU(3, 4).remember("both"), SEQUENCE),
    "SeqGRU, maskZero": (lambda: nn.SeqGRU(3, 4).maskZero(), PADDED_SEQUENCE),
    "SeqLSTM, projected": (lambda: nn.SeqLSTM(3, 4, 2), SEQUENCE),
    "SeqBRNN": (lambda: nn.SeqBRNN(3, 4), SEQUENCE),
    "SeqBLSTM": (lambda: nn.SeqBLSTM(3, 4, nn.JoinTable(3)), SEQUENCE),
    "SeqBGRU": (lambda: nn.SeqBGRU(3, 4), SEQUENCE),
    "RecLSTM": (lambda: nn.Sequencer(nn.RecLSTM(3, 4)), STEPS),
    "RecLSTM, projected": (lambda: nn.Sequencer(nn.RecLSTM(3, 4, 2)), STEPS),
    "RecGRU": (lambda: nn.Sequencer(nn.RecGRU(3, 4)).remember("both"), STEPS),
    "LinearRNN": (lambda: nn.Sequencer(nn.LinearRNN(3, 4)), STEPS),
    "LookupRNN": (lambda: nn.Sequencer(nn.LookupRNN(5, 4)), torch.tensor([[0, 1], [5, 2]])),
    "ReverseSequence": (lambda: nn.ReverseSequence(), STEPS),
    "torch-rnn LSTM": (lambda: torch_rnn.LSTM(3, 4), SEQUENCE),
    "torch-rnn LSTM, remembering": (lambda: remembering(torch_rnn.LSTM(3, 4)), SEQUENCE),
    "torch-rnn LSTM, given h0": (
        lambda: remembering(torch_rnn.LSTM(3, 4)),
        [torch.ones(4, 4), SEQUENCE],
    ),
    "torch-rnn VanillaRNN": (lambda: remembering(torch_rnn.VanillaRNN(3, 4)), SEQUENCE),
    "char-rnn OneHot": (lambda: OneHot(4), torch.tensor([1, 4, 2])),
}


@pytest.mark.parametrize("name", NETS)
def test_a_recurrent_net_computes_the_same(name: str) -> None:
    make, input = NETS[name]
    net = make()
    converted = net.to_torch()
    assert_same(converted, net, input)
    net.evaluate()
    assert_same(converted.eval(), net, input)
    assert not any(isinstance(module, nn.Native) for module in converted.modules())


def test_it_is_trained_as_before() -> None:
    net = nn.Sequencer(nn.Sequential(nn.FastLSTM(3, 4), nn.Linear(4, 2)))
    converted = net.to_torch()
    outputs = converted(STEPS)
    gradOutput = [torch.ones_like(output) for output in outputs]
    torch.autograd.backward(outputs, gradOutput)
    net.zeroGradParameters()
    net.forward(STEPS)
    net.backward(STEPS, gradOutput)
    expected = [p.grad for p in net.parameters()[0]]
    torch.testing.assert_close([p.grad for p in converted.parameters()], expected)


def test_changing_norms_cost_as_before() -> None:
    net = nn.Sequencer(nn.NormStabilizer(0.5))
    leaves = [step.clone().requires_grad_() for step in STEPS]
    gradOutput = [torch.ones_like(step) for step in STEPS]
    torch.autograd.backward(net.to_torch()(leaves), gradOutput)
    net.forward(STEPS)
    torch.testing.assert_close([leaf.grad for leaf in leaves], net.backward(STEPS, gradOutput))


def test_a_projection_that_pytorch_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="outputsize of 4; less than the hiddensize, 4"):
        nn.SeqLSTMP(3, 4, 4).to_torch()


def test_the_memory_is_let_go_and_is_no_part_of_copies() -> None:
    converted: Any = nn.Sequencer(nn.LSTM(3, 4)).remember("both").to_torch()
    first = converted(STEPS)
    for other in (copy.deepcopy(converted), pickle.loads(pickle.dumps(converted))):
        torch.testing.assert_close(other(STEPS), first)
    converted(STEPS)[-1].sum().backward()  # ends at what the sequence before left
    forget(converted)
    torch.testing.assert_close(converted(STEPS), first)


def language_model() -> Any:
    random.manualSeed(1)
    return nn.LanguageModel(
        idx_to_token={1: "a", 2: "b", 3: "c"},
        model_type="lstm",
        wordvec_size=4,
        rnn_size=5,
        num_layers=2,
        dropout=0.5,
        batchnorm=1,
    )


def test_torch_rnns_model_of_texts() -> None:
    net = language_model().evaluate()
    converted = net.to_torch()
    for size in ((2, 4), (2, 1), (2, 4)):
        assert_same(converted, net, torch.randint(1, 4, size), 1)
    forget(converted)
    net.resetStates()
    assert_same(converted, net, torch.randint(1, 4, (3, 2)), 1)


def test_names_of_torch_rnns_weights() -> None:
    names = list(language_model().to_torch().state_dict())
    assert names[:3] == ["net.0.weight", "net.1.weight_ih_l0", "net.1.weight_hh_l0"]


def test_states_set_by_hand_are_refused() -> None:
    layer = nn.SeqLSTM(3, 4)
    layer.userPrevOutput = torch.zeros(2, 4)
    with pytest.raises(ValueError, match="begins with states of its own"):
        layer.to_torch()


def test_the_first_step_may_begin_with_given_memory() -> None:
    layer = nn.LSTM(3, 4)
    layer.userPrevOutput, layer.userPrevCell = torch.ones(2, 4), torch.ones(2, 4)
    converted = layer.to_torch()
    assert_same(converted, layer, STEP)


def gradient(converted: Any, input: Tensor) -> Tensor:
    input = input.clone().requires_grad_()
    converted(input).sum().backward()
    assert input.grad is not None
    return input.grad


@pytest.mark.parametrize("make", [nn.SeqLSTM, nn.SeqGRU, torch_rnn.LSTM, torch_rnn.VanillaRNN])
def test_gradients_of_layers_over_sequences(make: Any) -> None:
    net = make(3, 4)
    converted = net.to_torch()
    output = net.forward(SEQUENCE)
    torch.testing.assert_close(
        gradient(converted, SEQUENCE), net.backward(SEQUENCE, torch.ones_like(output))
    )
