"""cudnn.torch's recurrent layers: several layers over a whole sequence, with one flat weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.checks import check_choice, check_tensor, flag, number, whole
from compat.cudnn.base import Cudnn
from compat.nn.checks.tensors import check_type
from compat.nn.core.module import Scalar

R = TypeVar("R", bound="RNN")

# How many gates a layer of each mode has, and what computes it.
_MODES: dict[str, tuple[int, Callable[..., Any]]] = {
    "CUDNN_RNN_RELU": (1, torch.rnn_relu),
    "CUDNN_RNN_TANH": (1, torch.rnn_tanh),
    "CUDNN_GRU": (3, torch.gru),
    "CUDNN_LSTM": (4, torch.lstm),
}


class RNN(Cudnn, typename="cudnn.RNN"):
    """Recurrent layers with ``max(0, x)`` (cudnn.torch: ``cudnn.RNN``).

    Args:
        inputSize: number of features of the input.
        hiddenSize: number of features of a layer's output, of each direction.
        numLayers: how many layers there are, each over the outputs of the one before.
        batchFirst: whether the batch comes before the sequence.
        dropout: the probability of dropping an output of a layer before the next one.
        rememberStates: begin with the states that the sequence before has ended with.

    Shapes: input ``seqLength x miniBatch x inputSize``, with ``batchFirst``
    ``miniBatch x seqLength x inputSize``; output likewise, with ``hiddenSize * numDirections``
    features. ``weight`` is a vector, as cuDNN has it: for each layer, and each direction of it, the
    matrices of the gates for the input, then those for the state; behind all of them the biases
    in the same order.

    Fields: ``mode`` and ``bidirectional``, with ``numDirections``, which tell what is computed and
    may be set before ``reset``; the states at the beginning, ``hiddenInput`` and ``cellInput``,
    zero if None, and at the end, ``hiddenOutput`` and ``cellOutput``, of size
    ``numLayers * numDirections x miniBatch x hiddenSize``; the gradients of the latter,
    ``gradHiddenOutput`` and ``gradCellOutput``, if there are any, which backward takes; and those
    of the former, ``gradHiddenInput`` and ``gradCellInput``, which it leaves.

    Differs from cudnn.torch: works on any device and in double precision; ``backward`` works in
    evaluate mode on the CPU; dropout draws from PyTorch's generator; ``resetStates`` also forgets
    the states that ``rememberStates`` would go on with. Packed sequences are not taken.

    PyTorch: ``torch.nn.RNN``.
    """

    _mode: ClassVar[str] = "CUDNN_RNN_RELU"
    _directions: ClassVar[int] = 1
    scratch_fields = (
        *("dropoutStates", "dropoutStatesSize", "workspace", "reserve", "_input", "_gradOutput"),
        *("rnnDesc", "dropoutDesc", "wDesc", "xDescs", "yDescs"),
        *("hxDesc", "hyDesc", "cxDesc", "cyDesc"),
    )
    workspace_fields = {"reserve": None}
    hiddenInput: Tensor | None = None
    cellInput: Tensor | None = None
    gradHiddenOutput: Tensor | None = None
    gradCellOutput: Tensor | None = None
    rememberStates: bool = False
    batchFirst: bool = False
    dropout: Scalar = 0
    inputMode: str = "CUDNN_LINEAR_INPUT"

    def __init__(
        self,
        inputSize: int,
        hiddenSize: int,
        numLayers: int,
        batchFirst: bool = False,
        dropout: Scalar = 0,
        rememberStates: bool = False,
    ) -> None:
        super().__init__()
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.hiddenSize = whole(hiddenSize, "hiddenSize", 1)
        self.numLayers = whole(numLayers, "numLayers", 1)
        self.batchFirst = flag(batchFirst, "batchFirst")
        if not 0 <= number(dropout, "dropout") <= 1:
            raise ValueError(f"dropout is {dropout}; 0 to 1 is accepted")
        self.dropout = dropout
        self.rememberStates = flag(rememberStates, "rememberStates")
        self.mode = self._mode
        self.numDirections = self._directions
        self.bidirectional = f"CUDNN_{'BI' if self._directions == 2 else 'UNI'}DIRECTIONAL"
        self.inputMode = "CUDNN_LINEAR_INPUT"
        # What Lua expects: the type, the seed of dropout, the sizes of the latest input.
        self.datatype = "CUDNN_DATA_FLOAT"
        self.seed = 0x01234567
        self.sync = True
        self.seqLength = self.miniBatch = 1
        self._forget()
        self.gradHiddenInput = self._empty()
        self.gradCellInput = self._empty()
        self.reset()

    def reset(self: R, stdv: Scalar | None = None) -> R:
        """Draw the weight uniformly from ±``stdv``, by default ±1/√hiddenSize."""
        size = sum(math.prod(shape) for shape in self._shapes())
        if self.weight is None or self.weight.numel() != size:
            self.weight = torch.empty(size) if self.weight is None else self.weight.new_empty(size)
        bound = 1 / math.sqrt(self.hiddenSize) if stdv is None else stdv
        random.uniform_(self.weight, -bound, bound)
        return self

    def setSync(self, sync: bool) -> None:
        """Do nothing: PyTorch waits where it must."""
        self.sync = flag(sync, "sync")

    def _forget(self) -> None:
        self.hiddenOutput = self._empty()
        self.cellOutput = self._empty()

    def resetStates(self) -> None:
        """Begin with zero states; forget the gradients of those at the end."""
        self.hiddenInput = self.cellInput = None
        self.gradHiddenOutput = self.gradCellOutput = None
        self._forget()

    # The weight and its parts.

    @property
    def _kind(self) -> tuple[int, Callable[..., Any]]:
        check_choice(self.mode, "mode", _MODES)
        return _MODES[self.mode]

    def _shapes(self) -> Iterator[tuple[int, ...]]:
        """Yield the shapes of the parts of the weight, one part for all gates of a layer."""
        rows = self._kind[0] * self.hiddenSize
        for layer in range(self.numLayers):
            width = self.hiddenSize * self.numDirections if layer else self.inputSize
            for _ in range(self.numDirections):
                yield from ((rows, width), (rows, self.hiddenSize))
        for _ in range(2 * self.numLayers * self.numDirections):
            yield (rows,)

    def _parts(self, weight: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return the matrices and the biases, of each layer one for the input and one for the
        state.
        """
        shapes = list(self._shapes())
        sizes = [math.prod(shape) for shape in shapes]
        if weight.numel() != sum(sizes):
            raise ValueError(
                f"weight has {weight.numel()} elements; {sum(sizes)} are accepted for {self.mode} "
                f"of {self.numLayers} layers and {self.numDirections} directions"
            )
        parts = [part.view(shape) for part, shape in zip(weight.split(sizes), shapes, strict=True)]
        half = len(parts) // 2
        return parts[:half], parts[half:]

    def in_order_of_torch(self, weight: Tensor) -> list[Tensor]:
        """Return the parts of ``weight`` in PyTorch's order: the biases behind the matrices of a
        layer.
        """
        matrices, biases = self._parts(weight)
        starts = range(0, len(matrices), 2)
        return [part for i in starts for part in (*matrices[i : i + 2], *biases[i : i + 2])]

    def weights(self) -> list[list[Tensor]]:
        """Return the matrices of the gates for each layer and direction, as vectors.

        The matrices for the input come first, then those for the state; both share ``weight``'s
        memory.
        """
        return self._per_gate(self._parts(self.weight)[0])

    def biases(self) -> list[list[Tensor]]:
        """Return the biases for each layer and direction, in the order of ``weights``."""
        return self._per_gate(self._parts(self.weight)[1])

    def _per_gate(self, parts: list[Tensor]) -> list[list[Tensor]]:
        gates = [part.reshape(self._kind[0], -1).unbind() for part in parts]
        return [[*gates[i], *gates[i + 1]] for i in range(0, len(gates), 2)]

    # Forward and backward.

    def compute(self, input: Tensor) -> Tensor:
        self._check(input)
        steps = input.transpose(0, 1) if self.batchFirst else input
        self.seqLength, self.miniBatch = steps.size(0), steps.size(1)
        if self.rememberStates:
            fits = tuple(self.hiddenOutput.shape) == self._state_size()
            self.hiddenInput = self.hiddenOutput.clone() if fits else None
            self.cellInput = self.cellOutput.clone() if fits and self.cellOutput.dim() else None
        given = (steps, self.weight, *self._first(steps))
        if torch.is_grad_enabled():
            output = _Sequence.apply(self, *given)
        else:
            output, *ends = self.over(*given)
            self.set_ends(ends)
        return output.transpose(0, 1) if self.batchFirst else output

    def _check(self, input: Tensor) -> None:
        check_type(check_tensor(input), self.weight)
        if input.dim() != 3 or input.size(2) != self.inputSize:
            order = "miniBatch x seqLength" if self.batchFirst else "seqLength x miniBatch"
            raise ValueError(
                f"input has size {tuple(input.shape)}; {order} x {self.inputSize} is accepted"
            )
        if self.inputMode != "CUDNN_LINEAR_INPUT":
            raise ValueError(f"inputMode is {self.inputMode!r}; 'CUDNN_LINEAR_INPUT' is accepted")

    def _state_size(self) -> tuple[int, int, int]:
        return self.numLayers * self.numDirections, self.miniBatch, self.hiddenSize

    @property
    def state_names(self) -> tuple[str, ...]:
        return ("hidden", "cell") if self.mode == "CUDNN_LSTM" else ("hidden",)

    def _fields(self, form: str, like: Tensor) -> list[Tensor]:
        """Return the fields of that name of all states; zeros for those that are None."""
        found = []
        for state in self.state_names:
            name = form.format(state, state.capitalize())
            value = getattr(self, name)
            if value is None:
                value = like.new_zeros(self._state_size())
            elif tuple(value.shape) != self._state_size():
                raise ValueError(
                    f"{name} has size {tuple(value.shape)}; {self._state_size()} is accepted"
                )
            check_type(value, like, name)
            found.append(value.detach())
        return found

    def _first(self, steps: Tensor) -> list[Tensor]:
        return self._fields("{0}Input", steps)

    def over(self, steps: Tensor, weight: Tensor, *first: Tensor) -> list[Tensor]:
        """Return the outputs of the last layer, and all states at the end."""
        flat = self.in_order_of_torch(weight)
        states = list(first) if len(first) > 1 else first[0]
        dropout = float(self.dropout) if self.train else 0.0
        # cuDNN goes back only after what it takes for training, which without dropout is the same.
        training = self.train or torch.is_grad_enabled()
        both = self.numDirections == 2
        return list(
            self._kind[1](steps, states, flat, True, self.numLayers, dropout, training, both, False)
        )

    def set_ends(self, ends: list[Tensor]) -> None:
        for state, end in zip(self.state_names, ends, strict=True):
            setattr(self, f"{state}Output", end)

    def __repr__(self) -> str:
        return self.typename


