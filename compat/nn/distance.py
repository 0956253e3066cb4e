"""Distances and similarities of pairs of vectors, shared by layers and criterions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat import random


def pair(input: object) -> tuple[Tensor, Tensor]:
    """Check that ``input`` is a table of two tensors of the same size."""
    if not isinstance(input, (list, tuple)) or not all(isinstance(x, Tensor) for x in input):
        raise TypeError(f"input is a {type(input).__name__}; a table of two tensors is accepted")
    if len(input) != 2:
        raise ValueError(f"input is a table of {len(input)}; a table of two tensors is accepted")
    first, second = input
    if first.shape != second.shape:
        raise ValueError(
            f"input has tensors of size {tuple(first.shape)} and {tuple(second.shape)}; "
            "equal ones are accepted"
        )
    return first, second


def vectors(input: object) -> tuple[Tensor, Tensor]:
    """The two tensors of a table, ``N x D``; vectors become batches of one."""
    first, second = pair(input)
    if first.dim() not in (1, 2):
        raise ValueError(f"input has tensors of {first.dim()} dimensions; 1 or 2 are accepted")
    return (first, second) if first.dim() == 2 else (first.unsqueeze(0), second.unsqueeze(0))


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """The cosine of the angle between vectors in the last dimension.

    Torch7 adds 1e-12 to the squared norms.
    """
    squares = [(x * x).sum(-1) + 1e-12 for x in (first, second)]
    return (first * second).sum(-1) / (squares[0] * squares[1]).sqrt()


def norm(tensor: Tensor, p: float, eps: float) -> Tensor:
    """The ``p``-norms of the vectors in the last dimension, with Torch7's gradient.

    That is finite at 0, because ``eps`` is added to the norm before it is divided by. Of the 1-norm
    it is 1 or -1 at 0, drawn from Torch7's generator.
    """
    return _Norm.apply(tensor, p, eps)


def torch7_lengths(rows: Tensor) -> Tensor:
    """The 2-norms of rows, ``N x 1``, summed one by one as Torch7 does, and so equal to the bit."""
    return rows.square().cumsum(1)[:, -1:].sqrt()


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor, p: float, eps: float) -> Tensor:
        norms = torch.linalg.vector_norm(tensor, p, dim=-1)
        ctx.save_for_backward(tensor, norms)
        ctx.p, ctx.eps = p, eps
        return norms

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        tensor, norms = ctx.saved_tensors
        p = ctx.p
        if p == 1:
            return _drawn_sign(tensor) * gradient.unsqueeze(-1), None, None
        slope = tensor if p == 2 else tensor.sign() * tensor.abs().pow(p - 1)
        return slope * (gradient * (norms + ctx.eps).pow(1 - p)).unsqueeze(-1), None, None


def _drawn_sign(tensor: Tensor) -> Tensor:
    sign = tensor.sign()
    zero = sign == 0
    if sign.device.type != "cpu":
        return torch.where(zero, torch.randint_like(sign, 2) * 2 - 1, sign)
    count = int(zero.sum())
    if count:
        sign[zero] = 2 * random.random_(sign.new_empty(count), 1, 2) - 3
    return sign
