"""What PyTorch's removed load_lua got wrong: one test for each of its known failures.

The numbers L1 to L13 are those of the list in issue 4 of this project.
"""

from __future__ import annotations

import struct

import pytest
import torch
from support.t7_bytes import (
    array,
    chars,
    function6,
    integer,
    long,
    number,
    reference,
    storage,
    string,
    table,
    tensor,
    torch_object,
)
from support.t7_recordings import FORMAT

from compat import t7


def test_l1_cycles_through_objects_tables_and_functions() -> None:
    inner = torch_object(4, "nn.DataParallelTable.Basic", table(5, string("dpt"), reference(1, 4)))
    payload = array(2, number(1)) + table(3, string("impl"), inner)
    model = t7.loads(torch_object(1, "nn.DataParallelTable", payload, "V 3"), raw=True)
    assert model["impl"]["dpt"] is model
    itself = t7.loads(table(1, string("me"), reference(1)))
    assert itself["me"] is itself
    upvalue = table(3, string("name"), string("f"), string("value"), reference(1, 8))
    recursive = t7.loads(integer(8) + integer(1) + chars(b"code") + array(2, upvalue))
    assert recursive.upvalues[1]["value"] is recursive


def test_l2_known_classes_with_several_objects() -> None:
    branches = torch_object(4, "nn.Tanh", table(5)) + torch_object(6, "nn.Tanh", table(7))
    payload = array(2, number(1), number(2)) + branches + table(8, string("dimension"), number(2))
    model = torch_object(1, "nn.ModelParallelTable", payload, "V 2")
    value, after = t7.loads(array(9, model, string("after")), raw=True)
    assert value.preamble[0] == [1, 2]
    assert [branch.typename for branch in value.preamble[1:]] == ["nn.Tanh", "nn.Tanh"]
    assert value["dimension"] == 2 and after == "after"
    assert t7.loads(t7.dumps(value), raw=True)["dimension"] == 2


def test_l3_l4_missing_fields_are_no_defect() -> None:
    fields = table(2, string("running_std"), number(1))
    value = t7.loads(torch_object(1, "nn.BatchNormalization", fields), raw=True)
    assert value.fields == {"running_std": 1}
    assert "bias" not in value and value.get("bias") is None


def test_l5_cuda_classes_need_no_gpu() -> None:
    value = t7.load(FORMAT / "cuda_float.t7")
    tensors = [item for item in value.values() if isinstance(item, torch.Tensor)]
    assert tensors
    for item in tensors:
        assert item.device.type == "cpu" and item.torch7_type == "torch.CudaTensor"


@pytest.mark.parametrize("name", ["cudnn_convnet", "cudnn_pointwise", "cudnn_checkpoint"])
def test_l6_cudnn_classes_are_kept(name: str) -> None:
    classes = {entry.typename for entry in t7.inspect(FORMAT / f"{name}.t7")}
    assert any(typename.startswith("cudnn.") for typename in classes)
    data = (FORMAT / f"{name}.t7").read_bytes()
    assert t7.dumps(t7.loads(data, raw=True)) == data


@pytest.mark.parametrize("keys", [(0, 3), (-1, 1, 2), (1, 2, 4), (1.5, 1), (2, 3)])
def test_l7_only_the_keys_1_to_n_make_a_list(keys: tuple[float, ...]) -> None:
    value = t7.loads(table(1, *(part for key in keys for part in (number(key), string("x")))))
    assert value == dict.fromkeys(keys, "x")


def test_l7_keys_in_any_order_make_a_list() -> None:
    value = t7.loads(
        table(1, number(3), string("c"), number(1), string("a"), number(2), string("b"))
    )
    assert value == ["a", "b", "c"]


def test_l8_strings_beyond_ascii() -> None:
    assert t7.loads(string("naïve 漢字")) == "naïve 漢字"
    assert t7.loads(string(b"\x80abc")) == b"\x80abc"


def test_l9_elements_of_long_storages_have_the_size_of_longs() -> None:
    data = array(1, storage(2, "torch.LongStorage", 2, struct.pack("<2i", 3, -4), 4), string("end"))
    value, end = t7.loads(data)
    assert list(value) == [3, -4] and end == "end"
    assert t7.dumps([value, end], long_size=4) == data


def test_l10_tds_hash_with_a_table_as_key() -> None:
    payload = long(1) + array(2, string("a")) + number(1)
    value = t7.loads(torch_object(1, "tds.Hash", payload, "V 0"))
    ((key, number_),) = value.items()
    assert key.value == ["a"] and number_ == 1


def test_l11_oldest_functions_and_half_tensors() -> None:
    held = storage(3, "torch.HalfStorage", 1, struct.pack("<e", 1.5))
    half = tensor(2, "torch.HalfTensor", (1,), (1,), held)
    function, tensor_ = t7.loads(array(1, function6(b"x", array(4)), half))
    assert function.code == 6
    assert tensor_.item() == 1.5


@pytest.mark.parametrize("typename", ["nn.SpatialContrastiveNormalization", "nn.Un.Heard", "mine"])
def test_l12_no_class_is_refused(typename: str) -> None:
    data = torch_object(1, typename, table(2, string("k"), number(1)))
    value = t7.loads(data, raw=True)
    assert value.typename == typename
    assert t7.dumps(value) == data
    with pytest.raises(t7.T7Error, match="register"):
        t7.loads(torch_object(1, "no.Such", table(2)), unknown="error")


def test_l13_fields_are_left_as_they_are() -> None:
    fields = table(2, string("dimension"), number(1), string("index"), number(2))
    assert t7.loads(torch_object(1, "nn.Select", fields), raw=True).fields == {
        "dimension": 1,
        "index": 2,
    }
