"""``nn.utils``: helpers for tensors and nested tables of them, as Torch7 scripts call them.

A number where Torch7 counts from 1 counts from 1 here too. Functions that change their first
argument also return it, because a tensor may have to be replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from compat import cutorch
from compat.checks import whole, wrong_type
from compat.hints import answers
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import Convertible
from compat.storage_changes import moved
from compat.tensor_tables import map_tensors


def recursiveType(param: Any, type: str, tensorCache: dict[Any, Any] | None = None) -> Any:
    """Convert all tensors, modules and criterions in ``param`` to a Torch7 tensor type.

    What shares a storage goes on sharing one, also over several calls with one ``tensorCache``.

    Differs from Torch7: tensors change in place.
    """
    cache = {} if tensorCache is None else tensorCache
    if isinstance(param, Convertible):
        return param.type(type, cache)
    if isinstance(param, (list, tuple)):
        return [recursiveType(item, type, cache) for item in param]
    if isinstance(param, dict):
        return {key: recursiveType(item, type, cache) for key, item in param.items()}
    if isinstance(param, Tensor):
        return Conversion(*cutorch.place(type, param), cache)(param)
    return param


def recursiveResizeAs(t1: Any, t2: Any) -> tuple[Any, Any]:
    """``t1`` with the structure and the sizes of ``t2``; tensors that fit are kept."""

    def like(tensor: Any, other: Tensor) -> Tensor:
        fits = isinstance(tensor, Tensor) and tensor.shape == other.shape
        return tensor if fits else torch.empty_like(other)

    return _merged(like, t1, t2), t2


def recursiveFill(t2: Any, val: float) -> Any:
    """Fill every tensor in ``t2`` with ``val``."""
    return map_tensors(lambda tensor: tensor.fill_(val), t2)


def recursiveAdd(t1: Any, val: Any, t2: Any = None) -> tuple[Any, Any]:
    """Add ``val`` times (by default once) the tensors in ``t2`` to those in ``t1``."""
    if t2 is None:
        val, t2 = 1, val

    def add(tensor: Any, other: Tensor) -> Tensor:
        return _tensor(tensor).add_(other, alpha=1 if val is None else val)

    return _merged(add, t1, t2), t2


def recursiveCopy(t1: Any, t2: Any, asynchronous: bool = False) -> tuple[Any, Any]:
    """Copy the tensors in ``t2`` to those in ``t1``, which get their sizes but keep their types.

    The tables of ``t1`` are filled, and keep the entries that ``t2`` lacks; what is missing there
    is new. A tensor where ``t2`` has a table is its first entry. Returns both: ``t1``, or what has
    taken its place, and ``t2``.
    """

    def copy(tensor: Any, other: Tensor) -> Tensor:
        if not isinstance(tensor, Tensor):
            return other.clone()
        if tensor.shape != other.shape:
            tensor.resize_(other.shape)
            moved([tensor])
        return tensor.copy_(other, non_blocking=asynchronous)

    def filled(into: Any, value: Any) -> Any:
        if isinstance(value, Tensor):
            return copy(into, value)
        if isinstance(value, (list, tuple)):
            table = (
                into
                if isinstance(into, list)
                else list(into)
                if isinstance(into, tuple)
                else [into]
            )
            for i, item in enumerate(value):
                table[i : i + 1] = [filled(table[i] if i < len(table) else None, item)]
            return table
        if isinstance(value, dict):
            fields = into if isinstance(into, dict) else {}
            for key, item in value.items():
                fields[key] = filled(fields.get(key), item)
            return fields
        raise wrong_type(value, "t2", "a tensor or a table of tensors")

    return filled(t1, t2), t2


def _tensor(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise wrong_type(value, "t1, where t2 has a tensor,", "a tensor")
    return value


def _merged(function: Any, t1: Any, t2: Any) -> Any:
    """``function(tensor of t1 or None, tensor of t2)`` everywhere in the structure of ``t2``."""
    if isinstance(t2, Tensor):
        return function(t1, t2)
    if isinstance(t2, (list, tuple)):
        known = t1 if isinstance(t1, (list, tuple)) else [t1]
        return [
            _merged(function, known[i] if i < len(known) else None, item)
            for i, item in enumerate(t2)
        ]
    if isinstance(t2, dict):
        fields = t1 if isinstance(t1, dict) else {}
        return {key: _merged(function, fields.get(key), item) for key, item in t2.items()}
    raise wrong_type(t2, "t2", "a tensor or a table of tensors")


def addSingletonDimension(tensor: Tensor, dim: int = 1) -> Tensor:
    """Return a view of ``tensor`` with a dimension of size 1 at place ``dim``, counted from 1."""
    return tensor.unsqueeze(whole(dim, "dim", 1, tensor.dim() + 1) - 1)


def contiguousView(output: Tensor | None, input: Tensor, *size: int) -> Tensor:
    """``input`` in another size: a view where it is contiguous, else a copy.

    ``output``, which Lua reuses, is not used.
    """
    return input.reshape(size)


def clear(object: Any, *fields: Any) -> Any:
    """Empty the named fields: tensors and tables become empty, the rest None. Returns ``object``.

    The names are several strings, or one list of them.
    """
    names = fields[0] if fields and isinstance(fields[0], (list, tuple)) else fields
    for name in names:
        value = getattr(object, name, None)
        if isinstance(value, Tensor):
            setattr(object, name, value.new_empty(0))
        elif value is not None:
            setattr(object, name, type(value)() if isinstance(value, (list, dict)) else None)
    return object


_HINTS = {
    "weight_norm": "use nn.WeightNorm(module)",
    "rnn": "padded sequences: nn.MaskZero and nn.TrimZero",
    "clip_grad_norm_": "use net.gradParamClip(norm)",
    "clip_grad_value_": "use gradParams.clamp_(-1, 1), with gradParams of net.getParameters()",
    "parameters_to_vector": "use net.getParameters(), whose first result is one flat tensor",
}

__path__: list[str] = []  # for HintsOfImports

if not TYPE_CHECKING:
    __getattr__ = answers(__name__, "nn.utils", _HINTS, globals())
