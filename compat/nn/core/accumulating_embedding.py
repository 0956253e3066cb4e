"""Rows of a matrix by their indices, whose gradient is added to those rows alone, as Torch7 does.

Autograd makes a gradient of the whole matrix, zero but for these rows, and adds it to what is
there: with a large vocabulary that takes a thousand times as long.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.core.accumulating_linear import LARGE, announce
from compat.nn.core.contributions import contributions
from compat.nn.core.tape import Tape, current_recorder, current_tape


def embedding(rows: Tensor, weight: Tensor, padding: int) -> Tensor:
    """``torch.embedding``: the rows of ``weight``, counted from 0.

    The row ``padding`` gets no gradient; -1 is none.
    """
    recorder = current_recorder()
    if recorder is not None:
        return recorder.whole(_Embedding, embedding, _embedding, rows, weight, padding)
    return _embedding(rows, weight, padding)


def _embedding(rows: Tensor, weight: Tensor, padding: int) -> Tensor:
    tape = current_tape()
    is_small = weight.numel() + rows.numel() * weight.size(1) < LARGE
    # Elsewhere than on CPUs rows that occur twice would be added in any order.
    if tape is None or is_small or not weight.requires_grad or weight.device.type != "cpu":
        return torch.embedding(weight, rows, padding)
    return _Embedding.apply(rows, weight, padding, tape)


class _Embedding(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, padding: int, tape: Tape) -> Tensor:
        ctx.save_for_backward(rows)
        # Not saved, which would refuse changes since: backward does not read it.
        ctx.weight, ctx.padding, ctx.tape = weight, padding, tape
        return torch.embedding(weight, rows, padding)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (rows,), weight = ctx.saved_tensors, ctx.weight
        if not ctx.tape.accumulating or contributions() is not None:
            whole = torch.ops.aten.embedding_dense_backward(
                gradient, rows, len(weight), ctx.padding, False
            )
            return None, whole, None, None
        rows, gradient = rows.flatten(), gradient.reshape(-1, weight.size(1))
        if ctx.padding >= 0:
            trained = rows != ctx.padding
            rows, gradient = rows[trained], gradient[trained]
        weight.grad.index_add_(0, rows, gradient)
        announce(weight)
        return None, None, None, None
