"""Distances and similarities of pairs of vectors. Layers and criterions call them."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from compat import random
from compat.checks import check_tensor, wrong_type
from compat.nn.checks.tensors import check_dims, check_type


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
    """Return the two tensors of a table, ``N x D``; vectors become batches of one."""
    first, second = pair(input)
    check_dims(first, 1, 2, name="input[1]")
    return (first, second) if first.dim() == 2 else (first.unsqueeze(0), second.unsqueeze(0))


def torch7_lengths(rows: Tensor) -> Tensor:
    """Return the 2-norms of rows, ``N x 1``, to the bit: Torch7 sums squares one by one, in
    doubles.
    """
    squares = rows.square().cumsum(1, dtype=torch.float64)[:, -1:].to(rows.dtype)
    if squares.is_meta:
        return squares
    # PyTorch's roots are not always the nearest numbers.
    return squares.new_tensor([[math.sqrt(square)] for [square] in squares.tolist()])


def drawn_signs(tensor: Tensor) -> Tensor:
    """Return signs as 1 and -1; the sign of 0 is drawn from Torch7's generator."""
    found = tensor.sign()
    none = found == 0
    if found.device.type != "cpu":
        return torch.where(none, torch.randint_like(found, 2) * 2 - 1, found)
    count = int(none.sum())
    if count:
        found[none] = 2 * random.random_(found.new_empty(count), 1, 2) - 3
    return found
