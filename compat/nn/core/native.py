"""Use any ``torch.nn.Module`` as part of a Torch7-style net."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from compat.checks import wrong_type
from compat.nn.checks.tensors import ANYTHING
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module


class Native(Module):
    """Wraps a ``torch.nn.Module`` for a net; a container's ``add`` does this by itself.

    The parameters stay the module's own objects: ``parameters()`` lists those that require grad,
    ``getParameters()`` makes them views of the flat storage, and optimizers of both libraries train
    them. ``training`` and ``evaluate`` set the module's mode.

    Args:
        module: called with the input; a list's entries become positional arguments.
    """

    takes = ANYTHING

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        if not isinstance(module, torch.nn.Module):
            raise wrong_type(module, "module", "a torch.nn.Module")
        self.module = module
        self.train = module.training

    def compute(self, input: Any) -> Any:
        return self.module(*input) if isinstance(input, (list, tuple)) else self.module(input)

    def _own_parameters(self) -> list[Tensor]:
        own: list[Tensor] = [p for p in self.module.parameters() if p.requires_grad]
        for parameter in own:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        return own

    def trained_parameters(self) -> list[Tensor]:
        return self._own_parameters()

    def __deepcopy__(self, memo: dict[int, Any]) -> Native:
        # PyTorch copies parameters one by one, without their gradients: here what shares memory
        # goes on sharing it, as with this library's own layers.
        for parameter in self.module.parameters():
            if type(parameter) is torch.nn.Parameter and id(parameter) not in memo:
                data = copy.deepcopy(parameter.detach(), memo)
                new = torch.nn.Parameter(data, parameter.requires_grad)
                new.grad = copy.deepcopy(parameter.grad, memo)
                memo[id(parameter)] = new
        return super().__deepcopy__(memo)

    def convert(self, conversion: Conversion, name: str) -> None:
        super().convert(conversion, name)
        for parameter in self.module.parameters():
            conversion(parameter)
        for buffer in self.module.buffers():
            conversion(buffer)

    def held_values(self) -> list[Any]:
        return [*super().held_values(), *self.module.parameters(), *self.module.buffers()]

    def set_train(self, train: bool) -> None:
        self.module.train(train)
        super().set_train(train)

    def reset(self, stdv: Any = None) -> Native:
        """Call ``reset_parameters`` of each PyTorch module that has it; ``stdv`` is ignored."""
        for module in self.module.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset):
                reset()
        return self

    def t7_fields(self) -> dict[str, Any]:
        raise TypeError(
            f"{type(self.module).__name__} is a torch.nn.Module, for which the .t7 format has no "
            "class; save its state_dict with torch.save, or build the net from compat.nn"
        )

    def __repr__(self) -> str:
        return repr(self.module)


def as_module(module: Module | torch.nn.Module, argument: str = "module") -> Module:
    """Return ``module``, wrapped in a ``Native`` if it is a PyTorch module."""
    if isinstance(module, Module):
        return module
    if isinstance(module, torch.nn.Module):
        return Native(module)
    raise wrong_type(module, argument, "a compat.nn or torch.nn module")
