"""The recurrent classes of Torch7's package rnn and of torch-rnn as ``torch.nn`` modules.

Those with a memory keep it from one call to the next, in ``memory``, until ``forget(net)``. It is
no part of ``state_dict`` and of copies.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.functional.recurrent import stabilized
from compat.nn.recurrent.masking import zero_rows


def forget(net: nn.Module) -> None:
    """Have every module in ``net`` that has a memory start anew."""
    for module in net.modules():
        if isinstance(module, Remembering):
            module.memory = None


def _mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    if isinstance(value, Tensor):
        return function(value)
    return [_mapped(function, entry) for entry in value]


def _first(value: Any) -> Tensor:
    while not isinstance(value, Tensor):
        value = value[0]
    return value


class Remembering(nn.Module):
    """A module with a memory: tensors, or lists of them, or None when it starts anew."""

    memory: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memory": None}

    def let_go(self) -> None:
        """Keep the memory as values: backward ends at them."""
        if self.memory is not None:
            self.memory = _mapped(Tensor.detach, self.memory)


class Cell(Remembering):
    """A recurrent layer that takes one step at a time.

    Args:
        step: computes from ``[input, *memory]`` the next memory, whose first is the output.
        size: of the output.
        start: the tensors of the first memory; None for zeros.
    """

    def __init__(self, step: nn.Module, size: int, start: list[Tensor | None]) -> None:
        super().__init__()
        self.step = step
        self.size = size
        self.start = start

    def forward(self, input: Tensor) -> Tensor:
        memory = self.memory
        if memory is None:
            zeros = input.new_zeros([*input.shape[:-1], self.size])
            memory = [zeros if tensor is None else tensor for tensor in self.start]
        output = self.step([input, *memory])
        self.memory = [output] if isinstance(output, Tensor) else output
        return self.memory[0]


class Recurrence(Remembering):
    """A module of the input and its output of the step before, which begins with zeros.

    Args:
        module: the module.
        size: of its output without batch, a list of numbers, or of such lists.
        sample_dims: how many dimensions the input of a sample has.
        start: what to begin with instead.
    """

    def __init__(self, module: nn.Module, size: list[Any], sample_dims: int, start: Any) -> None:
        super().__init__()
        self.module = module
        self.size = size
        self.sample_dims = sample_dims
        self.start = start

    def forward(self, input: Any) -> Any:
        previous = self.start if self.memory is None else self.memory
        if previous is None:
            first = _first(input)
            batch = [] if first.dim() == self.sample_dims else [first.size(0)]
            previous = self._zeros(first, self.size, batch)
        self.memory = self.module([input, previous])
        return self.memory

    def _zeros(self, like: Tensor, size: list[Any], batch: list[int]) -> Any:
        if isinstance(size[0], (int, float)):
            return like.new_zeros([*batch, *map(int, size)])
        return [self._zeros(like, list(part), batch) for part in size]


class Recurrent(Remembering):
    """``transfer(merge([input(x), feedback(output before)]))``, at first without the feedback."""

    def __init__(self, parts: list[nn.Module]) -> None:
        super().__init__()
        self.begin, self.input, self.feedback, self.transfer, self.merge = parts

    def forward(self, input: Any) -> Any:
        merged = self.input(input)
        if self.memory is None:
            merged = self.begin(merged)
        else:
            merged = self.merge([merged, self.feedback(self.memory)])
        self.memory = self.transfer(merged)
        return self.memory


class _Remembered(nn.Module):
    """A module over sequences that starts anew with each, or goes on with the memory.

    ``remember`` tells when it goes on: in ``train`` mode, in ``eval`` mode, in ``both`` or in
    ``neither``; a change of the mode is a new start then. ``always`` it goes on come what may.
    """

    remember: str = "neither"

    def begin(self) -> None:
        """Before each sequence."""
        now = ("always", "both", "train" if self.training else "eval")
        if self.remember not in now:
            forget(self)
        for module in self.modules():
            if isinstance(module, Remembering):
                module.let_go()

    def train(self, mode: bool = True) -> Any:
        if mode != self.training and self.remember != "always":
            forget(self)
        return super().train(mode)


class Sequencer(_Remembered):
    """A module applied to every entry of a list in turn, or of a tensor along its first dimension.

    The output is a list or a tensor as the input is.
    """

    def __init__(self, module: nn.Module, remember: str = "neither") -> None:
        super().__init__()
        self.module = module
        self.remember = remember

    def forward(self, input: Any) -> Any:
        self.begin()
        outputs = [self.module(entry) for entry in input]
        return torch.stack(outputs) if isinstance(input, Tensor) else outputs


class Repeater(_Remembered):
    """A module given the same input ``count`` times; the list of its outputs."""

    def __init__(self, module: nn.Module, count: int) -> None:
        super().__init__()
        self.module = module
        self.count = count

    def forward(self, input: Any) -> list[Any]:
        self.begin()
        return [self.module(input) for _ in range(self.count)]


class ReverseTable(nn.Module):
    """The entries of a list in reverse order."""

    def forward(self, input: list[Any]) -> list[Any]:
        return list(reversed(input))


class BiSequencerLM(nn.Module):
    """For step i what comes before entry i, forwards, and what comes after it, backwards."""

    def __init__(self, before: nn.Module, after: nn.Module, merge: nn.Module) -> None:
        super().__init__()
        self.before, self.after, self.merge = before, after, merge

    def forward(self, input: list[Any]) -> list[Any]:
        before, after = self.before(input[:-1]), self.after(input[1:])
        first = _mapped(torch.zeros_like, before[0])
        last = _mapped(torch.zeros_like, after[0])
        return self.merge([[first, *before], [*after, last]])


class MaskZero(nn.Module):
    """A module whose output is zero for samples, of ``dims`` dimensions, that are all zero."""

    def __init__(self, module: nn.Module, dims: int) -> None:
        super().__init__()
        self.module = module
        self.dims = dims

    def forward(self, input: Any) -> Any:
        zero = zero_rows(_first(input), self.dims)

        def masked(output: Tensor) -> Tensor:
            return output.masked_fill(zero.reshape([-1] + [1] * (output.dim() - 1)), 0)

        return _mapped(masked, self.module(input))


class LookupTableMaskZero(nn.Embedding):
    """``torch.nn.Embedding`` whose index 0 gives zeros.

    PyTorch: ``torch.nn.Embedding``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.long())


