"""Write a stream of drawn numbers into a tensor, in row-major order of its indices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Draw = Callable[[int], NDArray[Any]]

# Small enough for a core's cache, large enough to make the calls per chunk negligible.
CHUNK = 1 << 15


@dataclass(frozen=True)
class Filling:
    """A tensor that is to be filled, and the function that fills it."""

    shape: torch.Size
    dtype: torch.dtype
    fill: Callable[[torch.Tensor], torch.Tensor]

    def __call__(self) -> torch.Tensor:
        """Return a new tensor, filled."""
        return self.fill(torch.empty(self.shape, dtype=self.dtype))


class _Local(threading.local):
    filler: Callable[[torch.Tensor, Filling], torch.Tensor] | None = None


_local = _Local()


@contextmanager
def filled_by(filler: Callable[[torch.Tensor, Filling], torch.Tensor]) -> Iterator[None]:
    """Draw nothing in this thread during the block: ``filler`` fills the tensors.

    For tensors without memory, and to repeat numbers that were drawn before.
    """
    outer, _local.filler = _local.filler, filler
    try:
        yield
    finally:
        _local.filler = outer


def fill_or_note(
    tensor: torch.Tensor, fill: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Call ``fill(tensor)``, or the function of ``filled_by``."""
    if _local.filler is None:
        return fill(tensor)
    return _local.filler(tensor, Filling(tensor.shape, tensor.dtype, fill))


def fill(tensor: torch.Tensor, draw: Draw, chunk: int = CHUNK) -> None:
    """Set every element of ``tensor`` to the next number of ``draw``, whatever the strides.

    If indices share an element, each index takes a number and the last one stays. Tensors of
    other devices are drawn on the CPU and copied. Autograd does not record the fill.
    """
    target = tensor.detach()
    if target.is_contiguous() and target.device.type == "cpu":
        _fill_contiguous(target.view(-1), draw, chunk)
        return
    staged = torch.empty(target.shape, dtype=target.dtype, device="cpu")
    _fill_contiguous(staged.view(-1), draw, chunk)
    if _may_overlap(target):
        _copy_last_wins(target, staged.view(-1))
    else:
        target.copy_(staged)


def _fill_contiguous(flat: torch.Tensor, draw: Draw, chunk: int) -> None:
    through_float = flat.dtype in (torch.float16, torch.bfloat16)
    for part in (flat,) if flat.numel() <= chunk else flat.split(chunk):
        if part.numel():
            values = torch.from_numpy(draw(part.numel()))
            part.copy_(values.float() if through_float else values)


def _may_overlap(tensor: torch.Tensor) -> bool:
    """Return False only if every index has an element of its own."""
    reach = 0
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False


def _copy_last_wins(target: torch.Tensor, values: torch.Tensor) -> None:
    offsets = np.zeros((), np.int64)
    for stride, size in zip(target.stride(), target.shape, strict=True):
        offsets = offsets[..., None] + stride * np.arange(size)
    elements, from_the_end = np.unique(offsets.ravel()[::-1], return_index=True)
    last_writers = values.numel() - 1 - from_the_end
    window = target.as_strided((int(elements[-1]) + 1,), (1,))
    index = torch.from_numpy(elements).to(target.device)
    window[index] = values[torch.from_numpy(last_writers)].to(target.device)
