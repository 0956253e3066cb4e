"""What of a module's fields need not be saved."""

from __future__ import annotations

from typing import Any

import torch

from compat.t7.objects.registry import chosen, looks_computing, provide

_BUFFERS = frozenset(
    (
        *("output", "gradInput", "_input", "_output", "_gradOutput", "_gradInput", "_indices"),
        *("_weight", "_gradWeight", "_bias", "_gradBias", "_sum", "_div", "_expand", "_repeat"),
        *("finput", "fgradInput", "addBuffer", "buffer", "buffer2", "noise", "indices"),
        *("save_mean", "save_std", "gradWeightBuf", "gradWeightBuf2"),
        *("centered", "std", "normalized"),  # of BatchNormalization before 2016
        *("inputGpu", "outputGpu", "gradInputGpu", "gradOutputGpu"),
    )
)
"""Fields of any module that hold what it computes anew."""


def cleared(typename: str, fields: dict[Any, Any]) -> dict[Any, Any]:
    """The fields of a module as Torch7's ``clearState`` leaves them: tensors and tables empty.

    Those of an object that is no module are returned unchanged. A class that stands for the Torch7
    class names more of them, as ``cleared_fields``.
    """
    if not looks_computing(fields):
        return fields
    entry = chosen(provide(typename), fields)
    own = getattr(entry.cls, "cleared_fields", ()) if entry else ()
    return {
        name: _emptied(value) if name in _BUFFERS or name in own else value
        for name, value in fields.items()
    }


def _emptied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        empty = value.detach().new_empty(0)
        if hasattr(value, "torch7_type"):
            empty.torch7_type = value.torch7_type  # type: ignore[attr-defined]
        return empty
    if isinstance(value, (list, tuple, dict)):
        return {}
    return value