class NormStabilizer(Remembering):
    """The input, whose gradient in training gets that of a penalty on norms that change.

    Args:
        beta: the factor of the mean of the squared differences between successive steps.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return input
        norms = self.memory or []
        norms.append(input.detach().norm(dim=1, keepdim=True))
        self.memory = norms
        output: Tensor = _Stabilized.apply(input, norms, len(norms) - 1, self.beta)
        return output


class _Stabilized(torch.autograd.Function):
    """The input, whose gradient gets that of the penalty in step ``i`` of ``norms``."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, norms: list[Tensor], i: int, beta: float) -> Tensor:
        ctx.save_for_backward(input)
        ctx.norms, ctx.i, ctx.beta = norms, i, beta
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        [input] = ctx.saved_tensors
        norms, i = ctx.norms, ctx.i
        others = norms[max(i - 1, 0) : i] + norms[i + 1 : i + 2]
        return stabilized(gradient, input, norms[i], others, ctx.beta), None, None, None


class _OverSequence(_Remembered, Remembering):
    """A layer over a sequence that is one tensor, steps first or batch first.

    The input may be a list of states to start with, last the output, and the sequence.
    """

    # How many states there are; the last is the output.
    _states: int
    batch_first: bool
    hidden_size: int
    mask_zero: bool = False

    def forward(self, input: Any) -> Tensor:
        self.begin()
        *given, sequence = [input] if isinstance(input, Tensor) else input
        steps = sequence.transpose(0, 1) if self.batch_first else sequence
        states = self.memory
        if states is None:
            states = [steps.new_zeros(steps.size(1), width) for width in self._widths()]
        states = [*states[: self._states - len(given)], *given]
        if self.mask_zero:
            outputs, self.memory = self._masked(steps, states)
        else:
            outputs, self.memory = self.over(steps, states)
        return outputs.transpose(0, 1) if self.batch_first else outputs

    def _masked(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Step by step: rows of zeros give zeros, and reset the states."""
        kept = (steps != 0).any(-1, keepdim=True).to(steps.dtype)
        outputs = []
        for step, factor in zip(steps, kept, strict=True):
            _, states = self.over(step.unsqueeze(0), states)
            states = [state * factor for state in states]
            outputs.append(states[-1])
        return torch.stack(outputs), states

    def _widths(self) -> list[int]:
        return [self.hidden_size] * self._states

    @abstractmethod
    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The outputs for ``T x N x D``, and the states at the end."""


class SeqLSTM(_OverSequence, nn.LSTM):  # type: ignore[misc]
    """``torch.nn.LSTM`` that returns the outputs alone; the states are ``[cell, output]``.

    PyTorch: ``torch.nn.LSTM``.
    """

    _states = 2

    def _widths(self) -> list[int]:
        return [self.hidden_size, self.proj_size or self.hidden_size]

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        weights = [getattr(self, name) for name in self._flat_weights_names]
        cell, output = (state.unsqueeze(0).contiguous() for state in states)
        outputs, h, c = torch.lstm(
            steps.contiguous(), [output, cell], weights, True, 1, 0.0, False, False, False
        )
        return outputs, [c[0], h[0]]

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """A weight or bias of Torch7, whose columns are of the input, forget and output gates and
        of the input, in PyTorch's order of rows.
        """
        i, f, o, g = tensor.t().chunk(4)
        return torch.cat([i, f, g, o])


class SeqRNN(_OverSequence, nn.RNN):  # type: ignore[misc]
    """``torch.nn.RNN`` that returns the outputs alone.

    PyTorch: ``torch.nn.RNN``.
    """

    _states = 1

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        weights = [getattr(self, name) for name in self._flat_weights_names]
        output = states[0].unsqueeze(0).contiguous()
        outputs, h = torch.rnn_tanh(
            steps.contiguous(), output, weights, True, 1, 0.0, False, False, False
        )
        return outputs, [h[0]]

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """A weight or bias of Torch7 as rows."""
        return tensor.t()


class SeqGRU(_OverSequence):
    """Gated recurrent units whose reset gate acts before the matrix, not after as PyTorch's.

    Args:
        weight: ``inputs + outputs x 3·outputs``, of the reset gate, the update gate and the input.
        bias: ``3·outputs``.
        batch_first: whether sequences are ``N x T x D``.
    """

    _states = 1

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter, batch_first: bool = False) -> None:
        super().__init__()
        self.weight = weight
        self.bias = bias
        self.hidden_size = bias.numel() // 3
        self.batch_first = batch_first

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        size = self.hidden_size
        inputs, hidden = self.weight.split([len(self.weight) - size, size])
        to_gates, to_hidden = hidden.split([2 * size, size], 1)
        [output] = states
        outputs = []
        for step in steps @ inputs + self.bias:
            reset, update = torch.sigmoid(step[:, : 2 * size] + output @ to_gates).chunk(2, 1)
            new = torch.tanh(step[:, 2 * size :] + (reset * output) @ to_hidden)
            output = torch.lerp(new, output, update)
            outputs.append(output)
        return torch.stack(outputs), [output]


