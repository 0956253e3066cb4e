"""What the optimizers share: their two tables, the vectors in them, and cache-sized passes.

The optimizers work on detached views, so nothing that they do is recorded for autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Table = dict[Any, Any]
OpFunc = Callable[[torch.Tensor], Any]

# Elements per piece: enough to drown the cost of the calls, few enough for the processor's cache.
PIECE = 1 << 19


def tables(config: Table | None, state: Table | None) -> tuple[Table, Table]:
    """`config` and `state` as Torch7 defaults them: without a state, the config is the state."""
    config = {} if config is None else config
    return config, config if state is None else state


def changed(x: torch.Tensor) -> None:
    """Tell autograd that `x` has been written to, which PyTorch's fused kernels do not tell."""
    torch.autograd.graph.increment_version(x)


def has_fused_sgd(x: torch.Tensor) -> bool:
    """Whether PyTorch's fused SGD works for `x`: on the CPU it leaves 16-bit floats unchanged."""
    full = x.dtype in (torch.float32, torch.float64)
    return x.device.type == "cuda" or (x.device.type == "cpu" and full)


def option(config: Table, key: str, default: Any) -> Any:
    """`config[key]`, or the default where it is absent or None (Lua's nil)."""
    value = config.get(key)
    return default if value is None else value


def flat(x: torch.Tensor) -> torch.Tensor:
    """
    A one-dimensional view of the parameters `x`.

    Raises ValueError for parameters that have none, TypeError for anything but a float tensor.
    """
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        given = x.dtype if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(f"x must be a tensor of floating-point numbers, not {given}")
    if not x.is_contiguous():
        raise ValueError(
            f"x must be contiguous, as getParameters() gives it, not strided {x.stride()}"
        )
    return x.detach().view(-1)


def factors(config: Table, key: str, x: torch.Tensor) -> torch.Tensor | None:
    """
    The vector `config[key]` with one number for each element of `x`, if there is one.

    Raises ValueError where it has another number of elements.
    """
    vector = config.get(key)
    if vector is None:
        return None
    if vector.numel() != x.numel():
        raise ValueError(
            f"config[{key!r}] must have one factor for each of the {x.numel()} elements of x, "
            f"not {vector.numel()}"
        )
    return vector.to(x.device).contiguous()


def held_epsilon(epsilon: float, x: torch.Tensor) -> float:
    """`epsilon`; for a float16 `x`, at least float16's smallest normal number, as less may be 0."""
    return max(epsilon, torch.finfo(x.dtype).tiny) if x.dtype == torch.float16 else epsilon


def first_value(result: Any) -> Any:
    """What Lua keeps of a call's results where one value is wanted: the first."""
    return result[0] if isinstance(result, tuple) else result


def evaluate(opfunc: OpFunc, x: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """
    The loss at `x` and its gradient as a flat vector: a view where the gradient is contiguous, so
    that what an optimizer adds to it shows in the caller's tensor, as in Torch7.

    Raises ValueError where the gradient does not fit `x`, TypeError where there is none.
    """
    flat(x)
    result = opfunc(x)
    if not (isinstance(result, tuple) and len(result) >= 2 and isinstance(result[1], torch.Tensor)):
        raise TypeError("opfunc must return the loss and the gradient, a tensor")
    fx, dfdx = result[:2]
    if dfdx.numel() != x.numel() or dfdx.dtype != x.dtype or dfdx.device != x.device:
        raise ValueError(
            f"opfunc returned a gradient of {dfdx.numel()} {dfdx.dtype} on {dfdx.device}, "
            f"but x has {x.numel()} {x.dtype} on {x.device}"
        )
    loss = fx.detach() if isinstance(fx, torch.Tensor) else fx
    return loss, dfdx.detach().contiguous().view(-1)


def buffer(
    state: Table,
    key: str,
    like: torch.Tensor,
    fill: float | None = 0.0,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """
    The tensor `state[key]`, made on first use with the shape, device and (unless given) dtype of
    `like`.

    A tensor of another dtype or device (a state read from a file, say) is converted once.
    `fill=None` leaves a new tensor uninitialised, for buffers that are written before being read.

    Raises ValueError where `state[key]` has another number of elements than `like`.
    """
    found = state.get(key)
    dtype = like.dtype if dtype is None else dtype
    if found is None:
        new = torch.empty(like.shape, dtype=dtype, device=like.device)
        state[key] = new if fill is None else new.fill_(fill)
    elif found.numel() != like.numel():
        raise ValueError(
            f"state[{key!r}] has {found.numel()} elements, but x has {like.numel()}: "
            "the state belongs to another network"
        )
    elif found.dtype != dtype or found.device != like.device or not found.is_contiguous():
        state[key] = found.to(like.device, dtype).contiguous()
    return state[key]


def pieces(*vectors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """
    Contiguous tensors of equally many elements, cut alike into flat views that fit the cache.

    An optimizer makes several elementwise passes over a few vectors of the size of the network.
    Done piece by piece, only the first pass over a piece reads memory, which makes a sequence of
    plain operations nearly as cheap as one fused kernel.  On an accelerator there is one piece.
    """
    views = tuple(v.detach().view(-1) for v in vectors)
    length = piece_length(views[0])
    if length == views[0].numel():
        yield views
    else:
        yield from zip(*(v.split(length) for v in views), strict=True)


def piece_length(x: torch.Tensor) -> int:
    """The number of elements of the longest piece of `x`."""
    return min(x.numel(), PIECE) if x.device.type == "cpu" else x.numel()
