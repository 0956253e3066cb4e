"""What can be written, what cannot, and what becomes of it."""

from __future__ import annotations

import enum
import io
from collections import OrderedDict, namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.ids import stable

from compat import t7


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, "a"), [1, "a"]),
        (namedtuple("Point", "x y")(1, 2), [1, 2]),
        (torch.Size([2, 3]), [2, 3]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (Path("a/b"), "a/b"),
        (np.float32(0.5), 0.5),
        (np.int64(5), 5),
        (np.bool_(True), True),
        (Colour.RED, 3),
        (bytearray(b"\xff"), b"\xff"),
        (2**60, 2.0**60),
        (True, True),
        (None, None),
    ],
    ids=repr,
)
def test_values(value: Any, expected: Any) -> None:
    again = t7.loads(t7.dumps(value))
    assert again == expected and type(t7.plain(again)) is type(expected)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "register"),
        ({1, 2}, "register"),
        (2**53 + 1, "double"),
        (2**2000, "double"),
        (1j, "found a builtins.complex"),
        ("\ud800", "UTF-8"),
        (torch.zeros(1, dtype=torch.bfloat16), r"tensor\.float\(\)"),
        (torch.zeros(1, dtype=torch.complex64), "complex64"),
        (torch.zeros(1, device="meta"), "meta"),
        (torch.eye(2).to_sparse(), "sparse"),
        (np.array(["a"]), "array"),
        (torch.nn.Linear(1, 1), "register"),
        (t7.TorchObject("bad\0name"), "class name"),
    ],
    ids=lambda value: stable(value)[:30],
)
def test_what_cannot_be_written_is_named_before_anything_is_touched(
    value: Any, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.t7"
    t7.save(path, "old")
    with pytest.raises(t7.T7Error, match=problem) as caught:
        t7.save(path, {"net": {"modules": [1, value]}})
    assert caught.value.path == "net.modules[2]"
    assert t7.load(path) == "old"
    assert list(tmp_path.iterdir()) == [path]
    target = io.BytesIO()
    with pytest.raises(t7.T7Error):
        t7.save(target, ["first", value])
    assert target.getvalue() == b""


def test_swapped_arguments_and_text_files_are_refused_first(tmp_path: Path) -> None:
    for value in ({"a": 1}, torch.ones(2), None):
        with pytest.raises(TypeError, match=r"a path or an open binary file .* save\(path, obj\)"):
            t7.save(value, tmp_path / "new.t7")  # type: ignore[arg-type]
    with open(tmp_path / "text", "w") as file, pytest.raises(TypeError, match="mode 'wb'"):
        t7.save(file, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "option", [{"format": "text"}, {"long_size": 2}, {"endian": "middle"}], ids=repr
)
def test_unknown_options(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(ValueError, match=name):
        t7.dumps(1, **option)
    with pytest.raises(ValueError, match=name):
        t7.loads(t7.dumps(1), **option)


def test_tensors_that_torch7_does_not_know() -> None:
    number, bools, empty = t7.loads(
        t7.dumps([torch.tensor(5.0), torch.tensor([True, False]), torch.zeros(0, 3)])
    )
    assert number.tolist() == [5]
    assert bools.dtype is torch.uint8 and bools.tolist() == [1, 0]
    assert empty.shape == (0, 3)
    parameter = torch.nn.Parameter(torch.ones(2))
    assert not t7.loads(t7.dumps(parameter)).requires_grad
    negative = torch.view_as_real(torch.tensor([1 + 2j]).conj().resolve_conj()).neg()
    assert t7.loads(t7.dumps(negative)).tolist() == negative.tolist()


def test_numpy_arrays() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    arrays = [array, array[:, ::-1], array.astype(">f4"), np.broadcast_to(array, (2, 2, 3)), array]
    again = t7.loads(t7.dumps(arrays))
    for found, expected in zip(again, arrays, strict=True):
        assert np.array_equal(found.numpy(), expected)
    assert again[1] is again[5]


def test_longs_that_4_bytes_cannot_hold() -> None:
    with pytest.raises(t7.T7Error, match="long_size=8"):
        t7.dumps({"x": torch.tensor([1, 2**31])}, long_size=4)


def test_unreferenced_writes_everything_in_full() -> None:
    table, tensor = ["x"], torch.arange(3)
    first, second, third, fourth = t7.loads(
        t7.dumps([table, table, tensor, tensor], referenced=False)
    )
    assert first == second and first is not second
    assert third.data_ptr() != fourth.data_ptr() and third.tolist() == fourth.tolist()
    with pytest.raises(t7.T7Error, match="contains itself"):
        table.append(table)
        t7.dumps(table, referenced=False)


def test_many_objects_share() -> None:
    shared = [torch.ones(2)]
    data = t7.dumps([shared, "between", shared], many=True)
    first, between, second = t7.loads(data, many=True)
    assert first is second and between == "between"
    assert t7.loads(data)[1].tolist() == [1, 1], "the first one alone"


def test_deep_nesting_is_written() -> None:
    value: list[Any] = []
    for _ in range(50_000):
        value = [value]
    again = t7.loads(t7.dumps(value))
    depth = 0
    while again:
        again, depth = again[1], depth + 1
    assert depth == 50_000


class Dribble(io.RawIOBase):
    """A raw file that takes little at a time."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        self.data += bytes(chunk[:1000])
        return min(1000, len(chunk))


def test_files_that_take_little_at_a_time() -> None:
    file = Dribble()
    t7.save(file, torch.arange(5000))
    assert t7.loads(file.data).tolist() == list(range(5000))


def test_an_object_that_states_another_is_written_as_that_one() -> None:
    class Words:
        def t7_object(self) -> dict[str, list[str]]:
            return {"words": ["a", "b"]}

    words = Words()
    first, second, other = t7.loads(t7.dumps([words, words, Words()]))
    assert first == other == {"words": ["a", "b"]}
    assert first is second and first is not other
