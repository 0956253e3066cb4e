"""What of a module's fields need not be saved."""

from __future__ import annotations

from typing import Any

import torch

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

_BUFFERS_OF_CLASSES = {
    "CosineDistance": ("w1", "w22", "w", "w32", "ones"),
    "Euclidean": ("_expand2", "_expand3", "_repeat2"),
    "LookupTable": ("_count",),
    "Normalize": ("norm", "normp", "cross"),
    "PairwiseDistance": ("diff", "outExpand", "grad", "ones"),
    "SpatialCrossMapLRN": ("scale", "paddedRatio", "accumRatio"),
    "SpatialDivisiveNormalization": ("ones", "_coef"),
    "SpatialSubtractiveNormalization": ("ones", "_coef"),
    "WeightedEuclidean": ("_expand2", "_expand3", "_expand4", "_repeat2", "_repeat3"),
}
"""More of them, whose names mean other things in other classes."""


def cleared(typename: str, fields: dict[Any, Any]) -> dict[Any, Any]:
    """The fields of a module as Torch7's ``clearState`` leaves them: tensors and tables empty.

    Those of an object that is no module are returned unchanged.
    """
    is_module = "gradInput" in fields or ("output" in fields and "_type" in fields)
    if not is_module:
        return fields
    own = _BUFFERS_OF_CLASSES.get(typename.rpartition(".")[2], ())
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
