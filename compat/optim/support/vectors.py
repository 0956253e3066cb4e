"""The vectors of the optimizers, and passes over them in pieces that fit the cache.

They are detached views, so nothing that an optimizer does is recorded for autograd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from compat import accelerators
from compat.checks import check_floating, check_tensor
from compat.optim.support.options import Table
from compat.tensor_types import tag

# Elements per piece: enough to drown the cost of the calls, few enough for the processor's cache.
PIECE = 1 << 19


def flat(x: torch.Tensor) -> torch.Tensor:
    """Return a one-dimensional view of the parameters ``x``.

    Raises:
        ValueError: the parameters cannot be viewed as one dimension.
        TypeError: ``x`` is not a floating-point tensor.
    """
    check_floating(x, "x")
    if not x.is_contiguous():
        raise ValueError(
            f"x has strides {x.stride()}; a contiguous one, as getParameters() gives it, is "
            "accepted"
        )
    return x.detach().view(-1)


def factors(config: Table, key: str, x: torch.Tensor) -> torch.Tensor | None:
    """Return the vector ``config[key]`` with one number for each element of ``x``, or None.

    Raises:
        TypeError: it is not a tensor.
        ValueError: it has another number of elements.
    """
    vector = config.get(key)
    if vector is None:
        return None
    check_tensor(vector, f"config[{key!r}]")
    if vector.numel() != flat(x).numel():
        raise ValueError(
            f"config[{key!r}] has {vector.numel()} elements; one for each of the {x.numel()} of x "
            "is accepted"
        )
    return vector.to(x.device).contiguous()


def buffer(
    state: Table,
    key: str,
    like: torch.Tensor,
    fill: float | None = 0.0,
    dtype: torch.dtype | None = None,
    shape: Sequence[int] | None = None,
) -> torch.Tensor:
    """Return the tensor ``state[key]``, which the first use makes.

    A tensor of another dtype or device, for instance from a file, is converted once.

    Args:
        state: the state table.
        key: the name.
        like: gives the device, the default dtype and shape, and the class in files.
        fill: the first value; None leaves a new tensor uninitialised, for buffers that are written
            before they are read.
        dtype: the dtype, if not that of ``like``.
        shape: the shape, if not that of ``like``.

    Raises:
        TypeError: ``state[key]`` is not a tensor.
        ValueError: it has another number of elements.
    """
    found = state.get(key)
    dtype = like.dtype if dtype is None else dtype
    shape = like.shape if shape is None else torch.Size(shape)
    if found is None:
        found = torch.empty(shape, dtype=dtype, device=like.device)
        if fill is not None:
            found.fill_(fill)
    elif check_tensor(found, f"state[{key!r}]").numel() != shape.numel():
        raise ValueError(
            f"state[{key!r}] has {found.numel()} elements; {shape.numel()} are accepted: "
            "the state belongs to another network"
        )
    elif found.dtype != dtype or found.device != like.device or not found.is_contiguous():
        found = found.to(like.device, dtype).contiguous()
    else:
        return found
    state[key] = same_class(found, like)
    return found


def same_class(new: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Let files give ``new`` the class of ``like``, for instance a CUDA type; return ``new``."""
    tag(new, getattr(like, "torch7_type", ""))
    return new


def held_epsilon(epsilon: float, x: torch.Tensor) -> float:
    """Return ``epsilon``; for float16 at least its smallest normal number, since less may be 0."""
    return max(epsilon, torch.finfo(x.dtype).tiny) if x.dtype == torch.float16 else epsilon


def changed(x: torch.Tensor) -> None:
    """Increase the version counter of ``x``, which PyTorch's fused kernels do not do."""
    torch.autograd.graph.increment_version(x)


def has_fused_sgd(x: torch.Tensor) -> bool:
    """Return whether PyTorch's fused SGD works for ``x``.

    On the CPU it leaves 16-bit floats unchanged.
    """
    full = x.dtype in (torch.float32, torch.float64)
    return accelerators.kind_of(x.device).fused or (x.is_cpu and full)


def pieces(*vectors: torch.Tensor) -> Iterator[tuple[torch.Tensor, ...]]:
    """Cut contiguous tensors of equally many elements into flat views that fit the cache.

    An optimizer makes several elementwise passes over a few vectors of the size of the network.
    Piece by piece, only the first pass over a piece reads memory, so a sequence of plain operations
    is nearly as fast as one fused kernel. On an accelerator there is one piece.
    """
    views = tuple(v.detach().view(-1) for v in vectors)
    length = piece_length(views[0])
    if length == views[0].numel():
        yield views
    else:
        yield from zip(*(v.split(length) for v in views), strict=True)


def piece_length(x: torch.Tensor) -> int:
    """Return the number of elements of the longest piece of ``x``."""
    return min(x.numel(), PIECE) if x.device.type == "cpu" else x.numel()
