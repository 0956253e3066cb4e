"""``nn.SeqGRU``."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import whole
from compat.nn.functional import recurrent as f
from compat.nn.layers.linear import Linear
from compat.nn.recurrent.cells import GRU
from compat.nn.recurrent.parts import LinearNoBias
from compat.nn.recurrent.sequence_layer import SequenceLayer

_SIZES = ("inputSize", "outputSize")


class SeqGRU(SequenceLayer):
    """Gated recurrent units over a whole sequence (Torch7: ``nn.SeqGRU`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.

    Shapes: input ``T x N x inputSize``, or a list of the output to start from and the sequence;
    output ``T x N x outputSize``; ``weight`` is ``inputSize + outputSize x 3·outputSize``, of the
    reset gate, the update gate and the input.

    Fields: ``batchfirst`` and ``maskzero`` as in ``SeqLSTM``.
    """

    _gates = 3
    _states = ("h0",)

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        self._build(self.inputSize, self.outputSize)

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        [h0], blank = states, self._blank(steps)
        outputs, self.gates = f.gru(steps, h0, self.weight, self.bias, self.time, blank)
        return outputs

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        assert self._outputs is not None
        [h0], [grad_h], blank = states, ends, self._blank(steps)
        given = gradOutput, self.gates, self._outputs, h0, self.weight, grad_h
        at_gates, grad_h = f.gru_backward(*given, self.time, blank)
        return at_gates, [grad_h]

    def reset_gates(self) -> Tensor:
        return self.gates[..., : self.outputSize]

    def t7_fields(self) -> dict[str, Any]:
        # As torch/rnn calls them, too.
        both = {name.lower(): getattr(self, name) for name in _SIZES}
        return super().t7_fields() | both

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in _SIZES:
            fields.setdefault(name, fields.pop(name.lower(), None))
        super().t7_restore(fields, version)

    def toGRU(self) -> GRU:
        """Return a ``GRU`` of the same values and gradients."""
        cell = GRU(self.inputSize, self.outputSize).type(self.type())
        linear = [m for m in cell.listModules() if type(m) is Linear]
        feedback = [m for m in cell.listModules() if type(m) is LinearNoBias]
        self._give(linear, feedback, [[0, 1], [2]])
        return cell
