"""HDF5 files: what compat.hdf5 writes is what h5py reads, and the other way round."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from compat import hdf5

h5py = pytest.importorskip("h5py")

TYPES = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
READ_AS = {
    **{"u1": "uint8", "i1": "uint8", "u2": "int16", "i2": "int16", "u4": "int32", "i4": "int32"},
    **{"u8": "int64", "i8": "int64", "f4": "float32", "f8": "float64"},
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", [(3, 4), (5,), (0,), ()])
def test_h5py_reads_what_is_written(tmp_path: Path, name: str, shape: tuple[int, ...]) -> None:
    x = (torch.rand(shape, generator=torch.Generator().manual_seed(1)) * 100).to(
        getattr(torch, name)
    )
    file = hdf5.open(tmp_path / "x.h5", "w")
    file.write("/a/x", x)
    file.close()
    with h5py.File(tmp_path / "x.h5") as there:
        got = there["a"]["x"]
        assert got.dtype == name and got.shape == shape
        numpy.testing.assert_array_equal(got[...], x.numpy())


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("form", READ_AS)
def test_what_h5py_writes_is_read_by_its_size(tmp_path: Path, form: str, order: str) -> None:
    numbers = numpy.array([[1, 2, 3], [100, 200 if form[0] == "u" else 20, 7]]).astype(order + form)
    with h5py.File(tmp_path / "x.h5", "w") as there:
        there["x"] = numbers
    file = hdf5.open(tmp_path / "x.h5", "r")
    got = file.read("x").all()
    empty = file.read("x").getTensorFactory()()
    file.close()
    assert got.dtype == empty.dtype == getattr(torch, READ_AS[form])
    assert empty.numel() == 0
    assert got.tolist() == numbers.tolist()
    got.add_(1)  # is memory of its own


def test_large_numbers_without_sign_become_negative(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as there:
        there["x"] = numpy.array([2**32 - 1, 5], dtype="u4")
    assert hdf5.open(tmp_path / "x.h5", "r").read("x").all().tolist() == [-1, 5]


@pytest.mark.parametrize("path", ["/", "group", "/a/b/c"])
def test_tables_are_folders(tmp_path: Path, path: str) -> None:
    data = {"x": torch.rand(2, 3), "inner": {"y": torch.arange(4)}}
    file = hdf5.open(tmp_path / "x.h5", "w")
    file.write(path, data)
    assert isinstance(file.read(path), hdf5.HDF5Group)
    file.close()
    file = hdf5.open(tmp_path / "x.h5", "r")
    got = file.read(path).all()
    assert got.keys() == data.keys()
    assert got["x"].equal(data["x"]) and got["inner"]["y"].equal(data["inner"]["y"])
    whole: Any = file.all()
    for part in filter(None, path.split("/")):
        whole = whole[part]
    assert whole["x"].equal(data["x"])
    assert file.read(["group", "inner", "y"] if path == "group" else path) is not None
    file.close()


def test_parts_count_from_1_and_keep_their_dimensions(tmp_path: Path) -> None:
    x = torch.arange(24.0).view(2, 3, 4)
    file = hdf5.open(tmp_path / "x.h5", "w")
    file.write("x", x)
    found = file.read("x")
    assert found.dataspaceSize() == [2, 3, 4]
    assert found.partial([1, 2], [2, 3], [4, 4]).equal(x[:, 1:3, 3:4])
    assert found.partial(2, [1, 3], 1).equal(x[1:2, :, 0:1])
    for ranges in ([1, 2], ([1, 2], [1, 4], 1), (0, 1, 1), ([2, 1], 1, 1), ([1, 2, 3], 1, 1)):
        with pytest.raises(ValueError, match="accepted"):
            found.partial(*ranges)
    file.close()


def test_chunks_are_compressed_and_grow(tmp_path: Path) -> None:
    options = hdf5.DataSetOptions().setChunked(4, 400).setDeflate(9)
    file = hdf5.open(tmp_path / "x.h5", "w")
    file.write("x", torch.zeros(2, 100), options)
    more = {"x": torch.ones(3, 100).t().contiguous().t()}
    file.append("/", more)
    file.close()
    with h5py.File(tmp_path / "x.h5") as there:
        got = there["x"]
        assert got.chunks == (2, 100) and got.compression == "gzip" and got.compression_opts == 9
        assert got.maxshape == (None, 100)
        numpy.testing.assert_array_equal(got[...].sum(1), [0, 0, 100, 100, 100])


@pytest.mark.parametrize(
    ("path", "data", "options", "message"),
    [
        ("x", torch.ones(2), None, "x is there"),
        ("y", 3, None, "data of y is an int; a tensor"),
        ("/", torch.ones(2), None, "data of the path '/' is a Tensor; a dict is accepted"),
        ("y", {"a": torch.ones(2), "b": [torch.ones(1)]}, None, "data of y/b is a list"),
        ("y", torch.ones(2) > 0, None, "torch.bool; torch.uint8, .* is accepted"),
        ("y", torch.ones(2), (1, 1), "y has 1 dimensions; chunks are set for 2"),
        (7, torch.ones(2), None, "datapath is an int; a string"),
    ],
)
def test_nothing_is_written_after_a_mistake(
    tmp_path: Path, path: Any, data: Any, options: Any, message: str
) -> None:
    file = hdf5.open(tmp_path / "x.h5", "w")
    file.write("x", torch.ones(3))
    chosen = options and hdf5.DataSetOptions().setChunked(*options)
    with pytest.raises((TypeError, ValueError), match=message):
        file.write(path, data, chosen)
    assert list(file.all()) == ["x"]
    with pytest.raises(ValueError, match="x cannot grow"):
        file.append("x", torch.ones(3))
    with pytest.raises(ValueError, match="datapath is 'z'; 'x' is accepted"):
        file.read("z")
    file.close()


def test_what_is_no_number_is_not_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as there:
        there["words"] = ["a", "b"]
        there["half"] = numpy.ones(2, dtype="f2")
    file = hdf5.open(tmp_path / "x.h5", "r")
    for name in ("words", "half"):
        with pytest.raises(TypeError, match=f"/{name} holds .*; integers of 1"):
            file.read(name).all()
    file.close()


def test_groups_in_several_places_are_read_once(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as there:
        last = there.create_group("g")
        last["x"] = numpy.ones(2)
        for level in range(40):  # 2**40 places
            around = there.create_group(f"level {level}")
            around["one"] = around["two"] = last
            last = around
    file = hdf5.open(tmp_path / "x.h5", "r")
    held = file.all()
    assert held["level 39"]["one"] is held["level 39"]["two"] is held["level 38"]
    assert held["level 0"]["two"]["x"].tolist() == [1, 1]


@pytest.mark.parametrize("name, levels", [("circle", 3), ("deep", 2000)])
def test_groups_without_end_are_refused(tmp_path: Path, name: str, levels: int) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as there:
        last = there
        for _ in range(levels):
            last = last.create_group("in")
        if name == "circle":
            last["first"] = there["in"]
    found = {"circle": "/in/in/in/first is a group that it lies in", "deep": "more than 100 deep"}
    with pytest.raises(ValueError, match=found[name]):
        hdf5.open(tmp_path / "x.h5", "r").all()


def test_modes(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with pytest.raises(FileNotFoundError):
        hdf5.open(path, "r")
    with pytest.raises(ValueError, match=r"mode is 'x'; 'r', 'r\+'.* is accepted"):
        hdf5.open(path, "x")
    for mode, names in ((None, "a"), ("a", "ab"), ("r+", "abc"), ("w", "d")):
        file = hdf5.open(path, mode)
        file.write(names[-1], torch.ones(1))
        assert "".join(file.all()) == names
        assert file.filename() == str(path) and repr(file) == f"[HDF5File: {path}]"
        file.close()
        assert repr(file) == "[HDF5File: closed]"
    with pytest.raises(OSError, match="exists"):
        hdf5.open(path, "w-")


def test_without_h5py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"pip install h5py, or dptable\[hdf5\]"):
        hdf5.open(tmp_path / "x.h5")
