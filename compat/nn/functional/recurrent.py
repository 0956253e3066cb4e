"""Recurrent layers over whole sequences, and the penalty of a norm stabilizer.

Sequences are ``T x N x D`` with ``time`` 0 and ``N x T x D`` with ``time`` 1. The first rows of a
weight are those of the input, the others those of the output before. ``blank`` tells for each step
which samples are zeros, and give zeros and reset the states: ``T`` masks of ``N x 1``, or None.
The gradients at the gates, ``T x N x G``, give those of the input and the parameters. Under
autocast all is in the type of the first product.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten


def lstm(
    input: Tensor,
    c0: Tensor,
    h0: Tensor,
    weight: Tensor,
    bias: Tensor,
    time: int,
    blank: Sequence[Tensor] | None = None,
    projection: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return an LSTM without peepholes: outputs, cells, gates and hidden states before the
    projection.

    The gates are the input, forget and output gate and the new input; without ``projection`` the
    hidden states are the outputs.
    """
    sums = torch.addmm(bias, input.flatten(0, 1), weight[: input.size(2)])
    gates = sums.view(input.size(0), input.size(1), weight.size(1))
    feedback, size = weight[input.size(2) :].to(gates.dtype), c0.size(1)
    cells = gates.new_empty(*gates.shape[:2], size)
    hiddens = torch.empty_like(cells)
    outputs = hiddens
    if projection is not None:
        projection = projection.to(gates.dtype)
        outputs = gates.new_empty(*gates.shape[:2], h0.size(1))
    steps = zip(*(part.unbind(time) for part in (gates, cells, hiddens, outputs)), strict=True)
    cell, output = c0.to(gates.dtype), h0.to(gates.dtype)
    for t, (gate, c, hidden, out) in enumerate(steps):
        gate.addmm_(output, feedback)
        gate[:, : 3 * size].sigmoid_()
        i, f, o, g = gate.split(size, 1)
        g.tanh_()
        torch.addcmul(torch.mul(i, g, out=c), f, cell, out=c)
        torch.mul(torch.tanh(c, out=hidden), o, out=hidden)
        if projection is not None:
            torch.mm(hidden, projection, out=out)
        if blank is not None:
            for part in (gate, c, out):
                part.masked_fill_(blank[t], 0)
        cell, output = c, out
    return outputs, cells, gates, hiddens


