"""Explain a failed training step: where the first bad number arose, and what to change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from compat import nn
from compat.tensor_tables import tensors
from dptable.container.data_parallel_table import DataParallelTable

# The methods of a pass in their order, and the argument with which forward begins.
_PASSES = ("updateOutput", "updateGradInput", "accGradParameters")
_CPU = "DefaultCPUAllocator"


def is_finite(vector: Tensor) -> bool:
    """Return whether no element is NaN or infinite."""
    # A sum of finite numbers may overflow; nearly always it does not.
    return math.isfinite(vector.sum()) or bool(vector.isfinite().all())


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether the error means that a device or the host had too little memory."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        isinstance(error, RuntimeError) and _CPU in str(error)
    )


def origin(
    table: DataParallelTable, criterion: nn.Criterion, input: Tensor, target: Tensor
) -> str | None:
    """Find the module and method that produced the first NaN or infinity.

    The pass is repeated on a copy of the first replica.

    Returns:
        For instance ``"nn.Linear(4 -> 2) forward"``. None if the repeated pass is finite, which
        happens in nets that draw random numbers.
    """
    for module in table.get(1).listModules():
        for name in type(module).parameter_names:
            value = getattr(module, name, None)
            if isinstance(value, Tensor) and not is_finite(value):
                return f"{name} of {str(module).splitlines()[0]} after the step before"
    net = table.get(1).clone()
    for module in net.listModules():
        for name in _PASSES:
            setattr(module, name, partial(_checked, getattr(module, name), module, name))
    try:
        output = net.forward(input)
        loss = criterion.forward(output, target)
        if math.isfinite(loss):
            net.backward(input, criterion.backward(output, target))
    except _Found as found:
        return str(found)
    except Exception:
        return None  # too little memory for a copy, say
    return None if math.isfinite(loss) else f"{criterion.typename} forward"


class _Found(ArithmeticError):
    """Leaves the repeated pass at the first NaN or infinity; its text is the place."""


def _checked(method: Callable[..., Any], module: nn.Module, name: str, *arguments: Any) -> Any:
    result = method(*arguments)
    made: Sequence[Tensor] = tensors(result)
    if name == "accGradParameters":
        made = (module.parameters() or ([], []))[1]
    if not all(is_finite(t) for t in made if t is not None and t.is_floating_point()):
        raise _Found(name)
    return result