class _Sequence(torch.autograd.Function):
    """``RNN.over`` as one node, with the gradients of the states in the fields of the module."""

    @staticmethod
    def forward(ctx: Any, module: RNN, *given: Tensor) -> Tensor:
        with torch.enable_grad():
            ctx.leaves = [tensor.detach().requires_grad_() for tensor in given]
            ctx.results = module.over(*ctx.leaves)
        ctx.module = module
        output, *ends = (result.detach() for result in ctx.results)
        module.set_ends(ends)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        module = ctx.module
        given = [gradient, *module._fields("grad{1}Output", gradient)]
        found = torch.autograd.grad(ctx.results, ctx.leaves, given, retain_graph=True)
        for state, grad in zip(module.state_names, found[2:], strict=True):
            setattr(module, f"grad{state.capitalize()}Input", grad)
        return None, *found[:2], *(None for _ in found[2:])


class RNNReLU(RNN, typename="cudnn.RNNReLU"):
    """``RNN`` with ``max(0, x)``, under another name (cudnn.torch: ``cudnn.RNNReLU``).

    PyTorch: ``torch.nn.RNN``.
    """


class RNNTanh(RNN, typename="cudnn.RNNTanh"):
    """``RNN`` with tanh (cudnn.torch: ``cudnn.RNNTanh``).

    PyTorch: ``torch.nn.RNN``.
    """

    _mode = "CUDNN_RNN_TANH"


