"""The recorded files of tests/golden/format, and their comparison with what was loaded."""

from __future__ import annotations

import gzip
import json
import math
import struct
import zlib
from collections.abc import Generator
from typing import Any

import torch

from compat import t7
from support.paths import GOLDEN

FORMAT = GOLDEN / "format"
FILES: list[dict[str, Any]] = json.loads((FORMAT / "manifest.json").read_text())
MALFORMED: list[dict[str, Any]] = json.loads((FORMAT / "malformed" / "manifest.json").read_text())


def read(entry: dict[str, Any]) -> bytes:
    data = (FORMAT / entry["file"]).read_bytes()
    return gzip.decompress(data) if entry.get("gzip") else data


def variant(entry: dict[str, Any]) -> dict[str, Any]:
    """How the manifest says the file must be opened."""
    return {
        "format": entry["mode"],
        "endian": entry["endian"],
        "long_size": entry["longSize"],
        "referenced": entry["referenced"],
    }


def description(entry: dict[str, Any]) -> dict[str, Any]:
    return json.loads((FORMAT / entry["file"].replace(".t7", ".expected.json")).read_text())


class Custom:
    """golden.Custom: an int, a double, an int and that many chars, a long, an object."""

    def payload(self) -> list[Any]:
        return [self.i, self.d, self.s, self.l, self.o]


class Custom2:
    """golden.Custom2, version 3: an object and a bool."""

    def payload(self) -> list[Any]:
        return [self.o, self.b]


def register_custom_classes() -> None:
    def read(obj: Any, version: float) -> Generator[Any, Any, None]:
        obj.i = yield t7.INT
        obj.d = yield t7.DOUBLE
        obj.s = yield t7.bytes_((yield t7.INT))
        obj.l = yield t7.LONG
        obj.o = yield t7.OBJECT

    def write(obj: Any) -> Generator[Any, None, None]:
        yield t7.INT, obj.i
        yield t7.DOUBLE, obj.d
        yield t7.INT, len(obj.s)
        yield t7.bytes_(len(obj.s)), obj.s
        yield t7.LONG, obj.l
        yield t7.OBJECT, obj.o

    def read2(obj: Any, version: float) -> Generator[Any, Any, None]:
        assert version == 3
        obj.o = yield t7.OBJECT
        obj.b = yield t7.BOOL

    def write2(obj: Any) -> Generator[Any, None, None]:
        yield t7.OBJECT, obj.o
        yield t7.BOOL, obj.b

    t7.register("golden.Custom", Custom, read=read, write=write)
    t7.register("golden.Custom2", Custom2, version=3, read=read2, write=write2)


