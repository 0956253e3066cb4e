"""Recurrent layers that take a whole sequence as one tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random, t7
from compat.checks import check_tensor, flag, given, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import ANYTHING, check_type
from compat.nn.containers.basic import ConcatTable, Sequential
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.core.parameter import Parameter
from compat.nn.core.recomputation import gradients_at_backward
from compat.nn.core.tape import Tape, current_tape
from compat.nn.layers.linear import Linear
from compat.nn.layers.shape import Transpose
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.recurrent.calls import computed
from compat.nn.recurrent.cells import GRU, FastLSTM
from compat.nn.recurrent.parts import LinearNoBias
from compat.nn.recurrent.sequencers import AbstractSequencer, is_remembered, remembered

W = TypeVar("W", bound="WholeSequence")
Q = TypeVar("Q", bound="_Layer")
P = TypeVar("P", bound="SeqLSTMP")


class WholeSequence(Stored, abstract=True):
    """A layer over whole sequences, with states that go from each step to the next.

    The input is a sequence, or a list of states to start with and the sequence. A state that is not
    given is zero, or what the call before ended with if the layer ``remembers()``. In files it is
    where Lua goes on from: in the last step of ``cell`` and of the output.

    Raises ValueError for states of other sizes than the input needs, as for another number of
    sequences while states are remembered.
    """

    takes = ANYTHING
    transient_fields: ClassVar[tuple[str, ...]] = ("_began",)
    nil_stops_gradient = False  # Lua's clearState leaves it out
    unit_scale = True
    # What the states are called in files; the last is the output.
    _states: ClassVar[tuple[str, ...]]
    # How many matrices the weight holds side by side.
    _gates: ClassVar[int]
    # The field of files that the output is kept in, and which dimension of it is that of steps.
    _file_output: ClassVar[str]
    _file_steps: ClassVar[int]
    # The method after which it starts from zeros.
    _forgets: ClassVar[str]
    # The states that the latest call ended with, and which of them the next may start from.
    _ended_with: list[Tensor] | None = None
    _began: dict[str, Tensor] | None = None
    _continued: frozenset[str] = frozenset()

    @property
    def batch_first(self) -> bool:
        """Whether sequences are ``N x T x D``, not ``T x N x D``."""
        raise NotImplementedError

    def remembers(self) -> bool:
        """Whether it starts from the end of the call before in the present mode."""
        raise NotImplementedError

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the next call starts from zeros."""
        return not self.remembers()

    @deterministic
    def compute(self, input: Any) -> Tensor:
        *given, sequence = input if isinstance(input, (list, tuple)) else [input]
        if len(given) > len(self._states):
            most = len(self._states) + 1
            raise ValueError(f"input is a table of {len(given) + 1}; up to {most} are accepted")
        Wx, Wh = self._matrices()
        self._check(sequence, len(Wx))
        steps = sequence.transpose(0, 1) if self.batch_first else sequence
        sizes = [(steps.size(1), width) for width in self._widths(Wh)]
        names = self._states[: len(self._states) - len(given)]
        states = [self._first(i, name, sizes[i], steps) for i, name in enumerate(names)]
        self._began = dict(zip(names, states, strict=True))
        left = sizes[len(names) :]
        states += [
            _state(state, "input has", size, steps) for state, size in zip(given, left, strict=True)
        ]
        self._begins(names, states, steps)
        outputs, ended = self.over(steps, states, Wx, Wh)
        self._ends(ended)
        self._ended_with = [state.detach() for state in ended]
        self._continued |= {*names}
        return outputs.transpose(0, 1) if self.batch_first else outputs

    def _begins(self, names: Sequence[str], states: list[Tensor], steps: Tensor) -> None:
        """The states to start from, of which the first, ``names``, were not in the input."""

    def _ends(self, states: list[Tensor]) -> None:
        """The states at the end, in the graph."""

    def _matrices(self) -> tuple[Tensor, Tensor]:
        """The weights for the input and for the output of the step before."""
        # What computes from them does not look at their sizes, which files may have changed.
        size, rest = divmod(self.bias.numel(), self._gates)
        columns = self._gates * size
        if rest or not size or self.weight.shape != (max(len(self.weight), size + 1), columns):
            raise ValueError(
                f"weight has size {tuple(self.weight.shape)}, bias {tuple(self.bias.shape)}; "
                f"D + H x {self._gates}·H and {self._gates}·H are accepted"
            )
        check_type(self.bias, self.weight, "bias", "weight")
        # Not two slices: autograd would make the gradient of each as large as the weight.
        to_gates, from_output = self.weight.split([len(self.weight) - size, size])
        return to_gates, from_output

    def _widths(self, Wh: Tensor) -> tuple[int, ...]:
        """How many features each state has."""
        return (len(Wh),) * len(self._states)

    def _check(self, sequence: Any, features: int) -> None:
        if check_tensor(sequence).dim() != 3 or sequence.size(2) != features:
            order = "N x T" if self.batch_first else "T x N"
            raise ValueError(
                f"input has size {tuple(sequence.shape)}; {order} x {features} is accepted"
            )
        check_type(sequence, self.weight)

    @property
    def h0(self) -> Tensor:
        """The output that the latest call started from, unless its input had one."""
        return self._began_with("h0")

    def _began_with(self, name: str) -> Tensor:
        known = (self._began or {}).get(name)
        return self._empty() if known is None else known

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        """The state number ``i``, which the input does not have, in the first step."""
        if not (self.remembers() and name in self._continued and self._ended_with):
            return like.new_zeros(size)
        state = self._ended_with[i]
        if len(state) != size[0]:
            raise ValueError(
                f"input has {size[0]} sequences, the call before had {len(state)}; to remember "
                f"states their number must stay, or {self._forgets}() be called"
            )
        return _state(state, "the call before ended with", size, like)

    def over(
        self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """The outputs for ``T x N x D``, and the states at the end. Classes define it."""
        raise NotImplementedError

    def clearState(self: W) -> W:
        self._ended_with, self._continued = None, frozenset()
        return super().clearState()

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("_continued", None)
        ended = fields.pop("_ended_with", None)
        for name in self._states:
            there = ended is not None and name in self._continued
            fields[name] = torch.zeros_like(ended[-1]) if there else self._empty()
        places = ("cell", self._file_output)[-len(self._states) :]
        if ended is not None and self._continued:
            for place, state in zip(places, ended, strict=True):
                fields[place] = state.unsqueeze(self._file_steps).contiguous()
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        starts = [fields.pop(name, None) for name in self._states]
        places = ("cell", self._file_output)[-len(self._states) :]
        ended: list[Any] = [fields.get(place) for place in places]
        super().t7_restore(fields, version)
        dim = self._file_steps
        if all(isinstance(e, Tensor) and e.dim() == 3 and e.size(dim) for e in ended):
            last = [state.select(dim, -1) for state in ended]
            t7.claim(sum(state.nbytes for state in last))
            self._ended_with = [state.clone() for state in last]
            there = zip(self._states, starts, strict=True)
            self._continued = frozenset(
                name for name, start in there if start is not None and start.numel()
            )


def _state(state: Any, told: str, size: tuple[int, int], like: Tensor) -> Tensor:
    """Check a state to start with: PyTorch reads as much as there should be."""
    if not isinstance(state, Tensor) or state.shape != size:
        found = tuple(state.shape) if isinstance(state, Tensor) else given(state)
        raise ValueError(
            f"{told} a state of size {found} for {size[0]} sequences; "
            f"{size[0]} x {size[1]} is accepted"
        )
    check_type(state, like, f"{told} a state that", "the sequence")
    return state


class _Layer(WholeSequence):
    """A layer over a sequence ``T x N x D``, or ``N x T x D`` with ``batchfirst``.

    Fields: ``maskzero``, whether rows of the input that are zero give zeros and reset the states;
    ``userPrevCell`` and ``userPrevOutput``, what the next call starts from, and after backward
    ``userGradPrevCell`` and ``userGradPrevOutput``, the gradients of what it started from;
    ``userNextGradCell`` and ``gradPrevOutput``, gradients of what it ended with, which the next
    backward adds.
    """

    batchfirst: bool = False
    maskzero: bool = False
    userPrevOutput: Tensor | None = None
    userPrevCell: Tensor | None = None
    userNextGradCell: Tensor | None = None
    gradPrevOutput: Tensor | None = None
    transient_fields = ("_start", "_sequence", "_added_gradients")
    # The graph of the latest call, and the states in it that the input did not have.
    _start: tuple[Tape, dict[str, Tensor]] | None = None
    # The steps of the latest call, and the states it started from.
    _sequence: tuple[Tensor, list[Tensor]] | None = None
    # Whether a backward has taken the gradients of what the latest call ended with.
    _added_gradients: bool = False
    _remember: str = "neither"
    _file_output = "_output"
    _file_steps = 0
    _forgets = "forget"
    workspace_fields = dict.fromkeys(
        (
            *("gates", "buffer1", "buffer2", "buffer3", "grad_a_buffer", "cell"),
            *("grad_c0", "grad_h0", "grad_x", "_output", "_grad_x"),
        )
    )
    scratch_fields = (
        *("zeroMask", "_zeroMask", "_maskbyte", "_maskindices"),
        *("next_h", "grad_next_h", "recompute_backward", "_return_grad_c0", "_return_grad_h0"),
        *("userGradPrevCell", "userGradPrevOutput"),
    )

    def _build(self, inputs: int, cells: int, outputs: int | None = None) -> None:
        outputs = cells if outputs is None else outputs
        self.weight = torch.empty(inputs + outputs, self._gates * cells)
        self.bias = torch.empty(self._gates * cells)
        self._remember = "neither"
        self.batchfirst = self.maskzero = False
        self.reset()

    def reset(self: Q, stdv: Scalar | None = None) -> Q:
        """Draw the weight from a normal distribution; the bias of the second gate becomes 1."""
        size = self.bias.numel() // self._gates
        _draw(self.weight, len(self.weight), stdv)
        self.bias.zero_()
        self.bias[size : 2 * size].fill_(1)
        return self

    def remember(self: Q, when: str | None = "both") -> Q:
        """As in ``Sequencer.remember``."""
        self._remember = remembered(when)
        return self

    def forget_itself(self) -> None:
        """Start anew."""
        self._continued = frozenset()

    @property
    def batch_first(self) -> bool:
        return self.batchfirst

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the next sequence starts from zeros."""
        given = self.userPrevCell is not None or self.userPrevOutput is not None
        return not (given or self.remembers())

    @property
    def remember_mode(self) -> str:
        """When it starts from the end of the sequence before, as ``remember`` was told."""
        return self._remember

    def remembers(self) -> bool:
        return is_remembered(self._remember, self.train)

    def forget(self: Q) -> Q:
        """Start anew."""
        self.forget_itself()
        return self

    def resetStates(self) -> None:
        """``forget``."""
        self.forget_itself()

    def maskZero(self: Q, nInputDim: int | None = None) -> Q:
        """Set ``maskzero``."""
        self.maskzero = True
        return self

    def training(self: Q) -> Q:
        if not self.train:
            self.forget()
        return super().training()

    def evaluate(self: Q) -> Q:
        if self.train:
            self.forget()
        return super().evaluate()

    @deterministic
    def compute(self, input: Any) -> Tensor:
        if self._added_gradients:
            self._drop(_ADDED)
            self._added_gradients = False
        outputs = super().compute(input)
        self._drop(_GIVEN)
        return outputs

    def _drop(self, fields: dict[str, str]) -> None:
        for name in fields.values():
            self.__dict__.pop(name, None)

    def _begins(self, names: Sequence[str], states: list[Tensor], steps: Tensor) -> None:
        tape = current_tape()
        self._start = None
        if tape is not None and tape.recording:
            states[: len(names)] = [s.detach().requires_grad_() for s in states[: len(names)]]
            self._start = tape, dict(zip(names, states, strict=False))
        self._sequence = steps.detach(), [state.detach() for state in states]

    def _ends(self, states: list[Tensor]) -> None:
        tape = current_tape()
        if tape is None or not tape.recording:
            return

        def ends() -> tuple[list[Tensor], list[Any]]:
            given = [getattr(self, _ADDED[name]) for name in self._states]
            if any(gradient is not None for gradient in given):
                # They are gone when what backward frees would be computed again.
                tape.keep = self._added_gradients = True
            return states, given

        tape.ends[self] = ends

    def _gradient_of_start(self, name: str) -> Tensor | None:
        if self._start is not None and self._start[0].spent:
            self._latest_call(_GRADIENTS[name])
        tape, states = self._start or (None, {})
        if tape is None or tape.grad_outputs is None or name not in states:
            return None
        found: Tensor = gradients_at_backward(tape, states[name], self, _GRADIENTS[name])
        return found

    @computed
    def userGradPrevCell(self) -> Tensor | None:
        """The gradient of the cell that the latest call started from, unless its input had one."""
        return self._gradient_of_start("c0")

    @computed
    def userGradPrevOutput(self) -> Tensor | None:
        """The gradient of the output that the latest call started from, unless its input had it."""
        return self._gradient_of_start("h0")

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        state = getattr(self, _GIVEN[name])
        if state is not None:
            return _state(state, f"{_GIVEN[name]} is", size, like)
        return super()._first(i, name, size, like)

    def _give(
        self, from_input: Sequence[Any], from_output: Sequence[Any], gates: list[list[int]]
    ) -> None:
        """Give layers the values and gradients of the ``gates`` that each has side by side."""
        size = self.bias.numel() // self._gates
        for layer, feedback, own in zip(from_input, from_output, gates, strict=True):
            columns = torch.cat([torch.arange(i * size, (i + 1) * size) for i in own])
            columns = columns.to(self.weight.device)
            for weight, bias, to in (
                (self.weight, self.bias, _value),
                (self.weight.grad, self.bias.grad, _gradient),
            ):
                to(layer.weight).copy_(weight[:-size, columns].t())
                to(layer.bias).copy_(bias[columns])
                to(feedback.weight).copy_(weight[-size:, columns].t())

    def _blank(self, steps: Tensor) -> Any:
        """For each step which samples of the batch are zeros and to give zeros; None for none."""
        if not self.maskzero:
            return [None] * len(steps)
        return (steps == 0).all(-1, keepdim=True)


def _without(blank: Tensor | None, state: Tensor) -> Tensor:
    return state if blank is None else state.masked_fill(blank, 0)


def _value(parameter: Tensor) -> Tensor:
    return parameter.data


def _gradient(parameter: Tensor) -> Any:
    return parameter.grad


# By state, the fields that take it, take a gradient of it at the end, and tell that at the start.
_GIVEN = {"c0": "userPrevCell", "h0": "userPrevOutput"}
_ADDED = {"c0": "userNextGradCell", "h0": "gradPrevOutput"}
_GRADIENTS = {"c0": "userGradPrevCell", "h0": "userGradPrevOutput"}


class SeqLSTM(_Layer):
    """An LSTM over a whole sequence (Torch7: ``nn.SeqLSTM`` of the package rnn).

    Args:
        inputsize, outputsize: numbers of features.

    Shapes: input ``T x N x inputsize``, or a list ``[cell, output, sequence]`` or
    ``[output, sequence]`` with what to start from, ``N x outputsize``; output
    ``T x N x outputsize``; ``weight`` is ``inputsize + outputsize x 4·outputsize``, of the input
    gate, the forget gate, the output gate and the input.

    Fields: ``batchfirst``, whether the batch is the first dimension of sequences; ``maskzero``.

    Differs from Torch7: ``updateGradInput`` leaves the gradients of the parameters to
    ``accGradParameters``, and ``backwardUpdate`` works.
    """

    _gates = 4
    _states = ("c0", "h0")

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = self.outputsize = whole(outputsize, "outputsize", 1)
        self._build(self.inputsize, self.outputsize)

    @property
    def c0(self) -> Tensor:
        """The cell that the latest call started from, unless its input had one."""
        return self._began_with("c0")

    @computed
    def cell(self) -> Tensor:
        """The cells of all steps of the latest call, ``T x N x hiddensize``.

        Computed when read, from the parameters as they are then.
        """
        if self._sequence is None:
            return self._empty()
        steps, (cell, first) = self._sequence
        outputs = self.output.transpose(0, 1) if self.batchfirst else self.output
        with torch.no_grad():
            Wx, Wh = self._matrices()
            before = torch.cat([first.unsqueeze(0), outputs[:-1]])
            sums = steps @ Wx + before @ Wh + self.bias
            new, forget, _, hidden = sums.chunk(4, 2)
            added, forget = torch.sigmoid(new) * torch.tanh(hidden), torch.sigmoid(forget)
            cells = []
            for i, blank in enumerate(self._blank(steps)):
                cell = _without(blank, forget[i] * cell + added[i])
                cells.append(cell)
            return torch.stack(cells)

    def over(
        self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        if self._is_whole():
            return lstm(steps, states, Wx, Wh, self.bias)
        cell, output = states
        parameters = _torch_parameters(Wx, Wh, self.bias)
        results = []
        for step, blank in zip(steps, self._blank(steps), strict=True):
            output, cell = self._step(step, output, cell, parameters)
            output, cell = _without(blank, output), _without(blank, cell)
            results.append(output)
        return torch.stack(results), [cell, output]

    def _is_whole(self) -> bool:
        """Whether PyTorch computes all steps at once."""
        return not self.maskzero

    def _step(
        self, step: Tensor, output: Tensor, cell: Tensor, parameters: list[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The next output and cell."""
        return torch.lstm_cell(step, [output, cell], *parameters)

    def toFastLSTM(self) -> FastLSTM:
        """A ``FastLSTM`` of the same values and gradients."""
        cell = FastLSTM(self.inputsize, self.outputsize).type(self.type())
        self._give([cell.i2g], [cell.o2g], [[0, 3, 1, 2]])
        return cell


class SeqLSTMP(SeqLSTM):
    """A ``SeqLSTM`` whose output is projected (Torch7: ``nn.SeqLSTMP`` of the package rnn).

    Sak et al., Long Short-Term Memory Recurrent Neural Network Architectures for Large Scale
    Acoustic Modeling, 2014.

    Args:
        inputsize: number of features.
        hiddensize: that of the cell.
        outputsize: that of the output.

    Shapes: as in ``SeqLSTM``, but for ``weight``, ``inputsize + outputsize x 4·hiddensize``, and a
    cell that the input has, ``N x hiddensize``. ``weightO`` is ``hiddensize x outputsize``.

    Differs from Torch7: as ``SeqLSTM``.
    """

    weightO = Parameter()

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int) -> None:
        Module.__init__(self)
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = whole(hiddensize, "hiddensize", 1)
        self.outputsize = whole(outputsize, "outputsize", 1)
        self.weightO = torch.empty(self.hiddensize, self.outputsize)
        self._build(self.inputsize, self.hiddensize, self.outputsize)

    def reset(self: P, stdv: Scalar | None = None) -> P:
        """Draw the weights from normal distributions; the biases number outputsize + 1 to
        2·outputsize become 1, as in Torch7.
        """
        self.bias.zero_()
        self.bias[self.outputsize : 2 * self.outputsize].fill_(1)
        _draw(self.weight, self.hiddensize + self.inputsize, stdv)
        _draw(self.weightO, self.outputsize + self.hiddensize, stdv)
        return self

    def _matrices(self) -> tuple[Tensor, Tensor]:
        sizes = (self.inputsize + self.outputsize, 4 * self.hiddensize)
        if self.weight.shape != sizes or self.weightO.shape != (self.hiddensize, self.outputsize):
            raise ValueError(
                f"weight has size {tuple(self.weight.shape)}, weightO {tuple(self.weightO.shape)}; "
                f"{sizes} and {(self.hiddensize, self.outputsize)} are accepted"
            )
        check_type(self.bias, self.weight, "bias", "weight")
        to_gates, from_output = self.weight.split([self.inputsize, self.outputsize])
        return to_gates, from_output

    def _widths(self, Wh: Tensor) -> tuple[int, ...]:
        return self.hiddensize, self.outputsize

    def _step(
        self, step: Tensor, output: Tensor, cell: Tensor, parameters: list[Tensor]
    ) -> tuple[Tensor, Tensor]:
        to_gates, from_output, *biases = parameters
        sums = step @ to_gates.t() + output @ from_output.t() + sum(biases)
        new, kept, hidden, shown = sums.chunk(4, 1)
        cell = torch.sigmoid(kept) * cell + torch.sigmoid(new) * torch.tanh(hidden)
        return (torch.sigmoid(shown) * torch.tanh(cell)) @ self.weightO, cell

    def _is_whole(self) -> bool:
        return False

    def toFastLSTM(self) -> FastLSTM:
        """Not possible, as a ``FastLSTM`` has no projection."""
        raise TypeError("nn.SeqLSTMP has no toFastLSTM; nn.SeqLSTM has")