def lstm_backward(
    gradOutput: Tensor,
    gates: Tensor,
    cells: Tensor,
    c0: Tensor,
    weight: Tensor,
    grad_c: Tensor,
    grad_h: Tensor,
    time: int,
    blank: Sequence[Tensor] | None = None,
    projection: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients at the gates, of ``c0`` and ``h0``, and those at the outputs, from all
    sides.

    ``grad_c`` and ``grad_h`` are the gradients of the last states from what comes after.
    """
    size = cells.size(2)
    feedback = weight[weight.size(0) - grad_h.size(1) :].t().to(gates.dtype)
    projection = None if projection is None else projection.t().to(gates.dtype)
    grad_c, grad_h = grad_c.to(gates.dtype), grad_h.to(gates.dtype)
    i, f, o, g = gates.split(size, 2)
    c0 = c0.to(gates.dtype)
    before = torch.cat([c0.unsqueeze(time), cells.narrow(time, 0, cells.size(time) - 1)], time)
    squashed = torch.tanh(cells)
    # What the gradients of hidden state and cell are multiplied with.
    to_cell = aten.tanh_backward.default(o, squashed)
    found = torch.empty_like(gates)
    at_i, at_f, at_o, at_g = found.split(size, 2)
    aten.sigmoid_backward.grad_input(g, i, grad_input=at_i)
    aten.sigmoid_backward.grad_input(before, f, grad_input=at_f)
    aten.sigmoid_backward.grad_input(squashed, o, grad_input=at_o)
    aten.tanh_backward.grad_input(i, g, grad_input=at_g)
    at_outputs = torch.empty_like(gradOutput)
    parts = (gradOutput, at_outputs, found, to_cell, f)
    steps = list(zip(*(part.unbind(time) for part in parts), strict=True))
    for t in range(len(steps) - 1, -1, -1):
        given, at_output, at_gates, factor, kept = steps[t]
        torch.add(grad_h, given, out=at_output)
        if blank is not None:
            at_output.masked_fill_(blank[t], 0)
        grad_h = at_output if projection is None else at_output.mm(projection)
        grad_c = torch.addcmul(grad_c, grad_h, factor)
        at_i, at_f, at_o, at_g = at_gates.split(size, 1)
        at_i.mul_(grad_c)
        at_f.mul_(grad_c)
        at_o.mul_(grad_h)
        at_g.mul_(grad_c)
        grad_h = at_gates.mm(feedback)
        grad_c = grad_c.mul_(kept)
    return found, grad_c, grad_h, at_outputs


def gru(
    input: Tensor,
    h0: Tensor,
    weight: Tensor,
    bias: Tensor,
    time: int,
    blank: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute gated recurrent units: outputs and gates (reset, update, new)."""
    sums = torch.addmm(bias, input.flatten(0, 1), weight[: input.size(2)])
    gates = sums.view(input.size(0), input.size(1), weight.size(1))
    size = h0.size(1)
    to_gates, to_new = weight[input.size(2) :].to(gates.dtype).split([2 * size, size], 1)
    outputs = gates.new_empty(*gates.shape[:2], size)
    output = h0.to(gates.dtype)
    for t, (gate, out) in enumerate(zip(gates.unbind(time), outputs.unbind(time), strict=True)):
        both, new = gate.split([2 * size, size], 1)
        reset, update = both.addmm_(output, to_gates).sigmoid_().split(size, 1)
        new.addmm_(reset * output, to_new).tanh_()
        torch.lerp(new, output, update, out=out)
        if blank is not None:
            for part in (gate, out):
                part.masked_fill_(blank[t], 0)
        output = out
    return outputs, gates


def gru_backward(
    gradOutput: Tensor,
    gates: Tensor,
    outputs: Tensor,
    h0: Tensor,
    weight: Tensor,
    grad_h: Tensor,
    time: int,
    blank: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients at the gates and of ``h0``; ``grad_h`` is that of the last output."""
    size = h0.size(1)
    feedback = weight[weight.size(0) - size :].to(gates.dtype)
    to_gates, to_new = feedback.split([2 * size, size], 1)
    h0, grad_h = h0.to(gates.dtype), grad_h.to(gates.dtype)
    r, u, new = gates.split(size, 2)
    before = torch.cat([h0.unsqueeze(time), outputs.narrow(time, 0, outputs.size(time) - 1)], time)
    found = torch.cat(
        [r * (1 - r) * before, u * (1 - u) * (before - new), (1 - u) * (1 - new * new)], 2
    )
    steps = list(zip(*(part.unbind(time) for part in (gradOutput, found, gates)), strict=True))
    for t in range(len(steps) - 1, -1, -1):
        given, at_gates, gate = steps[t]
        grad_h = grad_h + given
        if blank is not None:
            grad_h.masked_fill_(blank[t], 0)
        at_r, at_u, at_new = at_gates.split(size, 1)
        reset, update, _ = gate.split(size, 1)
        at_reset = at_new.mul_(grad_h).mm(to_new.t())
        at_r.mul_(at_reset)
        at_u.mul_(grad_h)
        grad_h.mul_(update).addcmul_(at_reset, reset)
        grad_h.addmm_(at_gates[:, : 2 * size], to_gates.t())
    return found, grad_h


def rnn(input: Tensor, h0: Tensor, weight: Tensor, bias: Tensor, time: int) -> Tensor:
    """Return the outputs of a recurrent net with hyperbolic tangents."""
    sums = torch.addmm(bias, input.flatten(0, 1), weight[: input.size(2)])
    outputs = sums.view(input.size(0), input.size(1), weight.size(1))
    feedback, output = weight[input.size(2) :].to(sums.dtype), h0.to(sums.dtype)
    for step in outputs.unbind(time):
        output = step.addmm_(output, feedback).tanh_()
    return outputs


def rnn_backward(
    gradOutput: Tensor, outputs: Tensor, weight: Tensor, grad_h: Tensor, time: int
) -> tuple[Tensor, Tensor]:
    """Return the gradients before the tangents and of ``h0``."""
    found = 1 - outputs * outputs
    feedback = weight[weight.size(0) - outputs.size(2) :].t().to(outputs.dtype)
    grad_h = grad_h.to(outputs.dtype)
    steps = zip(gradOutput.unbind(time), found.unbind(time), strict=True)
    for given, at_sum in reversed(list(steps)):
        grad_h = at_sum.mul_(grad_h + given).mm(feedback)
    return found, grad_h


def recurrent_grad_input(at_gates: Tensor, weight: Tensor, inputs: int) -> Tensor:
    """Return the gradient of the input, of ``inputs`` features, from those at the gates."""
    found = at_gates.flatten(0, 1).mm(weight[:inputs].t())
    return found.view(at_gates.size(0), at_gates.size(1), inputs)


def recurrent_acc_(
    input: Tensor,
    outputs: Tensor,
    h0: Tensor,
    at_gates: Tensor,
    gradWeight: Tensor | None,
    gradBias: Tensor | None,
    scale: float,
    time: int,
    reset: Tensor | None = None,
) -> None:
    """Add the gradients of the weight and the bias; ``reset`` are the reset gates of a GRU."""
    at_sums = at_gates.flatten(0, 1)
    if gradBias is not None:
        gradBias.add_(at_sums.sum(0), alpha=scale)
    if gradWeight is None:
        return
    dtype = gradWeight.dtype
    at_sums, input, h0, outputs = (t.to(dtype) for t in (at_sums, input, h0, outputs))
    of_input, of_output = gradWeight.split([input.size(2), h0.size(1)])
    of_input.addmm_(input.flatten(0, 1).t(), at_sums, alpha=scale)
    before = torch.cat([h0.unsqueeze(time), outputs.narrow(time, 0, outputs.size(time) - 1)], time)
    if reset is not None:
        size = h0.size(1)
        of_new = of_output[:, 2 * size :]
        of_new.addmm_(
            (before * reset.to(dtype)).flatten(0, 1).t(), at_sums[:, 2 * size :], alpha=scale
        )
        of_output, at_sums = of_output[:, : 2 * size], at_sums[:, : 2 * size]
    of_output.addmm_(before.flatten(0, 1).t(), at_sums, alpha=scale)


def projection_acc_(hiddens: Tensor, at_outputs: Tensor, gradWeightO: Tensor, scale: float) -> None:
    """Add the gradient of what hidden states are multiplied with."""
    hiddens, at_outputs = (t.flatten(0, 1).to(gradWeightO.dtype) for t in (hiddens, at_outputs))
    gradWeightO.addmm_(hiddens.t(), at_outputs, alpha=scale)


def stabilized(
    gradOutput: Tensor, input: Tensor, norm: Tensor, others: Sequence[Tensor], beta: float
) -> Tensor:
    """``gradOutput``, and the gradient of the penalty of a norm that differs from ``others``."""
    found = gradOutput.clone()
    for other in others:
        found.add_(input * ((norm - other) * (2 * beta / input.size(0)) / norm))
    return found


def sadd(input: Tensor, addend: float, negate: bool) -> Tensor:
    """Return the input plus a number, or the negative of that."""
    return -input - addend if negate else input + addend
