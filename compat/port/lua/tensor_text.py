"""Tensors as Torch7 prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from compat.tensor_types import tensor_type

_LINE = 80


def shown(x: torch.Tensor) -> str:
    """Return all elements of a tensor, then its type and size."""
    name = "torch.ByteTensor" if x.dtype == torch.bool else tensor_type(x)
    if x.numel() == 0:
        return f"[{name} with no dimension]\n"
    numbers = x.detach().cpu().double().flatten().tolist()
    size = list(x.shape)
    if x.dim() == 1:
        text = _column(numbers)
    elif x.dim() == 2:
        text = _matrix(numbers, size[0], size[1], "")
    else:
        rows, columns = size[-2:]
        text = ""
        counter = [1] * (x.dim() - 2)
        for block in range(len(numbers) // (rows * columns)):
            start = 0
            for d in range(x.dim() - 2):
                start = start * size[d] + counter[d] - 1
            if block:
                text += "\n"
            text += f"({','.join(map(str, counter))},.,.) = \n"
            at = start * rows * columns
            text += _matrix(numbers, rows, columns, " ", at)
            for d in range(x.dim() - 2):
                counter[d] += 1
                if counter[d] <= size[d]:
                    break
                counter[d] = 1
    return f"{text}[{name} of size {'x'.join(map(str, size))}]\n"


def sizes(size: Sequence[int]) -> str:
    """Return the sizes of a tensor, which Torch7 keeps in a LongStorage."""
    if not any(size):  # Torch7's empty tensors have no dimension
        return "[torch.LongStorage of size 0]\n"
    return f"{_column(size)}[torch.LongStorage of size {len(size)}]\n"


def storage(x: torch.Tensor) -> str:
    """Return the elements of a storage, which are those of a flat tensor."""
    name = tensor_type(x).replace("Tensor", "Storage")
    numbers = x.detach().cpu().double().tolist()
    return f"{_column(numbers)}[{name} of size {len(numbers)}]\n"


def _column(numbers: Sequence[float]) -> str:
    """Return numbers below each other."""
    form = _Form(numbers)
    head = "" if form.scale is None else f"{form.scale:g} *\n"
    return head + "".join(f"{form.written(n)}\n" for n in numbers)


class _Form:
    """The one way in which the numbers of a tensor are written."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.scale: float | None = None
        if not numbers:
            self.width, self.format = 1, "%d"
            return
        is_whole = all(n == math.ceil(n) if math.isfinite(n) else n == n for n in numbers)
        if any(n != n for n in numbers):
            self.width, self.format = 8, "%f"
            return
        smallest, largest = _exponent(min(map(abs, numbers))), _exponent(max(map(abs, numbers)))
        if is_whole:
            if largest > 9:
                self.width, self.format = 11, "%11.4e"
            else:
                self.width = int(largest) + 1
                self.format = f"%{self.width}d"
        elif largest - smallest > 4:
            self.width = 12 if abs(largest) > 99 or abs(smallest) > 99 else 11
            self.format = f"%{self.width}.4e"
        elif largest > 5 or largest < 0:
            self.width, self.format = 7, "%7.4f"
            self.scale = 10.0 ** (largest - 1)
        else:
            self.width = 7 if largest == 0 else int(largest) + 6
            self.format = f"%{self.width}.4f"

    def written(self, number: float) -> str:
        """Return a number, in the width of all."""
        if self.scale is not None:
            number = number / self.scale
        if not math.isfinite(number):
            text = "nan" if number != number else "inf" if number > 0 else "-inf"
            if number != number and math.copysign(1, number) < 0:
                text = "-nan"
            return text if self.format == "%f" else text.rjust(self.width)
        return self.format % number


def _exponent(number: float) -> float:
    if number == math.inf:
        return number
    return math.floor(math.log10(number)) + 1 if number else 1


def _matrix(numbers: Sequence[float], rows: int, columns: int, indent: str, start: int = 0) -> str:
    """Return a matrix in blocks of columns; its form is that of all the numbers."""
    form = _Form(numbers)
    per_line = (_LINE - len(indent)) // (form.width + 1)
    text = indent
    first = 1
    while first <= columns:
        last = min(first + per_line - 1, columns)
        if per_line < columns:
            if first != 1:
                text += "\n"
            text += f"Columns {first} to {last}\n{indent}"
        if form.scale is not None and form.scale != 1:
            text += f"{form.scale:g} *\n {indent}"
        for row in range(1, rows + 1):
            at = start + (row - 1) * columns
            text += " ".join(form.written(n) for n in numbers[at + first - 1 : at + last]) + "\n"
            if row != rows:
                text += f"{indent} " if form.scale is not None and form.scale != 1 else indent
        first = last + 1
    return text
