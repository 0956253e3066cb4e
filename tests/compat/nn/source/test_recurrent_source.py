"""Recurrent nets as source: loops of any length, layers of torch.nn, states that go on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from compat import cudnn, nn, random
from compat.nn.recurrent import torch_rnn
from compat.nn.source.computed import Converted
from compat.nn.source.input import inputs
from compat.nn.source.written import Written, write
from compat.tensor_tables import tensors

WORDS = 50


def words(steps: int, batch: int) -> list[Tensor]:
    return [torch.randint(1, WORDS + 1, (batch,)) for _ in range(steps)]


def language_model() -> Any:
    """As the package rnn's examples have it."""
    step = nn.Sequential(nn.LookupTable(WORDS, 8), nn.FastLSTM(8, 16), nn.Dropout(0.5))
    step.add(nn.FastLSTM(16, 16)).add(nn.Linear(16, WORDS)).add(nn.LogSoftMax())
    return nn.Sequencer(step).remember("both").evaluate()


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.manualSeed(1)
    torch.manual_seed(1)


def test_a_language_model_reads_as_one() -> None:
    written = write(language_model(), words(5, 2))
    assert "def forward(\n        self,\n        indices: Tensor,\n        state:" in written.text
    assert "self.lstm = nn.LSTM(8, 16)" in written.text and "for step in" not in written.text
    assert "nn.Linear(16, 50), nn.LogSoftmax(dim=2)" in written.text
    assert "From T x N of indices from 0 to T x N x 50." in written.text


@pytest.mark.parametrize("cell", [nn.FastLSTM, nn.LSTM, nn.GRU])
def test_the_state_goes_on_and_sequences_have_any_length(cell: Any) -> None:
    net = nn.Sequencer(nn.Sequential(cell(3, 4), nn.Tanh(), cell(4, 4))).remember("both").evaluate()
    written = write(net, [torch.randn(2, 3) for _ in range(5)])
    net.forget()
    state = None
    for steps in (7, 1, 4):
        given = [torch.randn(3, 3) for _ in range(steps)]
        output, state = written.net(torch.stack(given), state)
        torch.testing.assert_close(output, torch.stack(net.forward(given)))
    begun, _ = written.net(torch.stack(given))
    net.forget()
    torch.testing.assert_close(begun, torch.stack(net.forward(given)))


@pytest.mark.parametrize("mode", ["both", "train", "eval", "neither"])
def test_a_net_that_remembers_in_any_mode_takes_a_state(mode: str) -> None:
    written = write(nn.Sequencer(nn.GRU(3, 4)).remember(mode), torch.randn(5, 2, 3))
    assert written.stateful == (mode != "neither")
    assert ("state" in inspect.signature(written.net.forward).parameters) == written.stateful


STEPS = list(torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(1)))
STATEFUL: dict[str, tuple[Callable[[], Any], Any]] = {
    "LSTM": (lambda: nn.LSTM(3, 4), STEPS[0]),
    "FastLSTM": (lambda: nn.FastLSTM(3, 4), STEPS[0]),
    "GRU": (lambda: nn.GRU(3, 4), STEPS[0]),
    "Recurrent": (lambda: nn.Recurrent(4, nn.Linear(3, 4), nn.Linear(4, 4)), STEPS[0]),
    "SeqLSTM": (lambda: nn.SeqLSTM(3, 4).remember(), torch.stack(STEPS)),
    "SeqLSTM, masked": (lambda: nn.SeqLSTM(3, 4).maskZero().remember(), torch.stack(STEPS)),
    "SeqGRU": (lambda: nn.SeqGRU(3, 4).remember(), torch.stack(STEPS)),
    "VanillaRNN": (lambda: remembering(torch_rnn.VanillaRNN(3, 4)), torch.stack(STEPS)),
    "cudnn": (lambda: remembering_cudnn(), torch.stack(STEPS)),
}


def remembering(layer: Any) -> Any:
    layer.remember_states = True
    return layer


def remembering_cudnn() -> Any:
    layer = cudnn.BLSTM(3, 4, 2)
    layer.rememberStates = True
    return layer


@pytest.mark.parametrize("name", STATEFUL)
def test_layers_with_a_state_go_on(name: str) -> None:
    make, input = STATEFUL[name]
    net = make().evaluate()
    net.forget() if hasattr(net, "forget") else None
    written = write(net, input)
    assert written.stateful
    state = None
    for factor in (1, -0.5, 2):
        output, state = written.net(input * factor, state)
        torch.testing.assert_close(output, net.forward(input * factor))


def test_only_what_is_exact_is_a_layer_of_torch() -> None:
    texts = {
        cls: write(nn.Sequencer(cls(3, 4)), STEPS).text for cls in (nn.FastLSTM, nn.LSTM, nn.GRU)
    }
    assert "nn.LSTM(3, 4)" in texts[nn.FastLSTM]
    assert "class LSTMStep(" in texts[nn.LSTM] and "nn.LSTM" not in texts[nn.LSTM]
    assert "class GRUStep(" in texts[nn.GRU] and "nn.GRU" not in texts[nn.GRU]


def test_both_directions() -> None:
    net = nn.BiSequencer(nn.FastLSTM(3, 4), nn.GRU(3, 4))
    written = write(net, STEPS)
    given = [torch.randn(2, 3) for _ in range(8)]
    torch.testing.assert_close(written.net(torch.stack(given)), torch.stack(net.forward(given)))


def test_the_last_step_of_a_split_sequence() -> None:
    net = nn.Sequential(nn.LookupTable(WORDS, 8), nn.SplitTable(1, 2), nn.Sequencer(nn.GRU(8, 6)))
    net.add(nn.SelectTable(-1)).add(nn.Linear(6, 2)).evaluate()
    found = inputs.found(Converted(net)(net))
    written = write(net, found.value)
    text = torch.randint(1, WORDS + 1, (3, 9))
    torch.testing.assert_close(written.net(text - 1), net.forward(text))
    assert "From N x T of indices from 0 to N x 2." in written.text


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_sequence_along_any_dimension(dim: int) -> None:
    net = nn.Sequential(nn.SplitTable(dim), nn.Sequencer(nn.FastLSTM(3, 4)), nn.JoinTable(2))
    input = torch.randn([(5, 2, 3), (2, 5, 3), (2, 3, 5)][dim - 1])
    written = write(net.evaluate(), input)
    torch.testing.assert_close(written.net(input + 1), net.forward(input + 1))


def test_states_are_exported_and_compiled() -> None:
    written = write(language_model(), words(5, 2))
    indices = written.inputs[0]
    _, state = written.net(indices)
    going_on = written.net(indices, state)
    program = torch.export.export(written.net, (indices, state)).module()
    for one, other in zip(tensors(program(indices, state)), tensors(going_on), strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_of_a_frozen_bias_stay_out() -> None:
    """Torch7 has one bias; PyTorch's second is zero and is not trained."""
    written: Written = write(nn.SeqLSTM(3, 4), torch.stack(STEPS))
    trained = {name for name, p in written.net.named_parameters() if p.requires_grad}
    assert "lstm.bias_hh_l0" not in trained and "lstm.bias_ih_l0" in trained
