"""Run a function on rank 0; return its result, or raise its error, on all ranks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import torch.distributed as dist

T = TypeVar("T")
Checked = Callable[[Callable[[], Any]], Any]


def agreed(value: T, checked: Checked, group: dist.ProcessGroup | None = None) -> T:
    """Return the ``value`` of the first process of ``group`` in all of them.

    Args:
        value: any picklable object; ignored in the other processes.
        checked: runs a collective, such as ``Heartbeat.checked``.
        group: the processes; it must have a backend for CPU tensors.
    """
    held = [value]
    root = 0 if group is None else dist.get_global_rank(group, 0)
    checked(partial(dist.broadcast_object_list, held, root, group=group))
    return held[0]


def _portable(error: Exception) -> Exception:
    """Return ``error``, or a RuntimeError with its text if it cannot be pickled."""
    try:
        # Both ways: some exceptions pickle, but their constructors do not take the arguments back.
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def decided(
    function: Callable[[], T], checked: Checked, group: dist.ProcessGroup | None = None
) -> T:
    """Call ``function`` in the first process only; all return its result or raise its error."""
    outcome: Any = None
    if dist.get_rank(group) == 0:
        try:
            outcome = function(), None
        except Exception as error:
            outcome = None, _portable(error)
    result, failure = agreed(outcome, checked, group)
    if failure is not None:
        raise failure
    return result
