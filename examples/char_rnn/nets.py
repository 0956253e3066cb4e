"""One time step of char-rnn's nets, as graphs: from a character and the states to the next ones."""

from __future__ import annotations

from typing import Any

from compat import nn
from compat.char_rnn import OneHot

KINDS = ("lstm", "gru", "rnn")
# How many states a layer has.
STATES = {"lstm": 2, "gru": 1, "rnn": 1}


def build(kind: str, vocabulary: int, size: int, layers: int, dropout: float) -> Any:
    """The net of ``[characters, states…]``, whose output is ``[states…, log probabilities]``.

    Characters are ``N`` numbers, each state is ``N x size``. An LSTM has two for each layer: the
    cell, then the output.
    """
    count = STATES[kind]
    inputs = [nn.Identity()() for _ in range(1 + count * layers)]
    states: list[Any] = []
    x, features = OneHot(vocabulary)(inputs[0]), vocabulary
    for layer in range(layers):
        if layer:
            x, features = _dropped(states[-1], dropout), size
        previous = inputs[1 + count * layer : 1 + count * (layer + 1)]
        states += _CELLS[kind](x, previous, features, size)
    scores = nn.Linear(size, vocabulary)(_dropped(states[-1], dropout))
    return nn.gModule(inputs, [*states, nn.LogSoftMax()(scores)])


def _dropped(x: Any, dropout: float) -> Any:
    return nn.Dropout(dropout)(x) if dropout > 0 else x


def _sum(x: Any, h: Any, features: int, size: int, outputs: int) -> Any:
    return nn.CAddTable()([nn.Linear(features, outputs)(x), nn.Linear(size, outputs)(h)])


def _lstm(x: Any, previous: list[Any], features: int, size: int) -> list[Any]:
    cell, h = previous
    from_x = nn.Linear(features, 4 * size)
    # The forget gate, the second of four, begins open.
    from_x.bias[size : 2 * size].fill_(1)
    sums = nn.CAddTable()([from_x(x), nn.Linear(size, 4 * size)(h)])
    gates = nn.SplitTable(2)(nn.Reshape(4, size)(sums)).split(4)
    write, forget, read = (nn.Sigmoid()(gate) for gate in gates[:3])
    kept = nn.CMulTable()([forget, cell])
    cell = nn.CAddTable()([kept, nn.CMulTable()([write, nn.Tanh()(gates[3])])])
    return [cell, nn.CMulTable()([read, nn.Tanh()(cell)])]


def _gru(x: Any, previous: list[Any], features: int, size: int) -> list[Any]:
    [h] = previous
    update = nn.Sigmoid()(_sum(x, h, features, size, size))
    reset = nn.Sigmoid()(_sum(x, h, features, size, size))
    candidate = nn.Tanh()(_sum(x, nn.CMulTable()([reset, h]), features, size, size))
    rest = nn.AddConstant(1, False)(nn.MulConstant(-1, False)(update))
    return [
        nn.CAddTable()([nn.CMulTable()([update, candidate]), nn.CMulTable()([rest, h])]),
    ]


def _rnn(x: Any, previous: list[Any], features: int, size: int) -> list[Any]:
    return [nn.Tanh()(_sum(x, previous[0], features, size, size))]


_CELLS = {"lstm": _lstm, "gru": _gru, "rnn": _rnn}
