"""Every recorded file of tests/golden/format."""

from __future__ import annotations

import io
from itertools import product
from typing import Any

import pytest
from support.t7_recordings import (
    FILES,
    FORMAT,
    MALFORMED,
    Comparison,
    description,
    read,
    register_custom_classes,
    variant,
)
from support.t7_same import assert_same

from compat import t7

NAMES = [entry["file"] for entry in FILES]
VARIANTS = [
    {"format": "binary", "endian": endian, "long_size": size}
    for endian, size in product(("little", "big"), (4, 8))
] + [{"format": "ascii"}]

LONG_VALUES = ("tensor_long", "storage_long", "variant_long4_truncated", "class_custom_write")
"""Files with values that longs of 4 bytes cannot hold."""


@pytest.fixture(autouse=True)
def custom_classes(restored_registry: None) -> None:
    register_custom_classes()


def loaded(entry: dict[str, Any], **options: Any) -> Any:
    many = "objects" in description(entry)
    return t7.load(FORMAT / entry["file"], raw=True, many=many, **options)


@pytest.mark.parametrize("entry", FILES, ids=NAMES)
@pytest.mark.parametrize("detect", [False, True], ids=["told", "detected"])
def test_content_is_as_described(entry: dict[str, Any], detect: bool) -> None:
    expected = description(entry)
    value = loaded(entry, **({} if detect else variant(entry)))
    comparison = Comparison()
    if "objects" in expected:
        for node, found in zip(expected["objects"], value, strict=True):
            comparison.check(node, found)
    else:
        comparison.check(expected["root"], value)


@pytest.mark.parametrize("entry", FILES, ids=NAMES)
def test_mapped_content_is_as_described(entry: dict[str, Any]) -> None:
    expected = description(entry)
    if "root" in expected:
        Comparison().check(expected["root"], loaded(entry, mmap=True))


@pytest.mark.parametrize("entry", [e for e in FILES if not e["crafted"]], ids=lambda e: e["file"])
def test_saving_gives_the_bytes_that_torch7_wrote(entry: dict[str, Any]) -> None:
    if entry["file"] == "tensor_empty.t7":
        return  # one of its tensors lies on a storage without elements, which becomes nil
    options = variant(entry)
    many = "objects" in description(entry)
    data = t7.dumps(loaded(entry, **options), many=many, **options)
    assert data == read(entry)


@pytest.mark.parametrize("entry", FILES, ids=NAMES)
def test_content_survives_every_variant(entry: dict[str, Any]) -> None:
    many = "objects" in description(entry)
    value = loaded(entry)
    for options in VARIANTS:
        if options.get("long_size") == 4 and entry["file"].startswith(LONG_VALUES):
            continue
        data = t7.dumps(value, many=many, **options)
        assert_same(value, t7.loads(data, many=many, raw=True))


@pytest.mark.parametrize("entry", MALFORMED, ids=lambda e: e["file"].split("/")[-1])
def test_malformed(entry: dict[str, Any]) -> None:
    data = read(entry)
    if entry["expect"] == "ok":
        t7.loads(data, **variant(entry))
        return
    try:
        t7.loads(data, **variant(entry))
    except t7.T7Error as error:
        assert error.offset is not None and 0 <= error.offset <= len(data)
        assert error.found
    else:
        assert entry["expect"] == "error_or_lenient"


def test_every_prefix_of_a_file_is_refused() -> None:
    data = (FORMAT / "malformed" / "base_ok.t7").read_bytes()
    for length in range(len(data)):
        with pytest.raises(t7.T7Error):
            t7.loads(data[:length])
    ascii_data = (FORMAT / "variant_ascii.t7").read_bytes()
    for length in range(0, len(ascii_data) - 1, 7):
        with pytest.raises(t7.T7Error):
            t7.loads(ascii_data[:length])


def test_a_file_read_without_references_is_in_full() -> None:
    first = t7.load(FORMAT / "unreferenced_shared.t7", referenced=False)
    second = t7.load(FORMAT / "unreferenced_shared.t7")
    assert_same(first, second)


def test_all_sources_give_the_same() -> None:
    path = FORMAT / "nn_mlp.t7"
    value = t7.load(path, raw=True)
    assert_same(value, t7.load(str(path), raw=True))
    assert_same(value, t7.loads(path.read_bytes(), raw=True))
    with path.open("rb") as file:
        assert_same(value, t7.load(file, raw=True))
    assert_same(value, t7.load(io.BytesIO(path.read_bytes()), raw=True))
