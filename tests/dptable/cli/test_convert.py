"""`dptable convert`."""

from __future__ import annotations

import importlib
import os

import pytest
import torch

from compat import cutorch, nn, t7
from dptable import DataParallelTable
from dptable.cli import convert, main


@pytest.fixture
def net(tmp_path):
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2))
    net.add(nn.View(-1).setNumInputDims(3)).add(nn.Linear(8, 3))
    net.forward(torch.randn(2, 1, 4, 4))
    t7.save(tmp_path / "net.t7", net)
    return net


needs_safetensors = pytest.mark.needs("safetensors")


def load_file(path):
    """The tensors in a .safetensors file."""
    return importlib.import_module("safetensors.torch").load_file(path)


@pytest.mark.parametrize(
    ("out", "load"),
    [
        pytest.param("net.safetensors", load_file, marks=needs_safetensors),
        ("net.pt", torch.load),
        ("net.pth", torch.load),
    ],
)
def test_tensors_by_name(net, out, load, tmp_path, capsys):
    assert main(["convert", str(tmp_path / "net.t7"), str(tmp_path / out)]) == 0
    converted = net.to_torch().eval()
    state = load(str(tmp_path / out))
    converted.load_state_dict(state, strict=True)
    images = torch.randn(2, 1, 4, 4)
    torch.testing.assert_close(converted(images), net.evaluate().forward(images))
    told = capsys.readouterr()
    assert "9 tensors of 56 elements" in told.out and told.err == ""


def test_a_view_is_saved_without_the_rest_of_its_memory(tmp_path):
    whole = torch.arange(100_000.0)
    t7.save(tmp_path / "views.t7", {"some": whole[3:5], "same": whole[3:5], "last": whole[-1:]})
    assert main(["convert", str(tmp_path / "views.t7"), str(tmp_path / "views.pt")]) == 0
    assert (tmp_path / "views.pt").stat().st_size < 4000
    state = torch.load(tmp_path / "views.pt")
    assert {name: tensor.tolist() for name, tensor in state.items()} == {
        "some": [3.0, 4.0],
        "same": [3.0, 4.0],
        "last": [99_999.0],
    }


def test_numbers_and_strings_left_out_are_told(tmp_path, capsys):
    """Those in tables; what a layer's fields say is in no state_dict either."""
    opt = {"rate": 0.1, "name": "adam", "cuda": True}
    stored = {"epoch": 1, "net": nn.Linear(2, 2), "opt": opt, "best": 1}
    for more in ({}, {"errors": [0.5] * 9}):
        t7.save(tmp_path / "point.t7", stored | more)
        assert main(["convert", str(tmp_path / "point.t7"), str(tmp_path / "point.pt")]) == 0
        assert set(torch.load(tmp_path / "point.pt")) == {"net.weight", "net.bias"}
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and told.startswith("dptable: left out what is no tensor: ")
        if more:
            assert told.endswith(", …; see t7.load\n")
        else:
            names = {"epoch", "opt.rate", "opt.name", "opt.cuda", "best"}
            assert set(told.split("tensor: ")[1].split("; ")[0].split(", ")) == names


@needs_safetensors
def test_shared_weights_are_in_safetensors_twice(tmp_path):
    layer = nn.Linear(2, 2)
    pair = nn.Sequential(layer, layer.clone("weight", "bias", "gradWeight", "gradBias"))
    t7.save(tmp_path / "pair.t7", pair)
    assert main(["convert", str(tmp_path / "pair.t7"), str(tmp_path / "pair.safetensors")]) == 0
    state = load_file(tmp_path / "pair.safetensors")
    assert torch.equal(state["0.weight"], state["1.weight"])
    assert main(["convert", str(tmp_path / "pair.t7"), str(tmp_path / "pair.pt")]) == 0
    state = torch.load(tmp_path / "pair.pt")
    assert state["0.weight"].data_ptr() == state["1.weight"].data_ptr()


@pytest.mark.parametrize(
    ("options", "start"),
    [([], b"\4\0\0\0"), (["--ascii"], b"4\n1\n"), (["--long-size", "4"], b"\4\0\0\0")],
)
def test_other_t7_files(net, options, start, tmp_path):
    out = tmp_path / "other.t7"
    assert main(["convert", str(tmp_path / "net.t7"), str(out), *options]) == 0
    assert out.read_bytes().startswith(start)
    images = torch.randn(2, 1, 4, 4)
    again = t7.load(out, long_size=4 if "4" in options else "auto")
    torch.testing.assert_close(again.evaluate().forward(images), net.evaluate().forward(images))


def test_a_gpu_checkpoint_for_a_cpu(golden, tmp_path):
    source = golden / "format" / "cunn_dataparalleltable.t7"
    out = tmp_path / "cpu.t7"
    assert main(["convert", str(source), str(out), "--to-cpu", "--strip-dpt", "--half"]) == 0
    assert b"Cuda" not in out.read_bytes() and b"DataParallel" not in out.read_bytes()
    net = t7.load(out)
    assert net.type() == "torch.HalfTensor"
    assert all(parameter.dtype == torch.float16 for parameter in net.parameters()[0])


