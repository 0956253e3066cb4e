"""PyTorch's autograd engine, without the checks that torch.autograd makes before each call.

They take as long as a small layer, and what is passed here has been checked or made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor
from torch.autograd.graph import _engine_run_backward


def accumulate(roots: Sequence[Any], grads: Sequence[Tensor], retain_graph: bool) -> None:
    """Add the gradients of all leaves below ``roots`` to their ``grad``."""
    _engine_run_backward(
        tuple(roots),
        tuple(grads),
        retain_graph,
        False,  # create_graph
        (),
        allow_unreachable=True,
        accumulate_grad=True,
    )


def gradients(
    roots: Sequence[Any], grads: Sequence[Tensor], wanted: Sequence[Any]
) -> tuple[Tensor | None, ...]:
    """The gradients of what is ``wanted``; None for what the roots do not depend on."""
    found: tuple[Tensor | None, ...] = _engine_run_backward(
        tuple(roots),
        tuple(grads),
        True,  # retain_graph
        False,  # create_graph
        tuple(wanted),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    return found
