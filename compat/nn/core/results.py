"""Where the results of passes go: ``output`` and ``gradInput`` of modules and criterions.

Python users expect a new tensor from every pass; Lua scripts hold Torch7's buffers, which the next
pass fills again. Layers give their results to ``set_output`` and ``set_gradInput``, and which of
the two happens is decided here.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.moves import moved
from compat.torch_internals import storage_identity


class _Switch:
    """Whether passes fill the tensors of earlier passes again."""

    on = False


switch = _Switch()


def reuse_buffers(on: bool = True) -> bool:
    """Have each pass write its results into the tensors of the pass before, as Torch7 does.

    Whoever kept a result then sees the numbers of the latest pass. It counts for all nets of the
    process, from now on.

    Args:
        on: False, the default state, gives new tensors in every pass.

    Returns what was set before.
    """
    if not isinstance(on, bool):
        raise TypeError(f"on is {on!r}; True or False is accepted")
    before, switch.on = switch.on, on
    return before


def refilled(buffer: Any, value: Any) -> Any:
    """``value``, tensors with memory of their own, put into ``buffer`` where that is possible.

    Returns what holds it now: the buffer, resized if need be, or ``value`` where there is no buffer
    of its type.
    """
    if isinstance(value, Tensor):
        if not value.dim():
            value = value.reshape(1)  # Torch7 has no tensors without dimensions
        if not isinstance(buffer, Tensor) or buffer is value:
            return value
        if buffer.dtype != value.dtype or buffer.device != value.device:
            return value
        if (
            value.is_sparse
            or buffer.is_sparse
            or storage_identity(buffer) == storage_identity(value)
        ):
            return value
        if buffer.shape != value.shape:
            if not buffer.untyped_storage().resizable():  # of a file, or of somebody's array
                return value
            buffer.resize_(value.shape)
            moved([buffer])
        elif 0 in buffer.stride() and not buffer.is_contiguous():
            return value  # an expanded tensor has no place for its numbers
        return buffer.copy_(value)
    if isinstance(value, list) and isinstance(buffer, list):
        known = len(buffer)
        buffer[:] = [refilled(buffer[i] if i < known else None, v) for i, v in enumerate(value)]
        return buffer
    return value


def pointed(buffer: Any, value: Any) -> Any:
    """``buffer``, over the memory of ``value``, which is somebody else's, where that is possible.

    Returns what holds the value now: the buffer, or ``value`` where there is no buffer of its type.
    A table is filled with the entries of ``value`` themselves.
    """
    if isinstance(value, list) and isinstance(buffer, list):
        buffer[:] = value
        return buffer
    if not isinstance(buffer, Tensor) or not isinstance(value, Tensor) or buffer is value:
        return value
    if buffer.dtype != value.dtype or buffer.device != value.device or value.is_sparse:
        return value
    if not value.dim():
        value = value.reshape(1)
    if (
        buffer.data_ptr() != value.data_ptr()
        or buffer.shape != value.shape
        or buffer.stride() != value.stride()
    ):
        buffer.set_(value)
        moved([buffer])
    return buffer


def cleared(value: Any, empty: Tensor, is_of_others: bool) -> Any:
    """What is in the place of a result that is cleared: ``empty``, or an empty table.

    A buffer that is filled again goes on, without its memory: who kept it sees that.
    """
    if not isinstance(value, Tensor):
        return []
    if not switch.on or is_of_others or value.is_sparse:
        return empty
    value.set_()  # type: ignore[call-overload]
    moved([value])
    return value
