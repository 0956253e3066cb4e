"""What every optimizer shares: the two tables, the buffers in them, and cache-sized passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Table = dict[Any, Any]
OpFunc = Callable[..., Any]

# Elements per piece: large enough to drown the cost of the calls, small enough for the cache.
PIECE = 1 << 18


def tables(config: Table | None, state: Table | None) -> tuple[Table, Table]:
    """`config` and `state` as Torch7 defaults them: without a state, the config is the state."""
    config = {} if config is None else config
    return config, config if state is None else state


def buffer(state: Table, key: str, like: torch.Tensor, fill: float | None = 0.0) -> torch.Tensor:
    """
    The tensor `state[key]`, made on first use with the shape, dtype and device of `like`.

    A tensor of another dtype or device (a state read from a file, say) is converted once.
    `fill=None` leaves a new tensor uninitialised, for buffers that are written before being read.

    Raises ValueError where `state[key]` has another number of elements than `like`.
    """
    found = state.get(key)
    if found is None:
        new = torch.empty_like(like, requires_grad=False, memory_format=torch.contiguous_format)
        state[key] = new if fill is None else new.fill_(fill)
    elif found.numel() != like.numel():
        raise ValueError(
            f"state[{key!r}] has {found.numel()} elements, but x has {like.numel()}: "
            "the state belongs to another network"
        )
    elif found.dtype != like.dtype or found.device != like.device:
        state[key] = found.to(like)
    return state[key]


def pieces(*tensors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """
    The tensors, cut alike into flat views that fit the processor's cache.

    An optimizer makes several elementwise passes over a few vectors of the size of the network.
    Done piece by piece, only the first pass over a piece reads memory, which makes a sequence of
    plain operations as cheap as one fused kernel.  On an accelerator, and for tensors that have no
    flat view, there is one piece: the whole.
    """
    count = tensors[0].numel()
    if any(not t.is_contiguous() for t in tensors):
        yield tensors
        return
    flat = tuple(t.detach().view(-1) for t in tensors)
    if flat[0].device.type != "cpu" or count <= PIECE:
        yield flat
        return
    yield from zip(*(t.split(PIECE) for t in flat), strict=True)
