"""Make vectors of learning rates and weight decays, with one number per element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from compat.checks import wrong_type


def parameter_vector(x: torch.Tensor, net: Any, rule: Callable[[Any, str], float]) -> torch.Tensor:
    """Make a vector for ``learningRates`` or ``weightDecays`` of ``optim.sgd``.

    ::

        x, dx = net.getParameters()
        config["weightDecays"] = optim.parameter_vector(
            x, net, lambda module, name: 0 if name == "bias" else 1e-4
        )

    Args:
        x: the flat parameters, from ``net.getParameters()``.
        net: a module of ``compat.nn``, or a ``torch.nn.Module`` that is part of one.
        rule: ``rule(module, name)`` returns the number for the parameter ``module.name``. A shared
            parameter gets the number for its last place in the net.

    Returns:
        The numbers, of the size, dtype and device of ``x``; 0 where ``x`` has parameters of other
        nets.

    Raises:
        ValueError: a parameter does not lie in ``x``.
    """
    vector = torch.zeros_like(x, requires_grad=False).view(-1)
    start, storage = x.storage_offset(), x.untyped_storage().data_ptr()
    for module, name, parameter in _named_parameters(net):
        offset = parameter.storage_offset() - start
        inside = 0 <= offset <= offset + parameter.numel() <= x.numel()
        if parameter.untyped_storage().data_ptr() != storage or not inside:
            raise ValueError(
                f"x is without {type(module).__name__}.{name}; the result of getParameters() of "
                "this net, or of one that it is part of, is accepted"
            )
        part = vector.as_strided(parameter.shape, parameter.stride(), offset)
        part.fill_(rule(module, name))
    return vector.view_as(x)


def _named_parameters(net: Any) -> Iterator[tuple[Any, str, torch.Tensor]]:
    """Yield every parameter with the module that it belongs to and its name there."""
    if isinstance(net, torch.nn.Module):
        for inner in net.modules():
            for name, parameter in inner.named_parameters(recurse=False):
                if parameter.requires_grad:
                    yield inner, name, parameter
        return
    if not hasattr(net, "listModules"):
        raise wrong_type(net, "net", "a module")
    for module in net.listModules():
        wrapped = getattr(module, "module", None)
        if isinstance(wrapped, torch.nn.Module):
            yield from _named_parameters(wrapped)
            continue
        own = {id(parameter) for parameter in module.parameters()[0]}
        for name, value in vars(module).items():
            if id(value) in own:
                yield module, name, value
