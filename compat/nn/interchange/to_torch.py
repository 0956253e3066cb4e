"""Converts nets and criterions to plain ``torch.nn`` modules: ``Module.to_torch``.

The converter of a class stands in the file of this package with the place and name of the class's
file, and is imported when needed. ``@converts(Class)`` adds a converter, there or anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat.nn.checks.error_place import locate
from compat.nn.core.module import Module
from compat.nn.criterions.base import Criterion
from compat.nn.interchange import counterparts
from compat.nn.interchange.saving import warn_when_saved
from compat.nn.unknown import Unknown, UnknownCriterion
from compat.t7.base.types import LuaFunction

L = TypeVar("L", bound=torch.nn.Module)
Converter = Callable[[Any, "ToTorch"], torch.nn.Module]

_CONTIGUOUS: dict[str, Any] = {"memory_format": torch.contiguous_format}
_converters: dict[type, Converter] = {}


def converts(*classes: type) -> Callable[[Converter], Converter]:
    """Let a function ``convert(module, conversion)`` convert modules or criterions of classes.

    Subclasses are converted by it too, unless they compute something else.
    """

    def register(converter: Converter) -> Converter:
        _converters.update(dict.fromkeys(classes, converter))
        return converter

    return register


def converts_simply(cls: type, make: Callable[[Any], torch.nn.Module]) -> None:
    """Let ``make(module)`` convert modules that hold no modules and no parameters."""
    converts(cls)(lambda module, convert: make(module))


def converts_to_inner(*classes: type) -> None:
    """Let containers of one module become that module."""
    converts(*classes)(lambda module, convert: convert.child(module, 0))


class ToTorch:
    """The conversion of one net or criterion. What is shared in it is shared in the result.

    Args:
        whole: the net or criterion.
        shared: whether parameters of the result share the net's memory, for callers that only
            read them.
    """

    def __init__(self, whole: Module | Criterion, shared: bool = False) -> None:
        self.whole = whole
        self._shared = shared
        self._modules: dict[int, tuple[Any, torch.nn.Module]] = {}
        self._parameters: dict[Any, tuple[Tensor, torch.nn.Parameter]] = {}

    def __call__(self, module: Any) -> torch.nn.Module:
        """Return the counterpart of ``module``."""
        known = self._modules.get(id(module))
        if known is None:
            try:
                _check_methods(module)
                convert = self.converter(type(module))
                converted = self.missing(module) if convert is None else convert(module, self)
            except Exception as error:
                locate(error, module)
                raise
            warn_when_saved(type(converted))
            if isinstance(module, Module):
                converted.training = module.train
            known = self._modules[id(module)] = (module, converted)
        return known[1]

    def converter(self, cls: type) -> Converter | None:
        """Return the converter of a class."""
        return converter_of(cls)

    def pairs(self) -> Iterator[tuple[Any, torch.nn.Module]]:
        """Yield what has been converted, each with its counterpart."""
        yield from self._modules.values()

    def missing(self, module: Any) -> torch.nn.Module:
        """Return the replacement of a module without converter; here an error is raised."""
        raise _refusal(module)

    def child(self, container: Any, position: int) -> torch.nn.Module:
        """Return the counterpart of a container's module; an error tells which one it was."""
        try:
            return self(container.modules[position])
        except Exception as error:
            locate(error, container, position + 1)
            raise

    def children(self, container: Any) -> list[torch.nn.Module]:
        """Return the counterparts of a container's modules."""
        return [self.child(container, i) for i in range(len(container.modules))]

    def parameter(
        self, tensor: Tensor | None, form: Callable[[Tensor], Tensor] | None = None
    ) -> Any:
        """Return a trained tensor, if any, as a parameter, the same one where memory is shared.

        ``form`` gives it PyTorch's layout.
        """
        if tensor is None:
            return None
        value = tensor.detach()
        if form is not None:
            value = form(value)
        key = (tensor.data_ptr(), value.shape, value.stride(), value.dtype, value.device)
        known = self._parameters.get(key) if tensor.numel() else None
        if known is None:
            kept = value.contiguous() if self._shared else value.clone(**_CONTIGUOUS)
            parameter = torch.nn.Parameter(kept, tensor.grad is not None)
            known = self._parameters[key] = (tensor, parameter)
        return known[1]

    def filled(self, layer: L, module: Any, form: Callable[[Tensor], Tensor] | None = None) -> L:
        """Return ``layer`` with the weight, laid out by ``form``, and the bias of ``module``."""
        layer.weight = self.parameter(module.weight, form)
        layer.bias = self.parameter(module.bias)
        return layer


def converter_of(cls: type) -> Converter | None:
    """Return what converts the modules of a class, its own or that of a base that computes the
    same.
    """
    for base in cls.__mro__:
        counterparts.load(base.__module__)
        if base in _converters:
            return _converters[base]
        if "compute" in vars(base) or "updateOutput" in vars(base):
            break
    return None


def _check_methods(module: Any) -> None:
    """Refuse a module whose file replaces its methods by functions, which are not run."""
    for name in ("forward", "updateOutput", "backward", "updateGradInput", "accGradParameters"):
        if isinstance(vars(module).get(name), LuaFunction):
            raise ValueError(
                f"cannot be converted, because its {name} is a function of the file, which is not "
                "run; a module without it is accepted"
            )


def _refusal(module: Any) -> ValueError:
    if isinstance(module, (Unknown, UnknownCriterion)):
        return ValueError(f"cannot be converted, {module.what_to_do}")
    kind = "criterion" if isinstance(module, Criterion) else "module"
    return ValueError(
        f"torch.nn has no equivalent of this {kind}; @converts(…) of {__name__} adds one"
    )


def to_torch(whole: Module | Criterion) -> torch.nn.Module:
    """Return a net or criterion as a ``torch.nn`` module."""
    return ToTorch(whole)(whole)


Module.torch_converter = staticmethod(to_torch)
Criterion.torch_converter = staticmethod(to_torch)
