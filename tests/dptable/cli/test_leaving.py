"""`dptable convert` to PyTorch source, ONNX and exported programs, of one file and of many."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from support.environments import environment, run_in

from compat import nn, t7
from dptable.cli import main

pytestmark = pytest.mark.needs("safetensors")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    torch.manual_seed(1)
    net = nn.Sequential(nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2))
    net.add(nn.ReLU(True)).add(nn.View(2 * 6 * 6)).add(nn.Linear(72, 3)).add(nn.LogSoftMax())
    t7.save(tmp_path / "net.t7", net.float())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """An environment of torch, safetensors and what these need."""
    return environment(tmp_path_factory.mktemp("alone") / "packages", "torch", "safetensors")


def test_source_proves_itself_where_torch_and_safetensors_are_alone(folder, packages, capsys):
    assert main(["convert", "net.t7", "net.py"]) == 0
    assert "2x1x8x8" in capsys.readouterr().out
    run = run_in(packages, "net.py")
    assert run.returncode == 0, run.stderr
    (folder / "other.py").write_text("import compat")
    assert "No module named 'compat'" in run_in(packages, "other.py").stderr
    damaged = (folder / "net.py").read_text().replace("nn.BatchNorm2d(2)", "nn.BatchNorm2d(2, 9.0)")
    (folder / "net.py").write_text(damaged)
    failed = run_in(packages, "net.py")
    assert failed.returncode == 1 and "AssertionError" in failed.stderr


def test_half_precision(folder):
    assert main(["convert", "net.t7", "net.py", "--half"]) == 0
    assert "Net().half()" in (folder / "net.py").read_text()


def test_files_that_exist_are_replaced_by_force_alone(folder, capsys):
    (folder / "net.py").write_text("mine")
    assert main(["convert", "net.t7", "net.py"]) == 1
    assert capsys.readouterr().err == "dptable: net.py exists; --force replaces it\n"
    assert (folder / "net.py").read_text() == "mine"
    assert main(["convert", "net.t7", "net.py", "--force"]) == 0
    assert main(["convert", "net.t7", "--force", "net.py"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table.t7", "a.py"], "holds no net but a table of epoch, modelFile; its net is in m.t7"),
        (["criterion.t7", "a.py"], "no net but a value of the type nn.MSECriterion"),
        (["empty.t7", "a.py"], "empty.t7, at byte 0, in the root object: found an empty file"),
        (["missing.t7", "a.py"], "missing.t7: No such file or directory"),
        (["folder.t7", "a.py"], "folder.t7: Is a directory"),
        (["function.t7", "a.py"], "nn.Sequential[1] nn.Tanh: cannot be converted, because its fo"),
        (["net.t7", "class.py"], "no word of Python"),
        (["net.t7", "torch.py"], "no module of Python's or torch's"),
        (["net.t7", "a.py", "--net", "b"], "the file is one net, and needs no --net"),
        (["two.t7", "a.py"], "the file holds nets at a, b; choose one with --net"),
        (["two.t7", "a.py", "--net", "c"], "net is c; a, b is accepted"),
        (["unknown.t7", "a.py"], "nn.Sequential[1] nn.MadeUp"),
        (["types.t7", "a.py"], "parameters are of the types float32, float64; --float makes"),
        (["wrapper.t7", "a.py"], "nn.Sequential[2] nn.FunctionWrapper"),
        (["net.t7", "a.py", "--input", "1x2x8x8"], "--input gives another"),
        (["net.t7", "a.py", "--input", "1x1x9x9"], "nn.Sequential[4] nn.View(72): input has"),
        (["net.t7", "a.py", "--input", "1x1x8x8,1x1x8x8"], "--input gives another"),
        (["net.t7", "a.py", "--input", "long:1x1x8x8"], "--input gives another"),
        (["net.t7", "a.py", "--input", "0x1x8x8"], "sizes like 1x3x224x224"),
        (["net.t7", "a.py", "--input", "big"], "sizes like 1x3x224x224"),
        (["net.t7", "no/a.py"], "no is no folder that can be written to"),
        (["net.t7", "a-b.py"], "a name that Python can import"),
        (["net.t7", "--to", "py"], "--to FORM and -o FOLDER go together"),
        (["net.t7"], "net.t7 is given; two names, FILE.t7 OUT, or several with --to"),
    ],
)
def test_an_error_is_one_line_and_leaves_no_file(folder, arguments, message, capsys):
    t7.save("table.t7", {"epoch": 3, "modelFile": "m.t7"})
    t7.save("criterion.t7", nn.MSECriterion())
    Path("empty.t7").touch()
    Path("folder.t7").mkdir()
    replaced = nn.Sequential(nn.Tanh())
    replaced.modules[0].forward = t7.LuaFunction(b"")
    t7.save("function.t7", replaced)
    t7.save("two.t7", {"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    unknown = nn.Sequential()
    unknown.modules.append(t7.TorchObject("nn.MadeUp", 1, {"weight": torch.ones(2, 3)}))
    t7.save("unknown.t7", unknown)
    fields = {"forward_fn": t7.LuaFunction(b""), "backward_fn": t7.LuaFunction(b"")}
    wrapper = t7.TorchObject("nn.FunctionWrapper", 1, fields)
    unknown.modules = [nn.Tanh(), wrapper]
    t7.save("wrapper.t7", unknown)
    t7.save("types.t7", nn.Sequential(nn.Linear(2, 2).float(), nn.Linear(2, 2).double()))
    before = sorted(os.listdir())
    status = main(["convert", *arguments])
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and message in told
    assert status == (2 if "see dptable convert --help" in told else 1)
    assert sorted(os.listdir()) == before


def test_many_files(folder, capsys):
    t7.save("table.t7", {"epoch": 3})
    t7.save("two words.t7", {"model": nn.Sequential(nn.Linear(2, 2))})
    files = ["net.t7", "table.t7", "two words.t7"]
    assert main(["convert", *files, "--to", "py", "-o", "out"]) == 1
    told = capsys.readouterr().out
    assert "2 of 3 files written to out" in told and "the file holds no net" in told
    rows = json.loads((folder / "out" / "report.json").read_text())
    assert [row["result"] for row in rows] == ["written", "failed", "written"]
    assert rows[0]["names"]["0.weight"] == "features.0.weight" and rows[0]["difference"] < 1e-5
    assert {"net.py", "two_words.py"} < set(os.listdir("out"))
    assert main(["convert", "net.t7", "--to", "safetensors", "-o", "other"]) == 0


def test_json(folder, capsys):
    from safetensors import safe_open
    from safetensors.torch import load_file

    t7.save("table.t7", {"epoch": 3})
    assert main(["convert", "net.t7", "net.py", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["file"], row["out"], row["result"]) == ("net.t7", "net.py", "written")
    with safe_open("net.safetensors", "pt") as file:
        assert json.loads(file.metadata()["names"]) == row["names"]
        assert row["names"]["4.weight"] in load_file("net.safetensors")
    assert row["difference"] < 1e-5 and row["bytes"] == os.stat("net.py").st_size
    assert main(["convert", "table.t7", "table.py", "--json"]) == 1
    told = capsys.readouterr()
    row = json.loads(told.out)
    assert (row["result"], row["out"]) == ("failed", None) and "holds no net" in row["reason"]
    assert told.err == f"dptable: {row['reason']}\n" and not os.path.exists("table.py")
    assert main(["convert", "net.t7", "table.t7", "--to", "pt", "-o", "out", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert rows == json.loads((folder / "out" / "report.json").read_text())
    assert [row["result"] for row in rows] == ["written", "failed"]


def test_exported_program(folder):
    assert main(["convert", "net.t7", "net.pt2"]) == 0
    run = torch.export.load("net.pt2").module()
    images = torch.randn(3, 1, 8, 8)
    expected = t7.load("net.t7").evaluate().forward(images)
    torch.testing.assert_close(run(images), expected)


@pytest.mark.needs("onnxruntime")
@pytest.mark.needs("onnxscript")
@pytest.mark.parametrize("kind", ["layers", "table", "sums", "rectifier", "projection"])
def test_onnx(folder, kind, capsys):
    import onnxruntime

    shapes = [(2, 1, 8, 8)]
    if kind == "table":
        net = nn.Sequential(nn.ParallelTable(nn.Linear(3, 4), nn.Linear(2, 4)), nn.CMulTable())
        t7.save("net.t7", net.float())
        shapes = [(2, 3), (2, 2)]
    if kind == "sums":  # torch.onnx leaves the divisor of a pooling out
        net = nn.Sequential(nn.SpatialSubSampling(1, 3, 2, 2, 2), nn.Tanh())
        t7.save("net.t7", net.float())
    if kind == "rectifier":  # torch.onnx has none that is randomised
        t7.save("net.t7", nn.Sequential(nn.Linear(8, 4), nn.RReLU(0.2, 0.4)).float())
        shapes = [(2, 8)]
    if kind == "projection":  # nor an LSTM with one; its steps come first
        t7.save("net.t7", nn.Sequential(nn.SeqLSTMP(3, 4, 2), nn.Select(1, -1)).float())
        shapes = [(7, 2, 3)]
    sizes = ",".join("x".join(map(str, shape)) for shape in shapes)
    assert main(["convert", "net.t7", "net.onnx", "--input", sizes]) == 0
    assert not capsys.readouterr().err
    session = onnxruntime.InferenceSession("net.onnx")
    given = [torch.randn(7, *shape[1:]) for shape in shapes]
    names = [each.name for each in session.get_inputs()]
    named = {name: tensor.numpy() for name, tensor in zip(names, given, strict=True)}
    [found] = session.run(None, named)
    expected = t7.load("net.t7").evaluate().forward(given if len(given) > 1 else given[0])
    torch.testing.assert_close(torch.from_numpy(found), expected, rtol=1e-4, atol=1e-4)


def test_numbers_where_indices_are_needed_are_told(folder, capsys):
    t7.save("words.t7", nn.Sequential(nn.LookupTable(20, 6), nn.Select(2, 1), nn.Linear(6, 4)))
    assert main(["convert", "words.t7", "words.py", "--input", "2x3"]) == 1
    assert "--input gives another, of indices as in --input long:2x5" in capsys.readouterr().err