@pytest.mark.parametrize("name", ["saved_v3_cuda", "saved_v3_holes"])
def test_checkpoints_of_more_gpus_than_there_are(name, golden, tmp_path, monkeypatch):
    monkeypatch.setattr(DataParallelTable, "deserializeNGPUs", 1)
    cutorch.configure(["cpu"])
    source = str(golden / "dpt" / f"{name}.t7")
    assert main(["convert", source, str(tmp_path / "again.t7"), "--ascii"]) == 0
    raw, again = [t7.load(path, raw=True) for path in (source, tmp_path / "again.t7")]
    towers = [find(value, "nn.DataParallelTable") for value in (raw, again)]
    assert towers[0].preamble == towers[1].preamble and max(towers[0].preamble[0]) > 1
    net = t7.load(source)
    weights = [p.clone() for p in net.parameters()[0]]
    for options in (["--strip-dpt"], []):
        assert main(["convert", source, str(tmp_path / "net.pt"), *options]) == 0
        state = torch.load(tmp_path / "net.pt")
        assert all(any(torch.equal(w, t) for t in state.values()) for w in weights)


def find(value, typename):
    """The first object of a class in what ``load(raw=True)`` returned."""
    if value.typename == typename:
        return value
    return next(found for child in value["modules"] if (found := find(child, typename)))


def test_precision_of_a_state_dict(net, tmp_path):
    assert main(["convert", str(tmp_path / "net.t7"), str(tmp_path / "n.pt"), "--half"]) == 0
    assert torch.load(tmp_path / "n.pt")["0.weight"].dtype == torch.float16


def test_a_layer_without_equivalent_is_told_of(tmp_path, capsys):
    net = nn.Sequential(nn.Linear(4, 2))
    net.modules.append(t7.TorchObject("nn.MadeUp", 1, {"weight": torch.ones(2)}))
    t7.save(tmp_path / "net.t7", net)
    assert main(["convert", str(tmp_path / "net.t7"), str(tmp_path / "net.pt")]) == 0
    assert capsys.readouterr().err.startswith("dptable: nn.MadeUp")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net.t7", "net.zip"], "a name that ends in .py, .onnx, .pt2, .safetensors, .pt, .pth or"),
        (["net.t7", "net.pt", "--ascii"], "with --ascii or --long-size, a .t7 file is"),
        (["none.t7", "net.pt"], "none.t7"),
        (["page.t7", "net.pt"], "page.t7"),
        (["empty.t7", "net.pt"], "holds no tensors; a file with tensors is accepted\n"),
        (["latest.t7", "net.pt"], "whose net is in model_3.t7"),
        (["net.t7", "nowhere/net.pt"], "nowhere"),
    ],
)
def test_an_error_is_one_line_and_leaves_no_file(net, arguments, message, tmp_path, capsys):
    (tmp_path / "page.t7").write_text("<!DOCTYPE html><html>404</html>")
    t7.save(tmp_path / "empty.t7", {"epoch": 3})
    t7.save(tmp_path / "latest.t7", {"epoch": 3, "modelFile": "model_3.t7"})
    before = sorted(os.listdir(tmp_path))
    paths = [str(tmp_path / name) for name in arguments[:2]]
    status = main(["convert", *paths, *arguments[2:]])
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and message in told
    assert status == (2 if "see dptable convert --help" in told else 1)
    assert sorted(os.listdir(tmp_path)) == before


def test_the_same_file_may_be_source_and_target(net, tmp_path, capsys):
    path = str(tmp_path / "net.t7")
    assert main(["convert", path, path, "--half"]) == 0
    assert capsys.readouterr().out.endswith("bytes, in place of the file given\n")
    assert t7.load(path).get(1).weight.dtype == torch.float16


def test_a_bar_shows_how_far_a_large_file_is(net, tmp_path, monkeypatch, capsys):
    shown = []

    class Bar(convert.tqdm):
        def __init__(self, *args, **kwargs):
            shown.append(kwargs["disable"])
            super().__init__(*args, **(kwargs | {"disable": True}))

    monkeypatch.setattr(convert, "tqdm", Bar)
    for limit in (1, 1 << 30):
        monkeypatch.setattr(convert, "LARGE", limit)
        assert main(["convert", str(tmp_path / "net.t7"), str(tmp_path / "other.t7")]) == 0
    assert shown == [None, True]


@needs_safetensors
def test_views_that_are_not_contiguous_fit_in_safetensors(tmp_path):
    whole = torch.arange(6.0).view(2, 3)
    views = {"a": whole, "b": whole.t(), "c": whole.t(), "d": whole[0].expand(2, 3), "e": whole[1]}
    t7.save(tmp_path / "views.t7", views)
    out = tmp_path / "views.safetensors"
    assert main(["convert", str(tmp_path / "views.t7"), str(out)]) == 0
    state = load_file(out)
    for name, view in views.items():
        assert torch.equal(state[name], view)


@pytest.mark.parametrize("options", [(), ("--to-cpu", "--strip-dpt", "--half")], ids=str)
@pytest.mark.parametrize(
    "out", ["out.t7", "out.pt", pytest.param("out.safetensors", marks=needs_safetensors)]
)
def test_tables_may_be_deep_and_hold_themselves(options, out, tmp_path):
    deep: dict = {"end": torch.ones(1), "layer": nn.Linear(1, 1)}
    deep["layer"].notes = deep["up"] = [deep]
    for _ in range(3000):
        deep = {"t": deep}
    t7.save(tmp_path / "deep.t7", deep)
    arguments = ["convert", str(tmp_path / "deep.t7"), str(tmp_path / out), *options]
    assert main(arguments) == 0
