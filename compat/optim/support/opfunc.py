"""Call the function that is minimised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from compat.checks import given
from compat.optim.support.vectors import flat

OpFunc = Callable[[torch.Tensor], Any]


def called(opfunc: OpFunc, x: torch.Tensor) -> Any:
    """Return ``opfunc(x)``; raise TypeError if it is not a function of one argument."""
    try:
        return opfunc(x)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        # Lua drops arguments that a function does not take.
        raise TypeError(
            f"opfunc does not take x alone ({error}); a function of one argument, x, is accepted, "
            "even if it does not use it"
        ) from error


def first_value(result: Any) -> Any:
    """Return the first of several results, which Lua uses where one value is wanted."""
    return result[0] if isinstance(result, tuple) else result


def loss_at(opfunc: OpFunc, x: torch.Tensor) -> float:
    """Return the loss at ``x``; ``opfunc`` need not return a gradient."""
    return float(first_value(called(opfunc, x)))


def evaluate(opfunc: OpFunc, x: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """Return the loss at ``x`` and its gradient as a flat vector.

    The vector is a view if the gradient is contiguous: what an optimizer adds to it is then visible
    in the caller's tensor, as in Torch7.

    Raises:
        ValueError: the gradient does not fit ``x``.
        TypeError: ``opfunc`` returns no gradient.
    """
    flat(x)
    result = called(opfunc, x)
    if not (isinstance(result, tuple) and len(result) >= 2 and isinstance(result[1], torch.Tensor)):
        raise TypeError(
            f"opfunc returned {given(result, counted=True)}; the loss and the gradient, a tensor, "
            "are accepted"
        )
    fx, dfdx = result[:2]
    if dfdx.numel() != x.numel() or dfdx.dtype != x.dtype or dfdx.device != x.device:
        raise ValueError(
            f"opfunc returned a gradient of {dfdx.numel()} {dfdx.dtype} on {dfdx.device}; "
            f"one of {x.numel()} {x.dtype} on {x.device}, as x is, is accepted"
        )
    loss = fx.detach() if isinstance(fx, torch.Tensor) else fx
    return loss, dfdx.detach().contiguous().view(-1)
