"""Distances and similarities of pairs of vectors, shared by layers and criterions."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, wrong_type
from compat.nn.checks.tensors import check_dims, check_type
from compat.nn.functional import distance as f


def pair(input: object) -> tuple[Tensor, Tensor]:
    """Check that ``input`` is a table of two tensors of the same size."""
    if not isinstance(input, (list, tuple)):
        raise wrong_type(input, "input", "a table of two tensors")
    if len(input) != 2:
        raise ValueError(f"input is a table of {len(input)}; a table of two tensors is accepted")
    first, second = (check_tensor(entry, f"input[{i}]") for i, entry in enumerate(input, 1))
    check_type(second, first, "input[2]", "input[1]")
    if first.shape != second.shape:
        raise ValueError(
            f"input has tensors of size {tuple(first.shape)} and {tuple(second.shape)}; "
            "equal ones are accepted"
        )
    return first, second


def vectors(input: object) -> tuple[Tensor, Tensor]:
    """The two tensors of a table, ``N x D``; vectors become batches of one."""
    first, second = pair(input)
    check_dims(first, 1, 2, name="input[1]")
    return (first, second) if first.dim() == 2 else (first.unsqueeze(0), second.unsqueeze(0))


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """The cosine of the angle between vectors in the last dimension.

    Torch7 adds 1e-12 to the squared norms.
    """
    return _Cosine.apply(first, second)


def norm(tensor: Tensor, p: float, eps: float) -> Tensor:
    """The ``p``-norms of the vectors in the last dimension, with Torch7's gradient.

    That is finite at 0, because ``eps`` is added to the norm before it is divided by. Of the 1-norm
    it is 1 or -1 at 0, drawn from Torch7's generator.
    """
    return _Norm.apply(tensor, p, eps)


def torch7_lengths(rows: Tensor) -> Tensor:
    """The 2-norms of rows, ``N x 1``, to the bit: Torch7 sums squares one by one, in doubles."""
    squares = rows.square().cumsum(1, dtype=torch.float64)[:, -1:].to(rows.dtype)
    if squares.is_meta:
        return squares
    # PyTorch's roots are not always the nearest numbers.
    return squares.new_tensor([[math.sqrt(square)] for [square] in squares.tolist()])


class _Cosine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        similarity, *known = f.cosine(first, second)
        ctx.save_for_backward(first, second, *known)
        return similarity

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return f.cosine_backward(gradient, *ctx.saved_tensors)


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
        if ctx.p == 1:
            return drawn_sign(tensor) * gradient.unsqueeze(-1), None, None
        return f.norm_backward(gradient, tensor, norms, ctx.p, ctx.eps), None, None


def drawn_sign(tensor: Tensor) -> Tensor:
    """The sign of each number, and of a 0 one that is drawn from Torch7's generator."""
    sign = tensor.sign()
    zero = sign == 0
    if sign.device.type != "cpu":
        return torch.where(zero, torch.randint_like(sign, 2) * 2 - 1, sign)
    count = int(zero.sum())
    if count:
        sign[zero] = 2 * random.random_(sign.new_empty(count), 1, 2) - 3
    return sign