class LSTM(RNN, typename="cudnn.LSTM"):
    """``RNN`` of long short-term memory without peepholes (cudnn.torch: ``cudnn.LSTM``).

    The order of the gates is input, forget, cell, output.

    PyTorch: ``torch.nn.LSTM``.
    """

    _mode = "CUDNN_LSTM"


class GRU(RNN, typename="cudnn.GRU"):
    """``RNN`` of gated recurrent units (cudnn.torch: ``cudnn.GRU``).

    The order of the gates is reset, update, new state.

    PyTorch: ``torch.nn.GRU``.
    """

    _mode = "CUDNN_GRU"


class _Both(RNN):
    """The base of bidirectional ``RNN`` layers."""

    _directions = 2

    def __init__(
        self,
        inputSize: int,
        hiddenSize: int,
        numLayers: int,
        batchFirst: bool = False,
        dropout: Scalar = 0,
    ) -> None:
        super().__init__(inputSize, hiddenSize, numLayers, batchFirst, dropout)


class BLSTM(_Both, typename="cudnn.BLSTM"):
    """``LSTM`` in both directions (cudnn.torch: ``cudnn.BLSTM``).

    Args:
        inputSize, hiddenSize, numLayers, batchFirst, dropout: as for ``RNN``.

    PyTorch: ``torch.nn.LSTM``.
    """

    _mode = "CUDNN_LSTM"


class BGRU(_Both, typename="cudnn.BGRU"):
    """``GRU`` in both directions (cudnn.torch: ``cudnn.BGRU``).

    Args:
        inputSize, hiddenSize, numLayers, batchFirst, dropout: as for ``RNN``.

    PyTorch: ``torch.nn.GRU``.
    """

    _mode = "CUDNN_GRU"