def lstm(
    steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor, bias: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """The outputs of an LSTM without peepholes for ``T x N x D``, and the states at the end.

    The states are cell and output. The columns of the weights, and the bias, are those of the
    input, forget and output gates and of the input.
    """
    cell, output = (state.unsqueeze(0) for state in states)
    parameters = _torch_parameters(Wx, Wh, bias)
    outputs, h, c = torch.lstm(
        steps.contiguous(), [output, cell], parameters, True, 1, 0.0, False, False, False
    )
    return outputs, [c[0], h[0]]


def _draw(weight: Tensor, inputs: int, stdv: Scalar | None) -> None:
    random.normal_(weight, 0, 1 / math.sqrt(inputs) if stdv is None else stdv)


def _torch_parameters(Wx: Tensor, Wh: Tensor, bias: Tensor) -> list[Tensor]:
    to_gates, from_output, bias = (_torch_order(tensor) for tensor in (Wx, Wh, bias))
    return [to_gates.t().contiguous(), from_output.t().contiguous(), bias, torch.zeros_like(bias)]


def _torch_order(columns: Tensor) -> Tensor:
    """Columns of the input, forget and output gates and of the input in PyTorch's order."""
    size = columns.size(-1) // 4
    i_f, o, g = columns.split([2 * size, size, size], -1)
    return torch.cat([i_f, g, o], -1)


class SeqGRU(_Layer):
    """Gated recurrent units over a whole sequence (Torch7: ``nn.SeqGRU`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.

    Shapes: input ``T x N x inputSize``, or a list of the output to start from and the sequence;
    output ``T x N x outputSize``; ``weight`` is ``inputSize + outputSize x 3·outputSize``, of the
    reset gate, the update gate and the input.

    Fields: ``batchfirst`` and ``maskzero`` as in ``SeqLSTM``.

    Differs from Torch7: as ``SeqLSTM``.
    """

    _gates = 3
    _states = ("h0",)

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        self._build(self.inputSize, self.outputSize)

    def over(
        self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        [output] = states
        size = output.size(1)
        to_gates, to_hidden = Wh.split([2 * size, size], 1)
        results = []
        summed = steps @ Wx + self.bias
        for step, blank in zip(summed, self._blank(steps), strict=True):
            gates = torch.sigmoid(step[:, : 2 * size] + output @ to_gates)
            reset, update = gates.chunk(2, 1)
            hidden = torch.tanh(step[:, 2 * size :] + (reset * output) @ to_hidden)
            output = _without(blank, torch.lerp(hidden, output, update))
            results.append(output)
        return torch.stack(results), [output]

    def toGRU(self) -> GRU:
        """A ``GRU`` of the same values and gradients."""
        cell = GRU(self.inputSize, self.outputSize).type(self.type())
        linear = [m for m in cell.listModules() if type(m) is Linear]
        feedback = [m for m in cell.listModules() if type(m) is LinearNoBias]
        self._give(linear, feedback, [[0, 1], [2]])
        return cell


class SeqReverseSequence(Stored):
    """The input in reverse along a dimension (Torch7: ``nn.SeqReverseSequence`` of rnn).

    Args:
        dim: the dimension, counted from 1.
    """

    scratch_fields = ("outputIndices", "gradIndices")

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = whole(dim, "dim", 1, 3)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.flip(self.dim - 1)

    def t7_fields(self) -> dict[str, Any]:
        empty = torch.empty(0, dtype=torch.int64)
        return super().t7_fields() | {"outputIndices": empty, "gradIndices": empty.clone()}


class SeqBRNN(AbstractSequencer):
    """Two ``SeqLSTM``, forwards and backwards (Torch7: ``nn.SeqBRNN`` of the package rnn).

    Args:
        inputDim, hiddenDim: numbers of features.
        batchFirst: whether the batch is the first dimension.
        merge: makes one output of the two; by default their sum.
    """

    @nil_is_default
    def __init__(
        self,
        inputDim: int,
        hiddenDim: int,
        batchFirst: bool = False,
        merge: Module | None = None,
    ) -> None:
        super().__init__()
        sizes = whole(inputDim, "inputDim", 1), whole(hiddenDim, "hiddenDim", 1)
        self.forwardModule, self.backwardModule = SeqLSTM(*sizes), SeqLSTM(*sizes)
        self.merge = CAddTable() if merge is None else merge
        self.dim = 1
        turn = SeqReverseSequence(1), SeqReverseSequence(1)
        backwards = Sequential(turn[0], self.backwardModule, turn[1])
        net = Sequential(ConcatTable(self.forwardModule, backwards), self.merge)
        if flag(batchFirst, "batchFirst"):
            net.insert(Transpose([1, 2]), 1)
            net.insert(Transpose([1, 2]))
        self.add(net)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return self.call(0, input)
