"""Functions of the graph written in Python that a plan may call."""

from __future__ import annotations

from typing import Any

import torch

from compat.nn.core.tape import current_recorder


class PlannedFunction(torch.autograd.Function):
    """A ``torch.autograd.Function`` that depends on its arguments alone.

    Where a pass is noted for a plan (``compat.nn.core.plan``), it is noted as one step.
    """

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Compute, and be a part of the graph."""
        recorder = current_recorder()
        if recorder is None:
            return super().apply(*args)
        return recorder.whole(cls, cls.apply, super().apply, *args)
