"""Listing a file without its data."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from support.t7_bytes import array, number, storage, string, table, tensor, torch_object
from support.t7_recordings import FILES, FORMAT, description, register_custom_classes, variant

from compat import t7

NUMBER = number(5)


def test_entries(tmp_path) -> None:
    path = tmp_path / "x.t7"
    flat = torch.arange(10.0)
    net = t7.TorchObject("nn.Linear", 1, {"weight": flat[:8].view(2, 4), "bias": flat[8:]})
    sizes = t7.Storage([1, 2])
    function = t7.LuaFunction(b"code")
    t7.save(path, {"net": net, "twice": [net], "sizes": sizes, "f": function})
    entries = {entry.path: entry for entry in t7.inspect(path)}
    assert list(entries) == [
        "",
        "net",
        "net.weight",
        "net.bias",
        "twice",
        "twice[1]",
        "sizes",
        "f",
        "f.upvalues",
    ]
    assert entries[""].kind == "table" and entries[""].length == 4 and entries[""].depth == 0
    assert entries["net"].kind == "object" and entries["net"].typename == "nn.Linear"
    weight, bias = entries["net.weight"], entries["net.bias"]
    assert weight.kind == "tensor" and weight.typename == "torch.FloatTensor" and weight.depth == 2
    assert weight.shape == (2, 4) and weight.stride == (4, 1) and weight.nbytes == 32
    assert bias.shape == (2,) and bias.dtype is torch.float32 and bias.storage == weight.storage
    assert entries["twice[1]"].kind == "reference" and entries["twice[1]"].target == "net"
    assert entries["sizes"].kind == "storage" and entries["sizes"].length == 2
    assert entries["f"].kind == "function" and entries["f"].length == 4


def test_data_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big.t7"
    held = storage(3, "torch.FloatStorage", 2**33, b"")
    path.write_bytes(array(1, tensor(2, "torch.FloatTensor", (2**33,), (1,), held)))
    os.truncate(path, path.stat().st_size + 2**35)  # takes no room where files can have holes
    entries = list(t7.inspect(path))
    assert [entry.kind for entry in entries] == ["table", "tensor"]
    assert entries[1].shape == (2**33,)


def test_paths_and_depths_are_those_of_the_objects() -> None:
    data = array(
        1,
        table(2, string("a"), array(3, array(4), table(5, string("b"), array(6)))),
        torch_object(7, "nn.GPU", array(8, string("t"), array(9)) + table(10, NUMBER, table(11))),
        array(12),
    )
    listed = [(e.path, e.depth) for e in t7.inspect(io.BytesIO(data))]
    assert listed == [
        *(("", 0), ("[1]", 1), ("[1].a", 2), ("[1].a[1]", 3), ("[1].a[2]", 3), ("[1].a[2].b", 4)),
        *(("[2]", 1), ("[2]", 1), ("[2][1]", 2), ("[2][2]", 2), ("[2][5]", 2), ("[3]", 1)),
    ]


def test_deep_nesting_is_listed_in_time_and_memory() -> None:
    depth = 20_000
    name = "n" * 1_000
    data = table(1, string(name), b"")
    data += b"".join(table(i, string("t"), b"") for i in range(2, depth)) + table(depth)
    entries = list(t7.inspect(io.BytesIO(data)))
    assert [entry.depth for entry in entries] == list(range(depth))
    assert max(len(entry.path) for entry in entries) < 200
    assert entries[-1].path.startswith("['nnn") and entries[-1].path.endswith(".t.t")


def test_what_comes_before_a_defect_is_listed(tmp_path) -> None:
    path = tmp_path / "x.t7"
    path.write_bytes(t7.dumps({"a": torch.ones(2), "b": torch.ones(1000)})[:-10])
    seen = []
    with pytest.raises(t7.T7Error, match="truncated") as caught:
        for entry in t7.inspect(path):
            seen.append(entry.path)
    assert seen == ["", "a"]
    assert caught.value.file == str(path) and caught.value.path == "b"


@pytest.mark.parametrize("entry", FILES, ids=lambda e: e["file"])
def test_every_recording_can_be_listed(entry: dict) -> None:
    register_custom_classes()
    options = {name: value for name, value in variant(entry).items() if name != "long_size"}
    kinds = [found.kind for found in t7.inspect(FORMAT / entry["file"], **options)]
    root = description(entry).get("root", {"type": "table"})
    if root["type"] in ("table", "object", "function", "tensor", "storage"):
        assert root["type"] in kinds
    else:
        assert kinds[0] == "value"


@pytest.mark.parametrize("format", ["binary", "ascii"])
def test_values_are_listed_in_their_place(format: str) -> None:
    value = {
        "epoch": 3,
        "opt": {"lr": 0.1, "name": "x", "fast": True},
        "mixed": [1, torch.ones(2), "a"],
        "sizes": t7.Storage([4, 5]),
    }
    entries = list(t7.inspect(io.BytesIO(t7.dumps(value, format=format))))
    assert [(e.path, e.depth, e.label, e.value) for e in entries] == [
        ("", 0, "", None),
        ("epoch", 1, "epoch", 3),
        ("opt", 1, "opt", None),
        *(("opt.lr", 2, "lr", 0.1), ("opt.name", 2, "name", "x"), ("opt.fast", 2, "fast", True)),
        ("mixed", 1, "mixed", None),
        *(("mixed[1]", 2, "[1]", 1), ("mixed[2]", 2, "[2]", None), ("mixed[3]", 2, "[3]", "a")),
        ("sizes", 1, "sizes", [4, 5]),
    ]


@pytest.mark.parametrize("format", ["binary", "ascii"])
@pytest.mark.parametrize(
    ("keys", "most"), [(range(1, 1001), 10), ([f"k{i}" for i in range(1000)], 200)]
)
def test_of_many_values_the_first_are_listed(format: str, keys: Any, most: int) -> None:
    value = dict.fromkeys(keys, 7)
    _, *listed, rest = t7.inspect(io.BytesIO(t7.dumps(value, format=format)))
    assert [entry.kind for entry in listed] == ["value"] * most
    assert (rest.kind, rest.length) == ("values", 1000 - most)


def test_what_follows_the_object_is_listed() -> None:
    *_, last = t7.inspect(io.BytesIO(t7.dumps({"a": 1}) + b"more"))
    assert (last.kind, last.nbytes) == ("unread", 4)


def nested(count: int) -> Any:
    value: Any = []
    for _ in range(count):
        value = [value]
    return value


@pytest.mark.parametrize("format", ["binary", "ascii"])
@pytest.mark.parametrize(
    "value", [nested(300), [[1] for _ in range(300)], {"a": {str(i): [i] for i in range(300)}}]
)
def test_no_more_is_listed_and_read_than_asked_for(format: str, value: Any) -> None:
    data = t7.dumps(value, format=format)
    everything = list(t7.inspect(io.BytesIO(data)))
    for most in (1, 7, 250):
        *first, last = t7.inspect(io.BytesIO(data), most=most)
        assert first == everything[:most]
        assert last.kind == "unlisted" and 0 < last.nbytes < len(data)
    assert list(t7.inspect(io.BytesIO(data), most=len(everything))) == everything


def test_what_is_not_listed_may_be_damaged() -> None:
    data = t7.dumps([[1] for _ in range(300)])[:-5]
    assert len(list(t7.inspect(io.BytesIO(data), most=10))) == 11
    with pytest.raises(t7.T7Error, match="truncated"):
        list(t7.inspect(io.BytesIO(data)))


def test_a_file_of_a_small_machine_is_listed_to_its_end() -> None:
    data = t7.dumps({"a": torch.ones(2), "b": [torch.ones(3)]}, long_size=4)
    entries = list(t7.inspect(io.BytesIO(data)))
    assert {entry.path for entry in entries} == {"", "a", "b", "b[1]"}
