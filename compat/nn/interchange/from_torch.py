"""Converts ``torch.nn`` modules to modules of ``compat.nn``, for .t7 files.

``@converts_from(Class)`` marks a converter. It stands in the file with the opposite converter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch

from compat import random
from compat.nn.core.module import Module
from compat.nn.interchange import counterparts
from compat.tensor_types import tensor_type

M = TypeVar("M", bound=Module)
Converter = Callable[[Any, "FromTorch"], Module]

_converters: dict[type, Converter] = {}


def converts_from(*classes: type) -> Callable[[Converter], Converter]:
    """Let a function ``convert(module, conversion)`` convert modules of ``torch.nn`` classes.

    Subclasses are not converted: their own forward may compute something else.
    """

    def register(converter: Converter) -> Converter:
        _converters.update(dict.fromkeys(classes, converter))
        return converter

    return register


def converts_from_simply(cls: type, make: Callable[[Any], Module]) -> None:
    """Let ``make(module)`` convert modules that hold no modules and no parameters."""
    converts_from(cls)(lambda module, convert: make(module))


def from_torch(module: torch.nn.Module) -> Module:
    """Return a net of Torch7's layers that computes what ``module`` does.

    Args:
        module: a tree of ``torch.nn`` layers that have an equivalent in Torch7: ``Sequential``,
            what ``Module.to_torch`` makes, and layers that are called with one tensor. A class with
            a forward of its own has none.

    Parameters and running statistics are copied; what is shared stays shared.

    Raises:
        ValueError: a module without equivalent, with its path in the net.
    """
    counterparts.load_all()
    return FromTorch()(module)


class FromTorch:
    """The conversion of one net."""

    def __init__(self) -> None:
        self._modules: dict[int, Module] = {}
        self._tensors: dict[int, torch.Tensor] = {}
        self._path: list[str] = []

    def __call__(self, module: torch.nn.Module, *name: str) -> Module:
        """Return the counterpart of ``module``, which has this name in the one that is
        converted.
        """
        known = self._modules.get(id(module))
        if known is None:
            self._path += name
            place = f"{'.'.join(self._path)}: " if self._path else ""
            converter = _converters.get(type(module))
            if converter is None:
                raise ValueError(
                    f"{place}{type(module).__name__} has no equivalent in Torch7; build that part "
                    "of compat.nn modules"
                )
            try:
                known = converter(module, self)
            except _Unsupported as error:
                raise ValueError(f"{place}{module}: {error}") from None
            known.train = module.training
            self._modules[id(module)] = known
            del self._path[len(self._path) - len(name) :]
        return known

    def children(self, container: Iterable[torch.nn.Module]) -> list[Module]:
        """Return the counterparts of modules that are numbered from 0."""
        return [self(child, str(i)) for i, child in enumerate(container)]

    def tensor(
        self, parameter: torch.Tensor | None, form: Callable[[Any], Any] | None = None
    ) -> Any:
        """Return a parameter as the plain tensor that a ``compat.nn`` module holds."""
        if parameter is None:
            return None
        if id(parameter) not in self._tensors:
            value = parameter.detach() if form is None else form(parameter.detach())
            self._tensors[id(parameter)] = value.clone(memory_format=torch.contiguous_format)
        return self._tensors[id(parameter)]

    def filled(self, target: M, source: Any, form: Callable[[Any], Any] | None = None) -> M:
        """Return ``target`` with the weight, laid out by ``form``, and the bias of ``source``."""
        target.weight = self.tensor(source.weight, form)
        target.bias = self.tensor(source.bias)
        if source.weight is not None:
            set_type(target, source.weight)
        return target


class _Unsupported(Exception):
    """Settings that Torch7's class does not have."""


def require(condition: bool, what: str) -> None:
    """Refuse the module unless ``condition`` holds: Torch7 does not have ``what``."""
    if not condition:
        raise _Unsupported(f"{what} has no equivalent in Torch7")


def set_type(module: Module, tensor: torch.Tensor) -> None:
    """Give ``module`` the type of ``tensor``, which it holds."""
    vars(module)["_type"] = tensor_type(tensor)


def blank(cls: type[M], *arguments: Any) -> M:
    """Return a module whose parameters are to be set: Torch7's generator stays where it is."""
    state = random.getRNGState()
    try:
        return cls(*arguments)
    finally:
        random.setRNGState(state)
