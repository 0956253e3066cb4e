"""Tensors and storages: sharing, devices, maps, and leaving out what need not be saved."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
import torch
from support.t7_recordings import FORMAT
from support.t7_same import assert_same

import compat.nn  # noqa: F401  # registers its classes before any test does
from compat import t7


def pointer(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def stored(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes() // tensor.itemsize


def test_views_share_one_storage() -> None:
    base = torch.arange(12.0)
    views = [base, base.view(3, 4).t(), base[4:8], base[::5], base[:1].expand(3), base]
    *again, storage = t7.loads(t7.dumps([*views, t7.Storage(base)]))
    assert len({pointer(x) for x in [*again, storage.tensor]}) == 1
    assert again[0] is again[5]
    for view, found in zip(views, again, strict=True):
        assert found.stride() == view.stride() and torch.equal(found, view)
    again[0][5] = 99
    assert again[1][1, 1] == 99 and storage[5] == 99


def test_a_parameter_and_its_data_share() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    first, second = t7.loads(t7.dumps([parameter, parameter.data]))
    assert first is not second and pointer(first) == pointer(second)


def test_loaded_tensors_can_be_changed_and_resized() -> None:
    tensor = t7.loads(t7.dumps(torch.ones(3)))
    tensor.mul_(2)
    tensor.resize_(100)
    assert tensor[:3].tolist() == [2, 2, 2]
    mine = torch.ones(3)
    t7.dumps(mine)
    mine.resize_(100)


def test_storages_are_sequences() -> None:
    storage = t7.Storage([3, 4, 5])
    assert list(storage) == storage.tolist() == [3, 4, 5]
    assert storage[0] == 3 and storage[1:] == [4, 5] and len(storage) == 3
    storage[0] = 9
    assert storage.tensor.tolist() == [9, 4, 5]
    assert storage.typename == "torch.LongStorage" and storage.tensor.dtype is torch.int64
    assert t7.Storage(torch.zeros(1)).typename == "torch.FloatStorage"
    with pytest.raises(ValueError, match="shape"):
        t7.Storage(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="typename"):
        t7.Storage([1], "LongStorage")
    first, second, empty = t7.loads(t7.dumps([storage, storage, t7.Storage([])]))
    assert first.tolist() == [9, 4, 5] and first is second and len(empty) == 0


def test_compact_drops_what_no_tensor_covers() -> None:
    big = torch.arange(100_000.0)
    small = big[500:510]
    assert len(t7.dumps(small)) > 400_000
    data = t7.dumps(small, compact=True)
    assert len(data) < 300
    again = t7.loads(data)
    assert torch.equal(again, small) and again.storage_offset() == 0 and stored(again) == 10


def test_compact_packs_a_lone_view_with_gaps() -> None:
    column = torch.arange(10_000.0).view(100, 100)[:, 3]
    first, second = t7.loads(t7.dumps([column, column.view(100)], compact=True))
    assert torch.equal(first, column) and stored(first) == 100
    assert pointer(first) == pointer(second)
    expanded = torch.ones(1).expand(1000)
    assert stored(t7.loads(t7.dumps(expanded, compact=True))) == 1


def test_compact_keeps_overlaps_and_neighbours_together() -> None:
    flat = torch.arange(1000.0)
    weight, bias = flat[100:200].view(10, 10), flat[200:210]
    apart, overlap = flat[900:950], flat[940:960]
    again = list(t7.loads(t7.dumps([weight, bias, apart, overlap], compact=True)))
    for found, expected in zip(again, (weight, bias, apart, overlap), strict=True):
        assert torch.equal(found, expected)
    assert pointer(again[0]) == pointer(again[1]) != pointer(again[2]) == pointer(again[3])
    assert stored(again[0]) == 110 and stored(again[2]) == 60
    again[0][9, 9] = -1
    assert again[1][0] == 200


def test_compact_keeps_a_storage_that_is_saved_itself() -> None:
    flat = torch.arange(10.0)
    view, storage = t7.loads(t7.dumps([flat[2:4], t7.Storage(flat)], compact=True))
    assert len(storage) == 10 and pointer(view) == pointer(storage.tensor)


def test_compact_without_references() -> None:
    flat = torch.arange(100.0)
    again = t7.loads(t7.dumps([flat[2:4], flat[3:5]], compact=True, referenced=False))
    assert [stored(x) for x in again] == [2, 2]
    assert [x.tolist() for x in again] == [[2, 3], [3, 4]]


def test_clear_is_what_clearstate_leaves() -> None:
    used = t7.load(FORMAT / "nn_mlp_after_backward.t7", raw=True)
    before = t7.dumps(used)
    again = t7.loads(t7.dumps(used, clear=True), raw=True)
    cleared = t7.load(FORMAT / "nn_mlp_clearstate.t7", raw=True)
    assert again["output"].shape == again["gradInput"].shape == (0,)
    for name in ("weight", "bias", "gradWeight"):
        assert torch.equal(again["modules"][1][name], cleared["modules"][1][name])
    for module, expected in zip(again["modules"], cleared["modules"], strict=True):
        assert module.fields.keys() == expected.fields.keys()
        for name, value in module.fields.items():
            if isinstance(value, torch.Tensor):
                assert value.shape == expected[name].shape
    assert t7.dumps(used) == before, "the module itself stays as it is"


def test_clear_leaves_other_objects_alone() -> None:
    data = t7.TorchObject("my.Data", 1, {"output": torch.ones(3)})
    table = {"output": torch.ones(3), "data": data}
    assert_same(t7.loads(t7.dumps(table, clear=True)), table)


def test_map_location() -> None:
    path = FORMAT / "cuda_shared.t7"
    everything = t7.load(path, map_location="meta")
    tensors = [x for x in everything if isinstance(x, torch.Tensor)]
    assert tensors and all(x.device.type == "meta" for x in tensors)
    data = t7.dumps({"gpu": t7.load(path), "cpu": torch.ones(2)})
    for location in ({"torch.CudaTensor": "meta"}, lambda name: "meta" if "Cuda" in name else None):
        mixed = t7.loads(data, map_location=location)
        assert mixed["cpu"].tolist() == [1, 1]
        gpu = [x for x in mixed["gpu"] if isinstance(x, torch.Tensor)]
        assert all(x.device.type == "meta" for x in gpu)
    with pytest.raises(TypeError, match="map_location"):
        t7.loads(data, map_location=1)


@pytest.mark.parametrize("name", ["nn_convnet_trained", "nn_mlp_ascii", "cudnn_convnet"])
def test_nets_are_restored_without_data(name: str) -> None:
    net = t7.load(FORMAT / f"{name}.t7", map_location="meta")
    whole = t7.load(FORMAT / f"{name}.t7")
    assert repr(net) == repr(whole)
    for mine, other in zip(net.parameters()[0], whole.parameters()[0], strict=True):
        assert mine.device.type == "meta" and mine.shape == other.shape


@pytest.mark.cuda
def test_cuda_tensors_are_written_as_such() -> None:
    base = torch.arange(6.0, device="cuda")
    data = t7.dumps([base, base[2:], torch.ones(2)])
    first, second, cpu = t7.loads(data)
    assert first.torch7_type == "torch.CudaTensor" and first.device.type == "cpu"
    assert pointer(first) == pointer(second) and not hasattr(cpu, "torch7_type")
    moved = t7.loads(data, map_location={"torch.CudaTensor": "cuda"})
    assert moved[1].is_cuda and moved[2].tolist() == [2, 3, 4, 5] and not moved[3].is_cuda
    assert pointer(moved[1]) == pointer(moved[2])


def test_large_tensors_are_placed_for_mapping(tmp_path: Path) -> None:
    path = tmp_path / "big.t7"
    big, small = torch.arange(300_000, dtype=torch.double), torch.ones(3)
    t7.save(path, {"odd": "x", "big": big, "view": big[5:], "small": small})
    mapped = t7.load(path, mmap=True)
    assert pointer(mapped["big"]) % 64 == 0
    assert torch.equal(mapped["big"], big) and pointer(mapped["view"]) == pointer(mapped["big"])
    mapped["big"][0] = 5
    mapped["small"].resize_(10)
    assert torch.equal(t7.load(path)["big"], big), "changes do not reach the file"
    path.unlink()
    assert mapped["big"][7] == 7, "the map outlives the file's name"
    assert b"V 1 " in t7.dumps(big)[:200]


def test_elements_at_odd_places_are_read(tmp_path: Path) -> None:
    big = torch.arange(50_000, dtype=torch.double)
    for shift in range(9):
        path = tmp_path / f"{shift}.t7"
        t7.save(path, ["x" * shift, big])
        _, loaded = t7.load(path, mmap=True)
        assert torch.equal(loaded, big) and loaded.data_ptr() % 8 == 0


def test_data_is_read_into_place(tmp_path: Path) -> None:
    path = tmp_path / "big.t7"
    big = torch.arange(1_000_000, dtype=torch.float)
    for endian in ("little", "big"):
        t7.save(path, [big], endian=endian)
        assert torch.equal(t7.load(path)[1], big)
        assert torch.equal(t7.load(io.BytesIO(path.read_bytes()))[1], big)


def test_an_empty_storage_with_longs_of_4_bytes() -> None:
    """The first number that shows their size is the last of the file."""
    name = b"torch.FloatStorage"
    head = struct.pack("<iii3si", 4, 1, 3, b"V 1", len(name)) + name
    assert len(t7.loads(head + struct.pack("<i", 0))) == 0
    assert len(t7.loads(head + struct.pack("<q", 0))) == 0
