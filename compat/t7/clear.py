"""What of a module's fields need not be saved."""

from __future__ import annotations

from typing import Any

import torch

_BUFFERS = frozenset(
    (
        "output",
        "gradInput",
        "_input",
        "_output",
        "_gradOutput",
        "_gradInput",
        "_weight",
        "_indices",
        "_sum",
        "_expand",
        "_repeat",
        "finput",
        "fgradInput",
        "noise",
        "indices",
        "save_mean",
        "save_std",
        "buffer",
        "centered",
        "std",
        "normalized",
        "xhat",
        "gaussian_noise",
        "inputGpu",
        "outputGpu",
        "gradInputGpu",
        "gradOutputGpu",
    )
)
"""Fields that modules compute anew: those that Torch7's ``clearState`` methods empty, and the
buffers
that old versions of modules left in files."""


def cleared(fields: dict[Any, Any]) -> dict[Any, Any]:
    """The fields of a module with empty buffers; those of any other object unchanged."""
    is_module = "gradInput" in fields or ("output" in fields and "_type" in fields)
    if not is_module:
        return fields
    return {name: _emptied(value) if name in _BUFFERS else value for name, value in fields.items()}


def _emptied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        empty = value.detach().new_empty(0)
        if hasattr(value, "torch7_type"):
            empty.torch7_type = value.torch7_type  # type: ignore[attr-defined]
        return empty
    if isinstance(value, (list, tuple, dict)):
        return {}
    return value
