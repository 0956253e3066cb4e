"""Changing what a .t7 file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from compat import cudnn, nn, t7
from compat.tensor_tables import tensors
from dptable import DataParallelTable
from dptable.cli import rewriting as conversion


def cuda(tensor: torch.Tensor) -> torch.Tensor:
    tensor.torch7_type = "torch.CudaTensor"  # type: ignore[attr-defined]
    return tensor


def test_towers_take_the_place_of_their_tables(golden: Path) -> None:
    net = t7.load(golden / "format" / "cunn_dataparalleltable.t7")
    assert isinstance(net, DataParallelTable)
    tower = net.get(1)
    assert conversion.without_dpt(net) is tower
    table = {"model": nn.Sequential(net), "both": [net, 1]}
    result = conversion.without_dpt(table)
    assert result is table
    assert table["model"].get(1) is tower and table["both"] == [tower, 1]


def test_gpu_types_become_those_of_the_cpu() -> None:
    shared = cuda(torch.ones(4))
    table: Any = {
        "shared": [shared, shared],
        "module": t7.TorchObject("my.Layer", 1, {"_type": "torch.CudaTensor", "w": cuda(shared)}),
        "storage": t7.Storage(torch.ones(2), "torch.CudaStorage"),
        "text": "torch.CudaTensor",
    }
    written = t7.loads(t7.dumps(conversion.retyped(table, to_cpu=True)), raw=True)
    assert not any(hasattr(tensor, "torch7_type") for tensor in tensors(written["shared"]))
    assert written["shared"][1] is written["shared"][2] is written["module"]["w"]
    assert written["module"]["_type"] == "torch.FloatTensor"
    assert written["storage"].typename == "torch.FloatStorage"
    assert written["text"] == "torch.CudaTensor"


def test_precision_changes_and_sharing_stays() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNormalization(3))
    flat, _ = net.getParameters()
    values = flat.clone()
    table = {"net": net, "flat": flat, "counts": torch.tensor([1, 2]), "gpu": cuda(torch.ones(2))}
    conversion.retyped(table, torch.float16)
    assert {tensor.dtype for tensor in net.parameters()[0]} == {torch.float16}
    assert net.type() == net.get(1).type() == "torch.HalfTensor"
    assert table["counts"].dtype == torch.int64
    assert table["gpu"].torch7_type == "torch.CudaHalfTensor"
    torch.testing.assert_close(flat, values.half())
    table["flat"].fill_(7)
    assert (net.get(1).weight == 7).all()
    again = t7.loads(t7.dumps(table))
    assert again["net"].get(1).gradWeight.dtype == torch.float16


def test_layers_of_cudnn_become_those_of_nn() -> None:
    net = nn.Sequential(cudnn.SpatialConvolution(2, 3, 3, 3), cudnn.ReLU())
    table = conversion.without_cudnn({"net": net})
    assert [m.typename for m in table["net"].modules] == ["nn.SpatialConvolution", "nn.ReLU"]


def test_names_are_those_of_the_converted_net() -> None:
    net = nn.Sequential(nn.SpatialConvolutionMM(2, 3, 2, 2), nn.SpatialBatchNormalization(3))
    named = conversion.state_dict(net)
    expected = net.to_torch().state_dict()
    assert list(named) == list(expected) and "1.num_batches_tracked" in named
    assert all(torch.equal(named[name], expected[name]) for name in named)
    net.to_torch().load_state_dict(named)


def unconvertible(*before: nn.Module) -> nn.Sequential:
    """A net that ends in a layer of a class that nobody knows, as a file gives it."""
    net = nn.Sequential(*before)
    fields = {"weight": torch.ones(2, 4), "bias": torch.ones(2)}
    net.modules.append(t7.TorchObject("nn.MadeUp", 1, fields))
    read: nn.Sequential = t7.loads(t7.dumps(net))
    return read


def test_tables_give_names_and_unknown_classes_their_fields() -> None:
    notes: list[str] = []
    odd = unconvertible(nn.Linear(2, 2))
    foreign = t7.TorchObject(
        "my.Net", 1, {"modules": [odd], "scale": torch.ones(1), "gradScale": torch.ones(1)}
    )
    table = {"net": foreign, "mean": torch.zeros(3), "list": [torch.ones(2), 5], "epoch": 3}
    named = conversion.state_dict(table, notes.append)
    assert list(named) == [
        *("net.0.0.weight", "net.0.0.bias", "net.0.1.weight", "net.0.1.bias"),
        *("net.scale", "mean", "list.1"),
    ]
    assert len(notes) == 1 and notes[0].startswith("nn.MadeUp")
    assert conversion.state_dict(torch.ones(2)).keys() == {"tensor"}


def test_cycles_end() -> None:
    table: dict[str, Any] = {"w": torch.ones(1)}
    table["self"] = table
    assert list(conversion.state_dict(table)) == ["w"]
    conversion.retyped(table, torch.float16)
    assert table["w"].dtype == torch.float16


def test_tensors_anywhere_get_names() -> None:
    layer = nn.Linear(2, 2)
    unknown = t7.TorchObject("my.Data", 1, {"nested": [{"x": torch.ones(2)}], "net": layer})
    closure = t7.LuaFunction(b"", [{"name": "w", "value": torch.ones(3)}])
    criterion = nn.ClassNLLCriterion(torch.ones(4))
    odd = unconvertible()
    odd.notes = {"mean": torch.ones(1)}
    table = {"data": unknown, "f": closure, "loss": criterion, "odd": odd, "deep": {"a": [odd]}}
    assert list(conversion.state_dict(table)) == [
        *("data.nested.1.x", "data.net.weight", "data.net.bias", "f.upvalues.1.value"),
        *("loss.weights", "odd.0.weight", "odd.0.bias", "odd.notes.mean"),
    ]


def test_no_tensor_of_a_converted_net_is_named_twice() -> None:
    net = nn.Sequential(nn.LSTM(2, 3), nn.SparseLinear(3, 1))
    names = list(conversion.state_dict(net))
    assert len(names) == len(net.parameters()[0]) and all(n[0].isdigit() for n in names)
