"""Collectives by NCCL, the conditions for it, and the warning when they do not hold."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.cuda import nccl

from dptable.torch_internals import has_nccl

_NCCL_TYPES = frozenset(
    {
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
        torch.int8,
        torch.uint8,
        torch.int32,
        torch.int64,
    }
)
_told: set[str] = set()


def why_not_nccl(tensors: Sequence[Tensor]) -> str | None:
    """Return why NCCL cannot be used for these tensors, one per device, or None if it can.

    Args:
        tensors: one tensor per device.
    """
    if os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        return "CUDA_LAUNCH_BLOCKING is 1, with which NCCL hangs"
    if not all(tensor.is_cuda for tensor in tensors):
        return "not all devices are GPUs"
    if len({tensor.device for tensor in tensors}) < len(tensors):
        return "a GPU is listed twice"
    if not has_nccl():
        return "this PyTorch was built without NCCL"
    if not all(t.layout == torch.strided and t.is_contiguous() for t in tensors):
        return "a tensor is not contiguous"
    if not all(tensor.dtype in _NCCL_TYPES for tensor in tensors):
        return f"it does not know {tensors[0].dtype}"
    return None


def nccl_serves(tensors: Sequence[Tensor]) -> bool:
    """Return whether NCCL can be used for these tensors; warn once for each reason why not."""
    reason = why_not_nccl(tensors)
    if reason is None:
        return True
    if reason not in _told:
        _told.add(reason)
        warnings.warn(f"NCCL is not used, copies are: {reason}", stacklevel=4)
    return False


# PyTorch keeps the communicators of a list of devices in a cache without a lock of its own, and
# NCCL wants the calls of all devices of a communicator in one order.
_carrying = threading.Lock()


def broadcast(tensors: Sequence[Tensor]) -> None:
    """Copy the first tensor into the others by NCCL."""
    with _carrying:
        nccl.broadcast(_as_real(tensors))


def reduce(tensors: Sequence[Tensor], output: Tensor | None = None, root: int = 0) -> None:
    """Sum tensors by NCCL, into number ``root`` or into ``output``, which is on its device."""
    with _carrying:
        if output is None:
            nccl.reduce(_as_real(tensors), root=root)
        else:
            nccl.reduce(_as_real(tensors), output=_as_real([output])[0], root=root)


def _as_real(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return views that NCCL accepts: complex numbers as pairs of real numbers."""
    return [torch.view_as_real(t) if t.is_complex() else t for t in tensors]
