"""The common part of the layers of package rnn over whole sequences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.nn.core.module import Scalar
from compat.nn.recurrent.sequencers import Remembers
from compat.nn.recurrent.whole_sequence import WholeSequence, check_state

Q = TypeVar("Q", bound="SequenceLayer")


class SequenceLayer(Remembers, WholeSequence, abstract=True):
    """A layer over a sequence ``T x N x D``, or ``N x T x D`` with ``batchfirst``.

    Fields: ``maskzero``, whether rows of the input that are zero give zeros and reset the states;
    ``userPrevCell`` and ``userPrevOutput``, what the next call starts from, and after backward
    ``userGradPrevCell`` and ``userGradPrevOutput``, the gradients of what it started from;
    ``userNextGradCell`` and ``gradPrevOutput``, gradients of what it ended with, which the next
    backward adds.
    """

    time = 0
    batchfirst: bool = False
    maskzero: bool = False
    userPrevOutput: Tensor | None = None
    userPrevCell: Tensor | None = None
    userNextGradCell: Tensor | None = None
    gradPrevOutput: Tensor | None = None
    userGradPrevOutput: Tensor | None = None
    userGradPrevCell: Tensor | None = None
    pass_fields = (*WholeSequence.pass_fields, "userGradPrevCell", "userGradPrevOutput")
    _file_output = "_output"
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
        self._drop_states()
        self.reset()

    def reset(self: Q, stdv: Scalar | None = None) -> Q:
        """Draw the weight from a normal distribution; the bias of the second gate becomes 1."""
        size = self.bias.numel() // self._gates
        draw(self.weight, len(self.weight), stdv)
        self.bias.zero_()
        self.bias[size : 2 * size].fill_(1)
        return self

    def starts_with_batch(self) -> bool:
        return self.batchfirst

    def remembers(self) -> bool:
        return self.hasMemory()

    def resetStates(self) -> None:
        """Call ``forget``."""
        self.forget()

    def maskZero(self: Q, nInputDim: int | None = None) -> Q:
        """Set ``maskzero``."""
        self.maskzero = True
        return self

    def set_train(self, train: bool) -> None:
        if train != self.train:
            self.forget()
        super().set_train(train)

    def updateOutput(self, input: Any) -> Tensor:
        output = super().updateOutput(input)
        self._drop(_GIVEN)
        return output

    def _turned(self, sequence: Tensor) -> Tensor:
        return sequence.transpose(0, 1) if self.batchfirst else sequence

    def _set_outputs(self, outputs: Tensor) -> Tensor:
        if not self.batchfirst:
            return super()._set_outputs(outputs)
        self._outputs = outputs
        found: Tensor = self.set_output(outputs.transpose(0, 1))
        return found

    def _back(self, steps: Tensor, states: list[Tensor], gradOutput: Any) -> list[Tensor]:
        gradients = super()._back(steps, states, gradOutput)
        self._drop(_ADDED)
        for name, gradient in zip(self._states, gradients, strict=True):
            setattr(self, _GRADIENTS[name], gradient)
        return gradients

    def _ends(self, states: list[Tensor]) -> Sequence[tuple[Tensor | None, Tensor]]:
        given = (getattr(self, _ADDED[name]) for name in self._states)
        return list(zip(given, states, strict=True))

    def _drop(self, fields: dict[str, str]) -> None:
        for name in fields.values():
            self.__dict__.pop(name, None)

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        state = getattr(self, _GIVEN[name])
        if state is not None:
            return check_state(state, f"{_GIVEN[name]} is", size, like).clone()
        return super()._first(i, name, size, like)

    def _blank(self, steps: Tensor) -> Sequence[Tensor] | None:
        """Return for each step which samples of the batch are zeros and give zeros."""
        return (steps == 0).all(-1, keepdim=True).unbind(0) if self.maskzero else None

    def _give(
        self, from_input: Sequence[Any], from_output: Sequence[Any], gates: list[list[int]]
    ) -> None:
        """Copy the values and gradients of the ``gates`` that each layer holds side by side."""
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


def _value(parameter: Tensor) -> Tensor:
    return parameter.data


def _gradient(parameter: Tensor) -> Any:
    return parameter.grad


# By state, the fields that take it, take a gradient of it at the end, and tell that at the start.
_GIVEN = {"c0": "userPrevCell", "h0": "userPrevOutput"}
_ADDED = {"c0": "userNextGradCell", "h0": "gradPrevOutput"}
_GRADIENTS = {"c0": "userGradPrevCell", "h0": "userGradPrevOutput"}


def draw(weight: Tensor, inputs: int, stdv: Scalar | None) -> None:
    """Draw a weight from a normal distribution scaled by its number of ``inputs``."""
    random.normal_(weight, 0, 1 / math.sqrt(inputs) if stdv is None else stdv)
