"""A matrix product whose weight gradient is added by the product itself, as Torch7 does.

Autograd computes a weight's gradient into new memory and then adds it to what is there. Where the
matrix is large, that takes two passes over memory more, which matters when the batch is small.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.nn.core.contributions import contributions
from compat.nn.core.tape import Tape, current_recorder, current_tape
from compat.torch_internals import call_gradient_hooks

# Below so many elements the passes cost less than a Python function in the graph.
LARGE = 1 << 16


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``torch.nn.functional.linear`` for an ``input`` of one or two dimensions."""
    recorder = current_recorder()
    if recorder is not None:
        return recorder.whole(_Linear, linear, _linear, input, weight, bias)
    return _linear(input, weight, bias)


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    tape = current_tape()
    if tape is None or weight.numel() < LARGE or input.dim() > 2 or not weight.requires_grad:
        return F.linear(input, weight, bias)
    if input.dim() == 1:
        return _Linear.apply(input.unsqueeze(0), weight, bias, tape).squeeze(0)
    return _Linear.apply(input, weight, bias, tape)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: Tensor, weight: Tensor, bias: Tensor | None, tape: Tape) -> Tensor:
        ctx.save_for_backward(input, weight)
        ctx.tape = tape
        ctx.has_bias = bias is not None
        return F.linear(input, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        input, weight = ctx.saved_tensors
        to_input, to_weight, to_bias, _ = ctx.needs_input_grad
        grad_input = gradient.mm(weight) if to_input else None
        grad_weight = None
        if to_weight and ctx.tape.accumulating:
            kept = contributions()
            if kept is not None:
                kept.add_product(weight, gradient.t(), input)
                kept.announced.append(weight)
            else:
                weight.grad.addmm_(gradient.t(), input)
                announce(weight)
        elif to_weight:
            grad_weight = gradient.t().mm(input)
        grad_bias = gradient.sum(0) if ctx.has_bias and to_bias else None
        return grad_input, grad_weight, grad_bias, None


def announce(weight: Tensor) -> None:
    """Call the hooks of a parameter to whose gradient a function has added itself."""
    if not _hooks_are_called():
        call_gradient_hooks(weight)


class _NoGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor) -> Tensor:
        return weight.detach().clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> None:
        return None


@cache
def _hooks_are_called() -> bool:
    """Whether autograd calls a parameter's hooks when it gets no gradient, as newer versions do."""
    called: list[Tensor] = []
    weight = torch.zeros(1, requires_grad=True)
    weight.register_post_accumulate_grad_hook(called.append)
    with torch.enable_grad():
        _NoGradient.apply(weight).backward(torch.zeros(1))
    return bool(called)
