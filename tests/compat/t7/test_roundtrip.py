"""Any value survives being saved and loaded, in every variant."""

from __future__ import annotations

import math
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from support.t7_recordings import is_utf8
from support.t7_same import assert_same

from compat import t7

DTYPES = [
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.float32,
    torch.float64,
]
VARIANTS = st.one_of(
    st.fixed_dictionaries(
        {"endian": st.sampled_from(["little", "big"]), "long_size": st.sampled_from([4, 8])}
    ),
    st.just({"format": "ascii"}),
)


def canonical(number: float) -> float | int:
    """The form in which a number is loaded."""
    is_zero = number == 0 and math.copysign(1, number) < 0
    whole = float(number).is_integer() and abs(number) <= 2**53 and not is_zero
    return int(number) if whole else float(number)


numbers = st.one_of(st.floats(), st.integers(-(2**53), 2**53)).map(canonical)
strings = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
raw_strings = st.binary(max_size=8).filter(lambda raw: not is_utf8(raw))
keys = st.one_of(strings, numbers.filter(lambda n: n == n).map(lambda n: n or 0))


@st.composite
def tensors(draw: st.DrawFn) -> Any:
    """Views of a common storage, or the storage itself."""
    dtype = draw(st.sampled_from(DTYPES))
    size = draw(st.integers(1, 20))
    raw = draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize))
    storage = torch.frombuffer(bytearray(raw), dtype=torch.uint8).clone().view(dtype)
    if dtype is torch.int64:
        storage.remainder_(2**31)  # what longs of 4 bytes can hold
    views: list[Any] = [storage, t7.Storage(storage)]
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, size - 1))
        step = draw(st.integers(0, 4))
        most = size if step == 0 else (size - 1 - start) // step + 1
        length = draw(st.integers(1, most))
        views.append(storage.as_strided((1, length), (1, step), start))
    if draw(st.booleans()):
        views.append(torch.empty(0, dtype=dtype))
    return views


def _tables(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(children, min_size=1, max_size=5)
    # A dict with the keys 1…n would come back as a list.
    dicts = st.dictionaries(keys, children, max_size=5).filter(
        lambda d: set(d) != set(range(1, len(d) + 1)) or not d
    )
    objects = st.builds(
        t7.TorchObject,
        st.sampled_from(["nn.Thing", "my.Class", "Ünïcode name"]),
        st.sampled_from([0, 1, 2, 1.5]),
        st.dictionaries(strings, children, max_size=3),
    )
    functions = st.builds(t7.LuaFunction, st.binary(max_size=5), lists, st.sampled_from([6, 7, 8]))
    return st.one_of(lists, dicts, objects, functions)


values = st.recursive(
    st.one_of(st.booleans(), numbers, strings, raw_strings, tensors()), _tables, max_leaves=12
)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """A value in which tables also occur in other places, and within themselves."""
    root = {"root": draw(values), "extra": draw(values)}
    containers: list[Any] = [root]
    for container in containers:
        parts: list[Any] = []
        if isinstance(container, dict):
            parts = list(container.values())
        elif isinstance(container, list):
            parts = list(container)
        elif isinstance(container, t7.TorchObject):
            parts = [container.fields]
        containers += [part for part in parts if isinstance(part, (dict, list, t7.TorchObject))]
    targets = [c for c in containers if isinstance(c, (dict, list))]
    shared = [c for c in containers if not _is_field_table(c, containers)]
    for number in range(draw(st.integers(0, 4))):
        target, value = draw(st.sampled_from(targets)), draw(st.sampled_from(shared))
        if isinstance(target, list):
            target.append(value)
        else:
            target[f"link {number}"] = value
    return root


def _is_field_table(value: Any, containers: list[Any]) -> bool:
    return any(isinstance(c, t7.TorchObject) and c.fields is value for c in containers)


@given(graphs(), VARIANTS)
def test_any_graph(value: Any, options: dict[str, Any]) -> None:
    data = t7.dumps(value, **options)
    again = t7.loads(data, raw=True)
    assert_same(value, again)
    if "format" not in options:
        assert t7.dumps(again, **options) == data


@given(graphs())
def test_compact_keeps_content(value: Any) -> None:
    assert len(t7.dumps(value, compact=True)) <= len(t7.dumps(value))
    t7.loads(t7.dumps(value, compact=True), raw=True)


@given(st.lists(tensors(), max_size=3))
def test_compact_keeps_elements(groups: list[Any]) -> None:
    plain = [[x for x in group if isinstance(x, torch.Tensor)] for group in groups]
    again = t7.loads(t7.dumps(plain, compact=True))
    for group, found in zip(plain, again, strict=False):
        for a, b in zip(group, found, strict=True):
            assert torch.equal(a.nan_to_num(), b.nan_to_num()) and a.shape == b.shape


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    try:
        t7.loads(data)
    except t7.T7Error as error:
        assert str(error)
