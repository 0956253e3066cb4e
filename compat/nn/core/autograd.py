"""PyTorch's autograd engine as this library calls it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.autograd.graph import GradientEdge

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


def gradients_up_to(
    roots: Sequence[Any], grads: Sequence[Tensor], edges: Sequence[Any], leaves: Sequence[Tensor]
) -> tuple[Tensor | None, ...]:
    """The gradients at ``edges``, beyond which they do not go, and of ``leaves`` on the way.

    Those of several tensors of which one was computed from another are thus what reaches each from
    the roots directly.
    """
    # What comes after a single edge has nobody who asks for it.
    ends = edges if len(edges) > 1 or leaves else ()
    with _ended_at(ends):
        return gradients(roots, grads, [*edges, *leaves])


@contextmanager
def _ended_at(edges: Iterable[Any]) -> Iterator[None]:
    """Within it, gradients reach ``edges`` and go no further."""
    hooks = []
    for edge in edges:
        node = edge.node if isinstance(edge, GradientEdge) else edge.grad_fn
        if node is not None:
            hooks.append(node.register_prehook(_without(edge.output_nr)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _without(place: int) -> Any:
    # None, where zeros would become nan in a function of infinite slope.
    return lambda grads: tuple(None if i == place else grad for i, grad in enumerate(grads))
