"""Registered classes, hooks and kept objects."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from typing import Any

import pytest
import torch
from support.paths import ROOT
from support.t7_bytes import long, number, string, table, torch_object
from support.t7_recordings import FORMAT

from compat import t7


def test_a_class_without_methods_gets_its_fields() -> None:
    @t7.register("my.Plain")
    class Plain:
        pass

    value = Plain()
    value.size, value.next = 3, value
    again = t7.loads(t7.dumps(value))
    assert type(again) is Plain and again.size == 3 and again.next is again


def test_a_class_with_methods_decides_itself() -> None:
    @t7.register("my.Careful", version=3)
    class Careful:
        def __init__(self) -> None:
            self.cache = "not saved"

        def t7_fields(self) -> dict[str, Any]:
            return {"x": 1}

        def t7_restore(self, fields: dict[str, Any], version: int) -> None:
            self.fields, self.version = fields, version

    again = t7.loads(t7.dumps(Careful()))
    assert again.fields == {"x": 1} and again.version == 3
    assert not hasattr(again, "cache")


def test_hooks_read_and_write_any_payload() -> None:
    class Packed:
        pass

    def write(obj: Packed) -> Generator[Any, None, None]:
        yield t7.LONG, 2**40
        yield t7.SHORT, -5
        yield t7.FLOAT, 0.5
        yield t7.BOOL, True
        yield t7.bytes_(3), b"abc"
        yield t7.OBJECT, [obj]
        yield t7.FIELDS, {1: "one"}

    def read(obj: Packed, version: float) -> Generator[Any, Any, None]:
        obj.parts = []
        for request in (t7.LONG, t7.SHORT, t7.FLOAT, t7.BOOL, t7.bytes_(3), t7.OBJECT, t7.FIELDS):
            obj.parts.append((yield request))

    t7.register("my.Packed", Packed, read=read, write=write)
    for options in ({}, {"format": "ascii"}, {"endian": "big"}):
        again = t7.loads(t7.dumps(Packed(), **options))
        assert again.parts[:5] == [2**40, -5, 0.5, True, b"abc"]
        assert again.parts[5][0] is again
        assert again.parts[6] == {1: "one"}
    with pytest.raises(t7.T7Error, match="4 bytes can hold"):
        t7.dumps(Packed(), long_size=4)


def test_a_class_has_one_name_to_write_and_any_to_read() -> None:
    class Renamed:
        pass

    t7.register("new.Name", Renamed)
    t7.register("old.Name", Renamed)
    assert b"new.Name" in t7.dumps(Renamed())
    assert type(t7.loads(torch_object(1, "old.Name", table(2)))) is Renamed


@pytest.mark.parametrize("typename", ["", "torch.FloatTensor", "torch.CudaLongStorage"])
def test_names_that_cannot_be_registered(typename: str) -> None:
    with pytest.raises(ValueError, match="typename"):
        t7.register(typename, dict)


def test_content_that_a_class_refuses_is_a_defect_of_the_file() -> None:
    @t7.register("my.Strict")
    class Strict:
        def t7_restore(self, fields: dict[str, Any], version: int) -> None:
            self.size = fields["size"] + 1

    good = torch_object(1, "my.Strict", table(2, string("size"), number(1)))
    assert t7.loads(good).size == 2
    with pytest.raises(
        t7.T7Error, match=r"in net: .*my\.Strict cannot be made of: KeyError"
    ) as caught:
        t7.loads(table(5, string("net"), torch_object(1, "my.Strict", table(2))))
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_class_may_refuse_a_sound_file() -> None:
    @t7.register("my.Choosy")
    class Choosy:
        def t7_restore(self, fields: dict[str, Any], version: int) -> None:
            raise t7.Refusal("not today")

    with pytest.raises(t7.Refusal, match=r"^not today$"):
        t7.loads(t7.dumps([torch.ones(1), Choosy()]))


def test_kept_objects_are_written_as_they_were() -> None:
    data = torch_object(1, "no.Such", table(2, number(1), string("x")), "V 1.5")
    value = t7.loads(data)
    assert value.fields == {1: "x"} and value.version == 1.5
    assert value[1] == "x" and 1 in value and value.get("y") is None
    with pytest.raises(KeyError):
        value["y"]
    assert t7.dumps(value) == data
    assert t7.loads(t7.dumps(t7.TorchObject("my.New"))).fields == {}


def test_unknown_classes_with_another_payload_are_named() -> None:
    data = table(1, string("net"), torch_object(2, "no.Such", long(7)))
    with pytest.raises(t7.T7Error, match=r"in net: .*register"):
        t7.loads(data)


def test_raw_ignores_registered_classes() -> None:
    @t7.register("my.Class")
    class Class:
        pass

    data = t7.dumps(Class())
    assert isinstance(t7.loads(data, raw=True), t7.TorchObject)
    assert t7.dumps(t7.loads(data, raw=True)) == data


def test_a_module_of_a_cuda_type_on_the_cpu_keeps_its_type() -> None:
    @t7.register("my.Module")
    class Module:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

        def t7_fields(self) -> dict[str, Any]:
            return vars(self)

    weight = torch.zeros(4)
    inner = Module(weight=weight, _type="torch.CudaTensor")
    outer = Module(
        modules=[inner],
        _type="torch.CudaTensor",
        bias=torch.zeros(2),
        indices=torch.zeros(2, dtype=torch.long),
        precise=torch.zeros(2, dtype=torch.double),
        cpu=Module(weight=torch.zeros(1), _type="torch.FloatTensor"),
    )
    again = t7.loads(t7.dumps([outer, weight.view(2, 2)]))
    module, view = again
    assert module.bias.torch7_type == "torch.CudaTensor"
    assert module.modules[0].weight.torch7_type == "torch.CudaTensor"
    assert view.torch7_type == "torch.CudaTensor", "one storage has one type"
    for plain in (module.indices, module.precise, module.cpu.weight):
        assert not hasattr(plain, "torch7_type")
    assert t7.loads(t7.dumps(again))[1].bias.torch7_type == "torch.CudaTensor"


def test_functions_are_kept_and_never_run() -> None:
    shared = {"name": "n", "value": 1, "id": 7}
    function = t7.LuaFunction(b"\x1bLJ\x02code", [shared])
    function.upvalues.append({"name": "self", "value": function})
    first, second = t7.loads(t7.dumps([function, function]))
    assert first is second and first.upvalues[2]["value"] is first
    assert first.bytecode == b"\x1bLJ\x02code"


def test_an_old_function_that_contains_itself_cannot_be_written() -> None:
    function = t7.LuaFunction(b"x", [], code=6)
    function.upvalues.append(function)
    with pytest.raises(t7.T7Error, match="contains itself"):
        t7.dumps(function)


def test_classes_of_this_library_need_no_import() -> None:
    code = """
import sys
from compat import t7
folder = sys.argv[1]
raw = t7.load(f"{folder}/nn_mlp.t7", raw=True)
assert type(raw) is t7.TorchObject and "compat.nn" not in sys.modules
for name in ("nn_mlp", "cudnn_convnet", "class_confusion_matrix", "cunn_dataparalleltable"):
    print(type(t7.load(f"{folder}/{name}.t7")).__module__)
assert type(t7.loads(t7.dumps(t7.TorchObject("nn.Unheard")))) is t7.TorchObject
"""
    command = [sys.executable, "-c", code, str(FORMAT)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.stdout.split() == [
        "compat.nn.containers.sequential",
        "compat.nn.containers.sequential",
        "compat.optim.reports.confusion_matrix",
        "dptable.container.data_parallel_table",
    ], result.stderr
