"""Defects are told with file, byte, path, what was found and what was expected."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import torch
from support.t7_bytes import array, integer, number, string, table, torch_object

from compat import t7

MISTAKES = [
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-LFS", "git lfs pull"),
    (b"<!DOCTYPE html><html>Not found</html>", "web page", "download failed"),
    (b"\n  <HTML><body>", "web page", "download failed"),
    (b"This is a caption.\nAnd another.", "text 'This is a caption.'", "another kind"),
    ("Ünïcödé ".encode() * 100, "text 'Ünïcödé", "another kind"),
    (b"PK\x03\x04\x14\0\0\0", "zip archive", "torch.load"),
    (pickle.dumps([1], protocol=2), "pickle", "torch.load"),
    (pickle.dumps([1], protocol=5), "pickle", "torch.load"),
    (b"\x1f\x8b\x08\0", "gzip", "gzip.open"),
    (b"BZh91AY", "bzip2", "bz2.open"),
    (b"name".ljust(257, b"\0") + b"ustar\x0000", "tar archive", "unpack"),
    (b"\x40\0\0\0\0\0\0\0" + b'{"a":{}}', "safetensors", "load_file"),
    (b"\x89HDF\r\n\x1a\n", "HDF5", "compat.hdf5"),
    (b"\x93NUMPY\x01\0", "numpy", "numpy.load"),
    (b"\x89PNG\r\n\x1a\n", "PNG", ""),
    (b"", "empty file", "interrupted"),
    (b"\x03\0", "2 bytes", "truncated"),
    (b"\xde\xad\xbe\xef\0\0", "de ad be ef", "damaged"),
    (b"2\r\n5\r\nhello\r\n", "Windows line ends", "dos2unix"),
]


@pytest.mark.parametrize(("data", "found", "hint"), MISTAKES, ids=[m[1] for m in MISTAKES])
def test_common_mistakes_are_named(data: bytes, found: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "model.t7"
    path.write_bytes(data)
    with pytest.raises(t7.T7Error) as caught:
        t7.load(path)
    error = caught.value
    assert found in error.found and hint in error.hint
    assert error.file == str(path) and error.offset == 0
    assert str(path) in str(error) and error.expected in str(error)


def test_pytorch_files_are_recognised(tmp_path: Path) -> None:
    for modern, hint in ((True, "zip archive"), (False, "before 1.6")):
        path = tmp_path / f"{modern}.t7"
        torch.save({"a": torch.ones(1)}, path, _use_new_zipfile_serialization=modern)
        with pytest.raises(t7.T7Error, match=hint):
            t7.load(path)


@pytest.mark.parametrize(
    ("written", "told", "hint"),
    [
        ({"format": "ascii"}, {"format": "binary"}, "format='ascii'"),
        ({}, {"format": "ascii"}, "format='binary'"),
        ({}, {"endian": "big"}, "endian='little'"),
        ({"endian": "big"}, {"endian": "little"}, "endian='big'"),
        ({"long_size": 4}, {"long_size": 8}, "long_size=4"),
        ({}, {"long_size": 4}, "long_size=8"),
    ],
)
def test_a_wrong_option_is_told(written: dict, told: dict, hint: str) -> None:
    data = t7.dumps({"x": torch.arange(5)}, **written)
    with pytest.raises(t7.T7Error, match=hint):
        t7.loads(data, **told)


def test_the_place_is_told(tmp_path: Path) -> None:
    data = t7.dumps({"model": {"modules": [1, 2, {"weight": torch.arange(1000.0)}]}})
    path = tmp_path / "model.t7"
    path.write_bytes(data[:-100])
    with pytest.raises(t7.T7Error) as caught:
        t7.load(path)
    error = caught.value
    assert error.path == "model.modules[3].weight"
    assert error.found == "the end of the file after 3900 bytes"
    assert error.expected == "a storage of 1000 elements of 4 bytes"
    assert error.offset == len(data) - 4000
    assert str(error) == (
        f"{path}, at byte {error.offset}, in model.modules[3].weight: found the end of the file "
        "after 3900 bytes, expected a storage of 1000 elements of 4 bytes (the file is truncated "
        "or damaged)"
    )
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (array(1, array(2, integer(77))), "[1][1]"),
        (table(1, string("a b"), integer(77)), "['a b']"),
        (table(1, string(b"\xff"), integer(77)), "[b'\\xff']"),
        (table(1, table(2, integer(77), b""), b""), "<key>"),
        (table(1, number(1.5), integer(77)), "[1.5]"),
        (torch_object(1, "no.Such", table(2, string("k"), integer(77))), "k"),
        (integer(8) + integer(1) + integer(0) + integer(77), "upvalues"),
        (integer(77), ""),
    ],
)
def test_paths(data: bytes, path: str) -> None:
    with pytest.raises(t7.T7Error) as caught:
        t7.loads(data + bytes(40))
    assert caught.value.path == path


def test_a_very_long_path_is_shortened() -> None:
    data = b"".join(table(i, string("t"), b"") for i in range(1, 5000)) + integer(77)
    with pytest.raises(t7.T7Error) as caught:
        t7.loads(data)
    assert len(str(caught.value)) < 300 and "4975 more" in caught.value.path


def test_sources_that_are_none() -> None:
    with pytest.raises(TypeError, match="source is an int"):
        t7.load(3)
    with open(__file__) as file, pytest.raises(TypeError, match="mode 'rb'"):
        t7.load(file)
    with pytest.raises(FileNotFoundError):
        t7.load("/no/such/file.t7")
    with pytest.raises(ValueError, match="unknown"):
        t7.loads(t7.dumps(1), unknown="maybe")
