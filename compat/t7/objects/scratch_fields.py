"""Clears the fields of a module that need not be saved."""

from __future__ import annotations

from typing import Any

import torch

from compat.t7.objects.registry import chosen, has_module_fields, provide

_OF_ALL = frozenset(("output", "gradInput"))
"""What Torch7 empties in every module."""

_USUAL = _OF_ALL.union(
    (
        *("_input", "_output", "_gradOutput", "_gradInput", "_indices"),
        *("_weight", "_gradWeight", "_bias", "_gradBias", "_sum", "_div", "_expand", "_repeat"),
        *("finput", "fgradInput", "addBuffer", "buffer", "buffer2", "noise", "indices"),
        *("save_mean", "save_std", "gradWeightBuf", "gradWeightBuf2"),
    )
)
"""Names that modules usually give to what they compute anew: all there is to go by for classes that
nobody has registered. Of a registered one, those that it declares as scratch fields are emptied.
"""


def cleared(typename: str, fields: dict[Any, Any]) -> dict[Any, Any]:
    """Return the fields of a module as Torch7's ``clearState`` leaves them: tensors and tables
    empty.

    The fields of other objects are returned unchanged. The Python class of the Torch7 class names
    the fields to clear in ``cleared_fields``; scratch fields of usual names are cleared, too.
    """
    if not has_module_fields(fields):
        return fields
    entry = chosen(provide(typename), fields)
    known = getattr(entry and entry.cls, "cleared_fields", None) is not None
    names = _declared(entry.cls) if entry is not None and known else _USUAL
    return {name: _emptied(v) if name in names else v for name, v in fields.items()}


def _declared(cls: Any) -> frozenset[str]:
    scratch = {*cls.scratch_fields, *getattr(cls, "workspace_fields", ())}
    return _OF_ALL | (_USUAL & scratch) | set(cls.cleared_fields)


def _emptied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        empty = value.detach().new_empty(0)
        if hasattr(value, "torch7_type"):
            empty.torch7_type = value.torch7_type  # type: ignore[attr-defined]
        return empty
    if isinstance(value, (list, tuple, dict)):
        return {}
    return value
