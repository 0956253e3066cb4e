"""Fields of a module that are trained, and their gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat import t7
from compat.checks import wrong_type


def gradient_name(name: str) -> str:
    """Torch7's name of the gradient of a field: ``gradWeight`` of ``weight``."""
    return "grad" + name[0].upper() + name[1:]


class Parameter:
    """A trained field of a ``Module`` class, declared as ``weight = Parameter()``.

    The field is a plain leaf tensor or None. Declaring it also declares its gradient
    (``gradWeight``), which *is* the tensor's ``grad``: allocated with zeros when the field is set,
    accumulated in place from then on, so that views into a flat buffer stay valid. Setting the
    gradient to None freezes the parameter, for which .t7 files written here hold ``false``. Other
    files that lack gradients had them dropped, and what they hold is trained.
    """

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        setattr(owner, gradient_name(name), _Gradient(name))

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        return self if module is None else module.__dict__.get(self.name)

    def __set__(self, module: Any, value: Tensor | None) -> None:
        fields = module.__dict__
        if value is not None:
            if not isinstance(value, Tensor):
                raise wrong_type(value, self.name, "a tensor or None")
            if value.requires_grad or isinstance(value, torch.nn.Parameter):
                gradient, value = value.grad, value.detach()
                value.grad = gradient
            if value.grad is None and value.is_floating_point():
                value.grad = self._kept_gradient(fields, value)
        fields[self.name] = value

    def _kept_gradient(self, fields: dict[str, Any], value: Tensor) -> Tensor:
        old = fields.get(self.name)
        for kept in (fields.pop(f"_pending_{self.name}", None), None if old is None else old.grad):
            if (
                kept is not None
                and kept.shape == value.shape
                and kept.dtype == value.dtype
                and kept.device == value.device
            ):
                return kept
        return t7.zeros_like(value)


class _Gradient:
    """The gradient of a ``Parameter``: the ``grad`` of its tensor."""

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        if module is None:
            return self
        fields = module.__dict__
        parameter = fields.get(self.parameter)
        if parameter is None:
            return fields.get(f"_pending_{self.parameter}")
        return parameter.grad

    def __set__(self, module: Any, value: Tensor | None) -> None:
        fields = module.__dict__
        parameter = fields.get(self.parameter)
        if parameter is not None:
            parameter.grad = value
        elif value is not None:
            # A port of a Lua constructor may create the gradient before the parameter.
            module.__dict__[f"_pending_{self.parameter}"] = value
