"""Records modules whose source differs from what their forward does.

Torch7's indices count from 1. Indices that are inputs of the source count from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.layers.lookup import LookupTable
from compat.nn.interchange.layers.noise_contrastive import FromOne
from compat.nn.interchange.layers.one_hot import OneHot
from compat.nn.interchange.layers.table_layers import SelectTable
from compat.nn.interchange.recurrent.masking import LookupTableMaskZero
from compat.nn.source.recording import Recording
from compat.nn.source.tidying import SHIFT


def _from_zero(recording: Recording, indices: Tensor) -> Tensor:
    """Record the shift of indices to numbers from 0; return them."""
    whole = indices
    if indices.dtype != torch.int64:
        whole = indices.long()
        recording.add(None, "torch.Tensor.long", (indices,), {}, whole)
    zero_based = whole - 1
    recording.add(None, SHIFT, (whole,), {}, zero_based)
    return zero_based


def _lookup(recording: Recording, module: Any, arguments: Any, output: Tensor) -> None:
    indices = _from_zero(recording, arguments[0])
    recording.add(recording.layer(module, nn.Embedding), "", (indices,), {}, output)


def _masked_lookup(recording: Recording, module: Any, arguments: Any, output: Tensor) -> None:
    recording.add(recording.layer(module, nn.Embedding), "", arguments, {}, output)


def _one_hot(recording: Recording, module: Any, arguments: Any, output: Tensor) -> None:
    zero_based = _from_zero(recording, arguments[0])
    ones = nn.functional.one_hot(zero_based, module.size)
    function = "torch.nn.functional.one_hot"
    recording.add(None, function, (zero_based, module.size), {}, ones)
    recording.add(None, "torch.Tensor.to", (ones, output.dtype), {}, output)


def _select(recording: Recording, module: Any, arguments: Any, output: Any) -> None:
    """Record an index from the end of a sequence where the net has one."""
    found = recording.sequences.entry(output) if isinstance(output, Tensor) else None
    if found is not None and found[1] - found[0].length == module.index:
        recording.name(output, found[0].select(module.index))


def _from_one(recording: Recording, module: Any, arguments: Any, output: Any) -> None:
    features, indices = arguments[0]
    given = [features, _from_zero(recording, indices)]
    recording.add(recording.layer(module.layer, type(module.layer)), "", (given,), {}, output)


SPECIAL: dict[type, Callable[..., None]] = {
    SelectTable: _select,
    LookupTable: _lookup,
    LookupTableMaskZero: _masked_lookup,
    OneHot: _one_hot,
    FromOne: _from_one,
}
