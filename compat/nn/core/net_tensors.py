"""Walk over the tensors of a net, also those of ``torch.nn`` modules inside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from compat.nn.core.files import ENGINE_FIELDS
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.nn.core.parameter import parameters_of

_OURS = ("compat", "dptable")
_STATISTICS = ("running_mean", "running_var")


def all_parameters(net: Module) -> list[Tensor]:
    """Return all parameters of ``net``, also frozen ones of torch.nn modules inside it."""
    frozen = [
        parameter
        for module in net.listModules()
        if isinstance(module, Native)
        for parameter in module.module.parameters()
        if not parameter.requires_grad
    ]
    return [*parameters_of(net)[0], *frozen]


def named_tensors(net: Module) -> Iterator[tuple[str, Tensor]]:
    """Yield the parameters and running statistics of ``net`` with their places as names."""
    for place, inner in net.named_modules():
        if isinstance(inner, Native):
            held = dict(inner.module.named_parameters()) | dict(inner.module.named_buffers())
        else:
            names = (*inner.parameter_names, *_STATISTICS)
            held = {n: vars(inner)[n] for n in names if vars(inner).get(n) is not None}
        for name, tensor in held.items():
            yield f"{place}.{name}", tensor


def described(net: Module, others: bool = False) -> Iterator[str]:
    """Yield lines that describe ``net``, for comparisons: place, class and options of each module.

    Options are the numbers, flags and strings in the fields of this library's classes. Fields of
    other classes may hold anything, for instance the rank of a process; they are included only with
    ``others``.
    """
    for place, inner in net.named_modules():
        kind = type(inner)
        own = kind.__module__.partition(".")[0] in _OURS
        yield place if own else f"{place} of class {kind.__module__}.{kind.__qualname__}"
        if isinstance(inner, Native):
            yield f"{place}: {inner.module}"
        if own is others:
            continue
        for name, value in sorted(vars(inner).items()):
            left_out = name.startswith("_") or name in ENGINE_FIELDS or name in inner.pass_fields
            plain = None if left_out else _plain(value)
            if plain not in (None, [], {}):
                yield f"{place} with {name} = {plain}"


def _plain(value: Any) -> Any:
    """Return a number, flag, string or a table of them; None for anything else."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return float(value)  # files have one kind of number
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(vars(value))
    if isinstance(value, dict):
        held = {str(key): _plain(item) for key, item in value.items()}
        return {key: item for key, item in sorted(held.items()) if item is not None}
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return None if None in items else items
    return None


def running_statistics(net: Module) -> Iterator[Tensor]:
    """Yield the running means and variances of ``net``."""
    for module in net.listModules():
        held = dict(module.module.named_buffers()) if isinstance(module, Native) else vars(module)
        for name, value in held.items():
            if name.rpartition(".")[2] in _STATISTICS:
                yield value
