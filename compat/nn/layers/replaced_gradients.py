"""Functions whose gradient is another than their derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Through(torch.autograd.Function):
    """``Through.apply(input, change)``: the input, with its gradient replaced by ``change(it)``."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, change: Callable[[Tensor], Any]) -> Tensor:
        ctx.change = change
        return input.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return ctx.change(gradient), None


class StraightThrough(torch.autograd.Function):
    """``StraightThrough.apply(input, value)``: a value of the input's size, and its gradient."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, value: Tensor) -> Tensor:
        return value.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return gradient, None