class Comparison:
    """Asserts that a value is what an expected.json describes, identities included."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def check(self, node: dict[str, Any], value: Any) -> None:
        getattr(self, f"_{node['type']}")(node, value)
        if "id" in node and node["type"] != "ref":
            self._seen[node["id"]] = value

    def _ref(self, node: dict[str, Any], value: Any) -> None:
        known = self._seen[node["id"]]
        if isinstance(known, t7.Storage):
            assert value.tensor.data_ptr() == known.tensor.data_ptr()
        else:
            assert value is known

    def _nil(self, node: dict[str, Any], value: Any) -> None:
        assert value is None

    def _boolean(self, node: dict[str, Any], value: Any) -> None:
        assert value is node["value"]

    def _number(self, node: dict[str, Any], value: Any) -> None:
        assert type(value) in (int, float)
        if node["value"] == "nan":
            assert math.isnan(value)
            assert "bits" not in node or struct.pack(">d", value).hex() == node["bits"]
        elif "bits" in node:
            bits = struct.pack(">d", value).hex()
            assert bits == node["bits"]
        else:
            assert value == float(node["value"])
            whole = value == value // 1 and abs(value) <= 2**53
            assert isinstance(value, int) is whole

    def _string(self, node: dict[str, Any], value: Any) -> None:
        raw = value.encode() if isinstance(value, str) else value
        if "crc32" in node:
            assert zlib.crc32(raw) == int(node["crc32"], 16)
            assert raw[:32].hex() == node["head_hex"] and raw[-32:].hex() == node["tail_hex"]
        elif "hex" in node:
            assert raw.hex() == node["hex"]
        else:
            assert value == node["value"]
        assert isinstance(value, str) is is_utf8(raw)

    def _table(self, node: dict[str, Any], value: Any) -> None:
        self._seen[node["id"]] = value
        pairs = _effective(node["pairs"])
        numbers = [key.get("value") for key, _ in pairs if key["type"] == "number"]
        if not pairs:
            assert isinstance(value, (list, dict)) and not value
            return
        if sorted(numbers, key=float) == list(range(1, len(pairs) + 1)):
            assert isinstance(value, list) and len(value) == len(pairs)
            found_items = dict(enumerate(value, 1))
            for key, item in pairs:
                self.check(item, found_items[key["value"]])
            return
        assert isinstance(value, dict) and len(value) == len(pairs)
        for (key, item), (found_key, found) in zip(pairs, value.items(), strict=True):
            plain = found_key.value if isinstance(found_key, t7.Key) else found_key
            if key.get("bits") == "8000000000000000":  # -0 and 0 are one key
                key = {"type": "number", "value": 0}
            self.check(key, plain)
            assert value[found_key] is found
            self.check(item, found)

    def _tensor(self, node: dict[str, Any], value: Any) -> None:
        assert isinstance(value, torch.Tensor)
        assert _class_of(value, "Tensor") == node["class"]
        if node["ndim"] == 0:
            assert value.shape == (0,)
        else:
            assert list(value.shape) == node["size"]
            assert value.stride() == tuple(node["stride"])
        assert value.storage_offset() == node["offset"] - 1
        storage = node["storage"]
        whole = t7.Storage(torch.as_strided(value, (_stored(value),), (1,), 0))
        if storage["type"] == "ref":
            assert value.untyped_storage().data_ptr() == self._pointer(storage["id"])
        elif storage["type"] == "nil":
            assert len(whole) == 0
        else:
            whole.typename = _class_of(value, "Storage")
            self.check(storage, whole)
        _assert_elements(value.flatten(), node.get("elements", []))

    def _pointer(self, index: int) -> int:
        known = self._seen[index]
        return known.tensor.untyped_storage().data_ptr()

    def _storage(self, node: dict[str, Any], value: Any) -> None:
        assert isinstance(value, t7.Storage)
        assert value.typename == node["class"]
        assert len(value) == node["length"]
        _assert_elements(value.tensor, node.get("data", node.get("head", [])))
        if "bytes_crc32" in node:
            assert zlib.crc32(value.tensor.numpy().tobytes()) == int(node["bytes_crc32"], 16)

    def _function(self, node: dict[str, Any], value: Any) -> None:
        self._seen[node.get("id", 0)] = value
        assert isinstance(value, t7.LuaFunction)
        assert value.code == node["code"]
        assert len(value.bytecode) == node["bytecode_length"]
        assert zlib.crc32(value.bytecode) == int(node["bytecode_crc32"], 16)
        self.check(node["upvalues"], value.upvalues)

    def _object(self, node: dict[str, Any], value: Any) -> None:
        self._seen[node["id"]] = value
        if "generator" in node:
            assert zlib.crc32(value.state) == int(node["payload_crc32"], 16)
        elif node.get("payload"):
            for part, found in zip(node["payload"], value.payload(), strict=True):
                expected = part["value"]
                if isinstance(expected, dict):
                    self.check(expected, _text(found) if part["kind"] == "chars" else found)
                else:
                    assert found == expected
        else:
            assert isinstance(value, t7.TorchObject)
            assert value.typename == node["class"]
            assert value.version == node["version"]
            for name in ("header", "gpuAssignments"):
                if name in node:
                    self.check(node[name], value.preamble[0])
            if "fields" in node:
                self._fields(node["fields"], value.fields)

    def _fields(self, node: dict[str, Any], value: Any) -> None:
        """Fields are a dict whatever their names are."""
        self._seen[node["id"]] = value
        pairs = _effective(node["pairs"])
        for (key, item), (found_key, found) in zip(pairs, value.items(), strict=True):
            self.check(key, found_key)
            self.check(item, found)


def _effective(pairs: list[Any]) -> list[Any]:
    """The entries that remain in Lua: of equal keys the last, and none with the value nil."""
    kept: dict[Any, Any] = {}
    for key, value in pairs:
        plain = key["type"] in ("number", "string", "boolean")
        identity = (key["type"], key.get("value"), key.get("hex")) if plain else key["id"]
        if identity == ("number", 0, None) or key.get("bits") == "8000000000000000":
            identity = "zero"
        if value["type"] == "nil":
            kept.pop(identity, None)
        else:
            kept[identity] = (kept[identity][0] if identity in kept else key, value)
    return list(kept.values())


def is_utf8(raw: bytes) -> bool:
    """Whether these are the bytes of a text."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _text(raw: bytes) -> str | bytes:
    return raw.decode() if is_utf8(raw) else raw


def _stored(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes() // tensor.itemsize


def _class_of(tensor: torch.Tensor, kind: str) -> str:
    plain = t7.Storage(tensor.new_empty(0)).typename.replace("Storage", "Tensor")
    return getattr(tensor, "torch7_type", plain).replace("Tensor", kind)


def _assert_elements(tensor: torch.Tensor, expected: list[Any]) -> None:
    """The descriptions spell floats with as many digits as their type needs."""
    if tensor.is_floating_point():
        expected = [float(e["value"] if isinstance(e, dict) else e) for e in expected]
    wanted = torch.tensor(expected, dtype=tensor.dtype)
    found = tensor[: len(expected)]
    assert torch.equal(found, wanted) or (found.isnan() == wanted.isnan()).all()
    assert torch.equal(found.nan_to_num(), wanted.nan_to_num())
