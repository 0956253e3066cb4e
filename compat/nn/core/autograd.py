"""PyTorch's autograd engine as this library calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from compat.torch_internals import run_engine


def accumulate(roots: Sequence[Any], grads: Sequence[Tensor], retain_graph: bool) -> None:
    """Add the gradients of all leaves below ``roots`` to their ``grad``."""
    run_engine(roots, grads, (), retain_graph, accumulate=True)


def gradients(
    roots: Sequence[Any],
    grads: Sequence[Tensor],
    wanted: Sequence[Any],
    retain_graph: bool = True,
) -> tuple[Tensor | None, ...]:
    """The gradients of what is ``wanted``; None for what the roots do not depend on."""
    return run_engine(roots, grads, wanted, retain_graph, accumulate=False)
