"""Class labels, which Torch7 counts from 1."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import wrong_type


def zero_based_labels(target: Any, shape: tuple[int, ...], device: torch.device) -> Tensor:
    """Return PyTorch's numbers of the classes in ``target``.

    Args:
        target: a number, or a tensor of any type; a single label may stand in any shape.
        shape: the shape the labels should have.
        device: the device of the result.

    Raises:
        ValueError: where the number of labels does not fit.
        TypeError: anything else.
    """
    if isinstance(target, Tensor):
        if target.shape != shape:
            if target.numel() != 1 or shape not in ((), (1,)):
                raise ValueError(
                    f"target has size {tuple(target.shape)}; labels of size {tuple(shape)} "
                    "are accepted"
                )
            target = target.reshape(shape)
        if target.dtype != torch.int64 or target.device != device:
            target = target.to(device=device, dtype=torch.int64)
        return target - 1
    if isinstance(target, bool) or not isinstance(target, (int, float)):
        raise wrong_type(target, "target", "a number or a tensor of labels")
    if shape not in ((), (1,)):
        raise ValueError(f"target is one number; labels of size {tuple(shape)} are accepted")
    return torch.full(shape, int(target) - 1, dtype=torch.int64, device=device)


def check_labels(labels: Tensor, classes: int, ignored: int | None = None) -> None:
    """Raise ValueError for the first of ``labels`` (from 0) that is no class and not ignored."""
    if not labels.numel():
        return
    least, most = torch.stack(labels.aminmax()).tolist()
    if least >= 0 and most < classes:
        return
    wrong = (labels < 0) | (labels >= classes)
    if ignored is not None:
        wrong &= labels != ignored
    if bool(wrong.any()):
        first = int(labels[wrong][0]) + 1
        hint = ": labels count from 1, as in Torch7" if first == 0 else ""
        raise ValueError(f"target has the label {first}; 1 to {classes} are accepted{hint}")


def check_for_kernel(labels: Tensor, classes: int, ignored: int | None = None) -> None:
    """Call ``check_labels`` before a loss on a GPU; on the CPU the loss checks labels itself.

    A kernel's failed assertion leaves a GPU unusable. Waiting for the labels costs no extra time,
    because the loss, a number, is waited for anyway.
    """
    if labels.device.type != "cpu":
        check_labels(labels, classes, ignored)