class Reverse(nn.Module):
    """The input in reverse along a dimension.

    PyTorch: ``torch.flip``.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flip(self.dim)


class LanguageModel(nn.Module):
    """torch-rnn's: scores of the next character, ``N x T x V``, for numbers from 1, ``N x T``.

    Args:
        net: the layers.
        merging: the places of those that get ``N·T`` rows from then on, where nothing else is done;
        dividing: of those that get ``N x T`` again.
    """

    def __init__(self, net: nn.Sequential, merging: list[int], dividing: list[int]) -> None:
        super().__init__()
        self.net = net
        self.merging = merging
        self.dividing = dividing

    def forward(self, input: Tensor) -> Tensor:
        size = input.shape
        for i, layer in enumerate(self.net):
            if i in self.merging:
                input = input.flatten(0, 1)
            elif i in self.dividing:
                input = input.unflatten(0, size)
            else:
                input = layer(input)
        return input


class OneHot(nn.Module):
    """For every number of the input, from 1, zeros with a 1 at its place.

    PyTorch: ``torch.nn.functional.one_hot``.
    """

    like: Tensor

    def __init__(self, size: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("like", torch.empty(0, dtype=dtype), persistent=False)

    def forward(self, input: Any) -> Tensor:
        input = torch.as_tensor(input, device=self.like.device)
        return F.one_hot(input.long() - 1, self.size).to(self.like)
