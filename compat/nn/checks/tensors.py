"""Checks of the inputs of modules and criterions, with clear errors in place of PyTorch's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from compat.checks import listed, wrong_type

TENSOR = "a tensor"
TABLE = "a table of tensors"
MIXED = "a table of tensors of several types"
INDICES = "a tensor of indices"
ANYTHING = "tensors, also in tables"

# What PyTorch and Python raise where they meet something that they cannot work with.
UNCLEAR = (AttributeError, RuntimeError, TypeError, ZeroDivisionError)


def objection(takes: str, parameter: Tensor | None, input: Any) -> Exception | None:
    """Return what is wrong with ``input``, if that can be told from types and sizes alone.

    Asked when a computation has failed, so it costs nothing where inputs are right.

    Args:
        takes: one of the constants above.
        parameter: a parameter of the module, whose type and device the input should have.
    """
    depth = {TENSOR: 0, INDICES: 0, TABLE: 1, MIXED: 1}.get(takes, 100)
    entries = list(_entries("input", input, depth))
    for place, value in entries:
        if not isinstance(value, Tensor):
            return wrong_type(value, place, TENSOR)
    if not entries:
        return None
    (first, other), owner = entries[0], "the module"
    if parameter is None:
        parameter, owner = other, first
    for place, value in entries:
        if value.device != parameter.device:
            return TypeError(
                f"{place} is on {value.device}, {owner} is on {parameter.device}; one device for "
                "both is accepted"
            )
        if takes in (INDICES, MIXED) or torch.is_autocast_enabled(value.device.type):
            continue
        if not value.is_floating_point() and takes in (TENSOR, TABLE):
            return TypeError(f"{place} is {value.dtype}; a floating point tensor is accepted")
        if value.is_floating_point() and value.dtype != parameter.dtype:
            return TypeError(
                f"{place} is {value.dtype}, {owner} is {parameter.dtype}; one type for both is "
                "accepted: float() and double() convert a net or a tensor"
            )
    for place, value in entries:
        if not value.numel():
            size = tuple(value.shape)
            return ValueError(f"{place} has size {size}; one with elements is accepted")
    return None


def _entries(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield what is in tables nested no deeper than ``depth``, with its place: ``input[2][1]``."""
    if depth and isinstance(value, (list, tuple)):
        for i, entry in enumerate(value, 1):
            yield from _entries(f"{name}[{i}]", entry, depth - 1)
    elif depth and isinstance(value, dict):
        for key, entry in value.items():
            yield from _entries(f"{name}[{key!r}]", entry, depth - 1)
    else:
        yield name, value


def check_type(
    value: Tensor, other: Tensor, name: str = "input", owner: str = "the module"
) -> None:
    """Refuse a tensor of another type than ``other``, which PyTorch would convert silently."""
    if value.dtype != other.dtype and not torch.is_autocast_enabled(value.device.type):
        raise TypeError(
            f"{name} is {value.dtype}, {owner} is {other.dtype}; one type for both is accepted: "
            "float() and double() convert a net or a tensor"
        )


def check_gradOutput(gradOutput: Tensor, output: Tensor) -> None:
    """Refuse a gradient of another size than ``output``, which kernels would read as if it had it.

    ``output`` is the output or another tensor of its size.
    """
    if gradOutput.shape != output.shape:
        raise ValueError(
            f"gradOutput has size {tuple(gradOutput.shape)}, output has size "
            f"{tuple(output.shape)}; equal ones are accepted"
        )


def check_dims(value: Tensor, *accepted: int, name: str = "input") -> None:
    """Refuse a tensor of another number of dimensions."""
    if value.dim() not in accepted:
        verb = "is" if accepted == (1,) else "are"
        raise ValueError(f"{name} has {value.dim()} dimensions; {listed(accepted)} {verb} accepted")


def check_sample(value: Tensor, form: str) -> None:
    """Refuse an input that is neither a sample, ``"planes x height x width"``, nor a batch."""
    dims = form.count(" x ") + 1
    if value.dim() not in (dims, dims + 1):
        raise ValueError(
            f"input has {value.dim()} dimensions; {dims} ({form}) or {dims + 1} (a batch of these) "
            "are accepted"
        )


def check_count(found: int, wanted: int, what: str = "features") -> None:
    """Refuse an input with another number of features, planes or the like."""
    if found != wanted:
        raise ValueError(
            f"input has {found} {what}; {wanted} {'is' if wanted == 1 else 'are'} accepted"
        )
