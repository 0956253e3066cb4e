"""Adding gradients that were computed to those of parameters, as PyTorch's engine does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.core.contributions import contributions
from compat.torch_internals import (
    any_hooks,
    apply_hooks,
    call_gradient_hooks,
    foreach_add_,
    has_hooks,
)


class Adding:
    """Adds gradients of parameters, or leaves all to who keeps contributions; hooks included.

    Args:
        scale: multiplies the gradients.
        announced: whether hooks are called that wait for gradients that are complete.
    """

    def __init__(self, scale: float, announced: bool) -> None:
        self._scale = scale
        self._announced = announced
        self._kept = contributions()

    def add_one(self, parameter: Tensor, gradient: Tensor, factor: Tensor | None) -> None:
        """Add a gradient, or with a ``factor`` the product of the two."""
        hooked, kept, scale = has_hooks(parameter), self._kept, self._scale
        if factor is not None and not hooked:
            if kept is None:
                _gradient(parameter).addmm_(gradient, factor, alpha=scale)
            else:
                kept.add_product(parameter, gradient, factor, scale)
        else:
            whole = gradient if factor is None else gradient.mm(factor)
            whole = apply_hooks(parameter, whole) if hooked else whole
            if kept is None:
                _gradient(parameter).add_(whole, alpha=scale)
            else:
                kept.add({parameter: whole}, scale)

    def add(
        self, parameters: Sequence[Tensor], gradients: Sequence[tuple[Tensor, Tensor | None]]
    ) -> None:
        """Add to each its gradient, or the product of two matrices."""
        given = [(p, *gradient) for p, gradient in zip(parameters, gradients, strict=True)]
        alone = given
        if self._kept is None and not any_hooks(parameters):
            self._add_at_once([(p, gradient) for p, gradient, factor in given if factor is None])
            alone = [item for item in given if item[2] is not None]
        for parameter, gradient, factor in alone:
            self.add_one(parameter, gradient, factor)

    def _add_at_once(self, gradients: Sequence[tuple[Tensor, Tensor]]) -> None:
        into = [_gradient(parameter) for parameter, _ in gradients]
        if into:
            foreach_add_(into, [gradient for _, gradient in gradients], alpha=self._scale)

    def announce(self, parameters: Iterable[Tensor]) -> None:
        """Tell that the gradients of ``parameters`` are complete."""
        if not self._announced:
            return
        for parameter in parameters:
            if self._kept is None:
                call_gradient_hooks(parameter)
            else:
                self._kept.announced.append(parameter)

    def list_for(self, parameters: Sequence[Tensor]) -> Any:
        """What takes the gradient of each under its number; ``add_list`` adds them."""
        if self._kept is None and not any_hooks(parameters):
            return [None] * len(parameters)
        return _AtOnce(self.function_for(parameters))

    def add_list(self, parameters: Sequence[Tensor], gradients: Any) -> None:
        """Add what the list has taken."""
        if isinstance(gradients, list):
            self._add_at_once(list(zip(parameters, gradients, strict=True)))

    def function_for(
        self, parameters: Sequence[Tensor]
    ) -> Callable[[int, Tensor, Tensor | None], None]:
        """What adds a gradient by the number of its parameter, of which it is all."""

        def add(number: int, gradient: Tensor, factor: Tensor | None) -> None:
            self.add_one(parameters[number], gradient, factor)
            self.announce((parameters[number],))

        return add


class _AtOnce:
    """Adds what it is given."""

    def __init__(self, add: Callable[[int, Tensor, Tensor | None], None]) -> None:
        self._add = add

    def __setitem__(self, number: int, gradient: Tensor) -> None:
        self._add(number, gradient, None)


def _gradient(parameter: Tensor) -> Tensor:
    if parameter.grad is None:  # of a torch.nn.Module
        parameter.grad = torch.zeros_like(parameter)
    return parameter.grad
