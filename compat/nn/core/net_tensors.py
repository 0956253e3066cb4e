"""Walks over a net: what tensors are where, those of ``torch.nn`` modules inside it included."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from compat.nn.core.module import Module
from compat.nn.core.native import Native

_STATISTICS = ("running_mean", "running_var")


def all_parameters(net: Module) -> list[Tensor]:
    """The parameters of ``net``, and those that are frozen inside its torch.nn modules."""
    frozen = [
        parameter
        for module in net.listModules()
        if isinstance(module, Native)
        for parameter in module.module.parameters()
        if not parameter.requires_grad
    ]
    return [*net.parameters()[0], *frozen]


def named_tensors(net: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and running statistics of ``net``, with names that tell their place."""
    for place, inner in net.named_modules():
        if isinstance(inner, Native):
            held = dict(inner.module.named_parameters()) | dict(inner.module.named_buffers())
        else:
            names = (*inner.parameter_names, *_STATISTICS)
            held = {n: vars(inner)[n] for n in names if vars(inner).get(n) is not None}
        for name, tensor in held.items():
            yield f"{place}.{name}", tensor


def running_statistics(net: Module) -> Iterator[Tensor]:
    """The running means and variances of ``net``."""
    for module in net.listModules():
        held = dict(module.module.named_buffers()) if isinstance(module, Native) else vars(module)
        for name, value in held.items():
            if name.rpartition(".")[2] in _STATISTICS:
                yield value
