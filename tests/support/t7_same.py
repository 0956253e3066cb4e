"""Whether two values are the same to Lua: content, classes, identities and shared storages."""

from __future__ import annotations

import math
import struct
from typing import Any

import torch

from compat import t7


def assert_same(first: Any, second: Any) -> None:
    """Compare two graphs of objects without recursion, so that any depth will do.

    A plain list or dict is the same as the table of a file with its entries.
    """
    pairs = [(first, second)]
    partner: dict[int, Any] = {}
    claimed: set[int] = set()
    storages: dict[int, int] = {}
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, t7.Key):
            a, b = a.value, b.value
        if a is None or isinstance(a, (bool, str, bytes)):
            assert type(a) is type(b) and a == b
            continue
        if isinstance(a, (int, float)):
            assert type(a) is type(b)
            assert struct.pack("<d", a) == struct.pack("<d", b) or (math.isnan(a) and math.isnan(b))
            continue
        assert _kind(a) is _kind(b), (type(a), type(b))
        if id(a) in partner:
            assert partner[id(a)] is b, "identity is lost"
            continue
        # Each reading of a storage may wrap it anew.
        assert isinstance(a, t7.Storage) or id(b) not in claimed, "two have become one"
        partner[id(a)] = b
        claimed.add(id(b))
        if isinstance(a, (torch.Tensor, t7.Storage)):
            _assert_same_data(a, b, storages)
        else:
            pairs += _parts(a, b)


def _kind(value: Any) -> type:
    if type(value) in (dict, t7.Table):
        return dict if value else list
    return list if type(value) is t7.List else type(value)


def _parts(a: Any, b: Any) -> list[tuple[Any, Any]]:
    if isinstance(a, (list, dict)) and not len(a) == len(b) > 0:
        assert len(a) == len(b) == 0
        return []
    if isinstance(a, dict):
        keys = list(zip(a, b, strict=True))
        return keys + list(zip(a.values(), b.values(), strict=True))
    if isinstance(a, (list, tuple)):
        return list(zip(a, b, strict=True))
    if isinstance(a, t7.LuaFunction):
        assert (a.bytecode, a.code) == (b.bytecode, b.code)
        return [(a.upvalues, b.upvalues)]
    if isinstance(a, t7.TorchObject):
        assert (a.typename, a.version) == (b.typename, b.version)
        return [(a.preamble, b.preamble), (a.fields, b.fields)]
    return [(vars(a), vars(b))]


def _assert_same_data(a: Any, b: Any, storages: dict[int, int]) -> None:
    if isinstance(a, t7.Storage):
        assert a.typename == b.typename
        a, b = a.tensor, b.tensor
    assert getattr(a, "torch7_type", None) == getattr(b, "torch7_type", None)
    assert a.dtype is b.dtype and a.shape == b.shape and a.stride() == b.stride()
    assert a.storage_offset() == b.storage_offset()
    assert a.untyped_storage().nbytes() == b.untyped_storage().nbytes()
    nan = a.isnan()
    assert torch.equal(nan, b.isnan())  # which nan it is gets lost in text
    assert torch.equal(_bits(a)[~nan], _bits(b)[~nan])
    pointers = a.untyped_storage().data_ptr(), b.untyped_storage().data_ptr()
    if all(pointers):
        assert storages.setdefault(pointers[0], pointers[1]) == pointers[1], "sharing is lost"


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The elements so that 0 does not equal -0."""
    whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}
    if not tensor.is_floating_point():
        return tensor
    return tensor.contiguous().view(whole[tensor.itemsize])
