"""What python-torchfile gets wrong: one test for each of its known failures.

The numbers T1 to T21 are those of the list in issue 4 of this project.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import struct
from pathlib import Path

import pytest
import torch
from support.t7_bytes import (
    NIL,
    TRUE,
    array,
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

FOUR_FLOATS = struct.pack("<4f", 1, 2, 3, 4)


def test_t1_data_parallel_table_has_two_objects() -> None:
    fields = table(3, string("dimension"), number(1))
    payload = array(2, number(1), number(2)) + fields
    model = torch_object(1, "nn.DataParallelTable", payload, "V 3")
    value = t7.loads(table(9, string("model"), model, string("epoch"), number(5)), raw=True)
    assert value["epoch"] == 5
    assert value["model"].preamble == [[1, 2]]
    assert value["model"].fields == {"dimension": 1}


def test_t2_gpu_module_keeps_its_weights() -> None:
    value = t7.load(FORMAT / "nn_gpu.t7", raw=True)
    assert value.preamble == [["torch.DoubleTensor", 2]]
    assert value["modules"][1]["weight"].numel() > 0


def test_t3_list_of_tensors() -> None:
    one = tensor(
        2, "torch.FloatTensor", (4,), (1,), storage(3, "torch.FloatStorage", 4, FOUR_FLOATS)
    )
    (value,) = t7.loads(array(1, one))
    assert value.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("typename", ["torch.Half", "torch.CudaHalf"])
def test_t4_half(typename: str) -> None:
    raw = struct.pack("<2e", 0.5, -2)
    held = storage(2, typename + "Storage", 2, raw)
    value = t7.loads(tensor(1, typename + "Tensor", (2,), (1,), held))
    assert value.dtype is torch.float16
    assert value.tolist() == [0.5, -2]


def test_t5_cuda_long() -> None:
    held = storage(2, "torch.CudaLongStorage", 2, struct.pack("<2q", 7, 2**60))
    value = t7.loads(tensor(1, "torch.CudaLongTensor", (2,), (1,), held))
    assert value.tolist() == [7, 2**60]
    assert value.torch7_type == "torch.CudaLongTensor"


def test_t6_oldest_form_of_functions_has_no_index() -> None:
    value = t7.loads(array(1, function6(b"\x1bLua", array(2, number(5))), string("after")))
    assert value[1].bytecode == b"\x1bLua"
    assert value[1].upvalues == [5]
    assert value[2] == "after"


def test_t7_storage_longer_than_the_file() -> None:
    data = storage(1, "torch.FloatStorage", 1000, FOUR_FLOATS)
    with pytest.raises(t7.T7Error, match="truncated"):
        t7.loads(data)


def test_t8_empty_table_is_as_much_a_list_as_a_dict() -> None:
    assert t7.loads(table(1)) == {} and t7.loads(table(1)) == []
    assert t7.loads(torch_object(1, "my.Empty", table(2))).get("anything") is None


def test_t9_true_is_not_1() -> None:
    assert t7.loads(table(1, TRUE, string("x"))) == {True: "x"}
    value = t7.loads(table(1, TRUE, string("bool"), number(1), string("one")))
    assert value == {t7.Key(True): "bool", 1: "one"}
    value = t7.loads(table(1, number(1), string("one"), TRUE, string("bool")))
    assert value == {t7.Key(True): "bool", 1: "one"}


def test_t10_table_as_key() -> None:
    value = t7.loads(
        table(1, array(2, string("a"), string("b")), number(3), string("k"), reference(2))
    )
    assert value[t7.Key(value["k"])] == 3
    assert value["k"] == ["a", "b"]


def test_t11_identity_inside_a_cycle() -> None:
    value = t7.loads(array(1, table(2, string("parent"), reference(1)), number(7)))
    assert isinstance(value, list) and value[2] == 7
    assert value[1]["parent"] is value


def test_t12_only_exact_integers_become_int() -> None:
    huge, zero, small = t7.loads(array(1, number(1e300), number(-0.0), number(3)))
    assert isinstance(huge, float) and huge == 1e300
    assert isinstance(zero, float) and math.copysign(1, zero) == -1
    assert isinstance(small, int)


def test_t13_longs_of_4_bytes() -> None:
    held = storage(2, "torch.FloatStorage", 4, FOUR_FLOATS, long_size=4)
    data = tensor(1, "torch.FloatTensor", (2, 2), (2, 1), held, long_size=4)
    assert t7.loads(data).tolist() == [[1, 2], [3, 4]]
    assert t7.loads(data, long_size=4).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(t7.T7Error, match="long_size=4"):
        t7.loads(data, long_size=8)


def test_t14_strings_that_are_not_utf8() -> None:
    assert t7.loads(array(1, string("é"), string(b"\xff\xfe"))) == ["é", b"\xff\xfe"]


def test_t15_deep_nesting() -> None:
    depth = 100_000
    data = b"".join(table(i, string("t"), b"") for i in range(1, depth)) + table(depth)
    value = t7.loads(data)
    for _ in range(depth - 1):
        value = value["t"]
    assert value == {}


def test_t16_classes_that_are_not_tables() -> None:
    state = bytes(range(256)) * 20
    data = array(
        1,
        torch_object(2, "torch.Generator", state[:5048]),
        torch_object(3, "tds.AtomicCounter", long(12), "V 0"),
        torch_object(4, "package.torchnet", b""),
        string("after"),
    )
    generator, counter, package, after = t7.loads(data)
    assert generator.state == state[:5048]
    assert counter.value == 12
    assert package.typename == "package.torchnet" and package.fields is None
    assert after == "after"
    assert t7.dumps([generator, counter, package, after]) == data


@pytest.mark.parametrize("long_size", [4, 8])
def test_t17_tds_containers(long_size: int) -> None:
    hash_payload = long(2, long_size) + string("a") + number(1) + number(2) + string("b")
    vec_payload = long(2, long_size) + string("x") + reference(2, code=4)
    data = array(
        1,
        torch_object(2, "tds.Hash", hash_payload, "V 0"),
        torch_object(3, "tds.Vec", vec_payload, "V 0"),
    )
    table_, vector = t7.loads(data, long_size=long_size)
    assert table_ == {"a": 1, 2: "b"}
    assert vector[1] == "x" and vector[2] is table_
    assert t7.dumps([table_, vector], long_size=long_size) == data


def test_t18_ascii_big_endian_gzip_streams_maps_and_writing(tmp_path: Path) -> None:
    value = {"a": [1, "two"], "t": torch.arange(3)}
    for options in ({"format": "ascii"}, {"endian": "big"}):
        again = t7.loads(t7.dumps(value, **options))
        assert again["a"] == value["a"] and again["t"].tolist() == [0, 1, 2]
    packed = gzip.compress(t7.dumps(value))
    with pytest.raises(t7.T7Error, match="gzip"):
        t7.loads(packed)
    with gzip.open(io.BytesIO(packed)) as file:
        assert t7.load(file)["a"] == value["a"]
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        t7.save(file, value)
    with open(reading, "rb") as file:
        assert t7.load(file)["a"] == value["a"]
    t7.save(tmp_path / "x.t7", value)
    assert t7.load(tmp_path / "x.t7", mmap=True)["t"].tolist() == [0, 1, 2]


def test_t19_classes_learn_the_version_of_the_file() -> None:
    @t7.register("my.Norm", version=2)
    class Norm:
        def t7_restore(self, fields: dict, version: int) -> None:
            self.var = fields["std"] ** -2 if version < 2 else fields["var"]

    old = torch_object(1, "my.Norm", table(2, string("std"), number(0.5)))
    assert t7.loads(old).var == 4
    assert t7.loads(t7.dumps(t7.loads(old))).var == 4


def test_t20_empty_tensor_on_a_living_storage() -> None:
    held = storage(3, "torch.FloatStorage", 4, FOUR_FLOATS)
    empty = tensor(2, "torch.FloatTensor", (), (), held)
    full = tensor(4, "torch.FloatTensor", (4,), (1,), reference(3, code=4))
    first, second = t7.loads(array(1, empty, full))
    assert first.shape == (0,)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
    first, second = t7.loads(t7.dumps([first, second]))
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def test_t21_the_size_of_longs_does_not_depend_on_the_platform() -> None:
    held = storage(2, "torch.LongStorage", 2, struct.pack("<2q", 3, 2**40))
    assert list(t7.loads(held)) == [3, 2**40]
    with pytest.raises(t7.T7Error, match="long_size=8"):
        t7.loads(tensor(1, "torch.LongTensor", (2,), (1,), held), long_size=4)


def test_nil_and_integer_codes_are_what_the_format_says() -> None:
    assert t7.loads(NIL) is None
    assert t7.loads(integer(5) + integer(7)) is False
