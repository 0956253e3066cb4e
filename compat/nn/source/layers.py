"""Writes layers of ``torch.nn`` as the calls that make them."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch
from torch import nn

from compat.nn.interchange.modules import STANDING_ALONE
from compat.nn.source.program import Layer

_NONE = inspect.Parameter.empty
_IGNORED = {"device", "dtype", "self", "args", "kwargs", "_random_samples"}
_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.Module)


def class_of(module: nn.Module) -> type[nn.Module] | None:
    """Return the ``torch.nn`` class of a module, or the one it extends; None for containers.

    Classes whose source is part of the net's source count, too.
    """
    if type(module) in STANDING_ALONE:
        return type(module)
    for cls in type(module).__mro__:
        if cls.__module__.startswith("torch.nn.modules.") and not cls.__name__.startswith("_"):
            return None if cls in _CONTAINERS else cls
    return None


@functools.cache
def _signature(cls: Any) -> dict[str, Any]:
    """Return the arguments of a class with their defaults."""
    found = inspect.signature(cls.__init__).parameters.values()
    return {
        p.name: p.default
        for p in found
        if p.name not in _IGNORED and p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL
    }


def layer_of(module: Any, cls: Any) -> Layer:
    """Return the call of ``cls`` that makes a module like this one."""
    if issubclass(cls, nn.RNNBase):
        return _recurrent(module, cls)
    arguments, defaults = {}, {}
    for name, default in _signature(cls).items():
        value = getattr(module, name, default)
        if name == "bias":
            value = module.bias is not None
        own = cls in STANDING_ALONE
        arguments[name] = value if own else simple(value)
        defaults[name] = default if own else simple(default)
    if "return_indices" in arguments:
        arguments["return_indices"] = bool(arguments["return_indices"])
    layer = Layer(module, cls.__name__, arguments, defaults, own=cls in STANDING_ALONE)
    if getattr(module, "_random_samples", None) is not None:
        arguments["_random_samples"] = module._random_samples  # noqa: SLF001
        defaults["_random_samples"] = None
    if nn.utils.parametrize.is_parametrized(module):
        layer.around = "nn.utils.parametrizations.weight_norm"
    return layer


def _recurrent(module: Any, cls: type[nn.Module]) -> Layer:
    defaults: dict[str, Any] = {
        **{"input_size": _NONE, "hidden_size": _NONE, "num_layers": 1, "bias": True},
        **{"batch_first": False, "dropout": 0.0, "bidirectional": False, "proj_size": 0},
    }
    if cls is nn.RNN:
        defaults["nonlinearity"] = "tanh"
    arguments = {name: getattr(module, name) for name in defaults}
    return Layer(module, cls.__name__, arguments, defaults)


def simple(value: Any) -> Any:
    """Simplify a setting: a tuple of equal numbers becomes one number."""
    if isinstance(value, (tuple, list)):
        value = tuple(simple(part) for part in value)
        return value[0] if len(value) > 0 and len(set(value)) == 1 else value
    if isinstance(value, bool) or value is None or isinstance(value, (str, type)):
        return value
    if isinstance(value, float):
        return int(value) if value == int(value) and abs(value) < 1e6 else value
    return value


def same_result(module: nn.Module, cls: type[nn.Module], arguments: Any, output: Any) -> bool:
    """Return whether the forward of ``cls`` gives the same output as the module."""
    if not isinstance(output, torch.Tensor):
        return False
    try:
        plain: Any = cls.forward(module, *arguments)
    except Exception:
        return False
    return (
        isinstance(plain, torch.Tensor)
        and plain.shape == output.shape
        and bool(torch.allclose(plain, output, equal_nan=True))
    )
