"""`dptable inspect`."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

from compat import nn, t7
from dptable.cli import main


@pytest.fixture
def shown(golden, capsys):
    def run(path, *options):
        assert main(["inspect", str(path), *options]) == 0
        return capsys.readouterr().out

    return lambda name, *options: run(golden / "format" / name, *options)


def test_a_net_is_a_tree(shown):
    lines = shown("nn_mlp.t7").splitlines()
    assert lines[0] == "nn.Sequential, version 1, 23 parameters"
    assert "    [3]: nn.Linear, version 1, 8 parameters" in lines
    assert "      weight: torch.DoubleTensor 2x3" in lines
    assert "      gradInput: the same as gradInput" in lines
    assert "23 of them parameters; saved from the CPU" in lines[-1]


def test_gpu_files_say_so(shown):
    out = shown("cunn_dataparalleltable.t7")
    first, second, *more = out.splitlines()
    assert first.startswith("nn.DataParallelTable(dimension=1, ")
    assert first.endswith("), version 3, 6 parameters") and second == "  header: table of 2"
    assert more[:2] == ["    [1]: 1", "    [2]: 2"]
    assert "saved from a GPU" in out


def test_the_parameters_of_a_file_that_is_a_layer_are_counted(tmp_path, capsys):
    t7.save(tmp_path / "layer.t7", nn.Linear(3, 2))
    assert main(["inspect", str(tmp_path / "layer.t7")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "nn.Linear, version 1, 8 parameters"
    assert " 8 of them parameters" in lines[-1]


def test_shared_parameters_are_counted_once(tmp_path, capsys):
    layer = nn.Linear(3, 2, False)
    net = nn.Sequential(layer, nn.Linear(2, 3), layer.clone("weight"), layer)
    t7.save(tmp_path / "net.t7", net)
    assert main(["inspect", str(tmp_path / "net.t7")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "nn.Sequential, version 1, 15 parameters"
    assert " 15 of them parameters" in lines[-1]


def test_json_lists_every_entry(shown, golden):
    path = golden / "format" / "nn_mlp.t7"
    listed = json.loads(shown("nn_mlp.t7", "--json"))
    assert len(listed["entries"]) == len(list(t7.inspect(path)))
    [weight] = [e for e in listed["entries"] if e["path"] == "modules[3].weight"]
    assert (weight["shape"], weight["dtype"]) == ([2, 3], "float64")
    assert listed["total"] == {
        "tensors": 16,
        "elements": 46,
        "parameters": 23,
        "device": "the CPU",
        "file_bytes": path.stat().st_size,
    }


def test_views_name_the_memory_they_lie_in(tmp_path, capsys):
    flat = torch.zeros(6)
    t7.save(tmp_path / "views.t7", [flat, flat[2:5], torch.zeros(6)])
    assert main(["inspect", str(tmp_path / "views.t7")]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "table of 3",
        "  [1]: torch.FloatTensor 6",
        "  [2]: torch.FloatTensor 3, in the memory of [1]",
        "  [3]: torch.FloatTensor 6",
    ]


def test_a_very_deep_tree_is_indented_only_so_far(tmp_path, capsys):
    value: dict = {}
    for _ in range(2000):
        value = {"t": value}
    t7.save(tmp_path / "deep.t7", value)
    assert main(["inspect", str(tmp_path / "deep.t7")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["table of 1", "  t: table of 1", "    t: table of 1"]
    assert len(lines) == 2002 and max(map(len, lines)) < 200


def test_a_bare_value_is_shown(shown):
    assert shown("scalar_number.t7").startswith("3.25\n")


def test_every_recording_can_be_inspected(golden, capsys):
    for path in sorted((golden / "format").glob("*.t7")):
        if path.name.startswith(("class_custom", "variant_")):
            continue  # their classes have payloads that only their scripts know
        assert main(["inspect", str(path)]) == 0, path
    assert capsys.readouterr().err == ""


def test_a_defect_is_one_line(golden, capsys):
    path = golden / "format" / "malformed" / "ascii_bad_number.t7"
    assert main(["inspect", str(path)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{path}, at byte 2" in error


def mixed() -> dict[str, Any]:
    """What real files hold, each in a file of its own."""
    x, state = nn.Identity()(), nn.Identity()()
    summed = nn.CAddTable()([nn.Linear(3, 4)(x), nn.Linear(4, 4)(state)])
    graph = nn.gModule([x, state], [nn.Tanh()(summed)])
    thing = t7.TorchObject("my.Thing", 1, {"net": nn.Linear(2, 2), "list": [{"w": torch.ones(3)}]})
    layer = nn.SpatialConvolution(3, 8, 5, 3, 2, 1, 1, 2)
    return {
        "checkpoint": {"model": layer, "epoch": 7, "opt": {"lr": 0.01, "name": "resnet"}},
        "graph": {"protos": {"rnn": graph}, "vocab": {"a": 1}, "i": 100},
        "thing": {"thing": thing, "deep": {"a": {"b": [torch.ones(2)]}}},
        "shape": nn.Sequential(nn.View(4, 2)),
        "many": {"words": {f"word{i}": i for i in range(1000)}, "numbers": list(range(1000))},
    }


@pytest.fixture
def folder(tmp_path):
    for name, value in mixed().items():
        t7.save(tmp_path / f"{name}.t7", value)
    (tmp_path / "notes.txt").write_text("not looked at")
    return tmp_path


def lines_of(capsys, *argv):
    assert main(["inspect", *map(str, argv)]) == 0
    return capsys.readouterr().out.splitlines()


def test_options_of_layers_and_values_of_tables_are_shown(folder, capsys):
    lines = lines_of(capsys, folder / "checkpoint.t7")
    options = "nInputPlane=3, nOutputPlane=8, kW=5, kH=3, dW=2, dH=1, padW=1, padH=2"
    assert f"  model: nn.SpatialConvolution({options}), version 1, 368 parameters" in lines
    assert {"  epoch: 7", "    lr: 0.01", "    name: 'resnet'"} <= set(lines)
    assert "    size: torch.LongStorage of 2: 4, 2" in "\n".join(
        lines_of(capsys, folder / "shape.t7")
    )


def test_a_graph_is_the_list_of_its_modules(folder, capsys):
    lines = lines_of(capsys, folder / "graph.t7")
    [head] = [line for line in lines if "gModule" in line]
    assert head.startswith("    rnn: nn.gModule(nInputs=2") and head.endswith("36 parameters")
    modules = [line.split(",")[0].strip() for line in lines if line.startswith("        [")]
    assert modules == [
        "[1]: nn.Identity",
        "[2]: nn.Linear",
        "[3]: nn.Identity",
        "[4]: nn.Linear",
        "[5]: nn.CAddTable(inplace=False)",
        "[6]: nn.Tanh",
    ]
    assert "          weight: torch.FloatTensor 4x3" in lines
    assert not any("reverseMap" in line for line in lines) and len(lines) < 50


def test_a_checkpoint_of_lua_with_a_graph(golden, capsys):
    lines = lines_of(capsys, golden / "inspect" / "checkpoint.t7")
    assert not any("reverseMap" in line or "mapindex" in line for line in lines)
    assert {"  epoch: 1.5", "    savefile: 'lstm'", "    [2]: 2.5"} <= set(lines)
    [head] = [line for line in lines if "gModule" in line]
    assert head.endswith("45 parameters")
    modules = [line for line in lines if line.startswith("        [")]
    assert len(modules) == 12 and "        [2]: nn.Linear, version 1, 16 parameters" in modules
    assert "          weight: torch.FloatTensor 4x3" in lines


def test_tables_with_many_values_are_cut(folder, capsys):
    lines = lines_of(capsys, folder / "many.t7")
    assert "    word0: 0" in lines and "    [10]: 9" in lines
    assert "    […]: 800 more values" in lines and "    […]: 990 more values" in lines
    assert len(lines) < 230


def test_every_tensor_is_listed(folder, capsys):
    for name, value in mixed().items():
        *rows, total = lines_of(capsys, folder / f"{name}.t7", "--tensors")
        assert total.startswith(f"{len(rows)} tensor"), value
    rows = lines_of(capsys, folder / "thing.t7", "--tensors")
    listed = [row.split()[0] for row in rows[:-1]]
    assert {"deep.a.b[1]", "thing.list[1].w", "thing.net.weight", "thing.net.bias"} <= set(listed)
    rows = lines_of(capsys, folder / "graph.t7", "--tensors")
    assert any(
        row.split()[:3] == ["protos.rnn.modules[2].weight", "torch.FloatTensor", "4x3"]
        for row in rows
    )


def test_a_folder_of_files_is_gone_through(folder, capsys):
    lines = lines_of(capsys, folder)
    heads = [line for line in lines if line.endswith(".t7:")]
    assert heads == [f"{folder}/{name}.t7:" for name in sorted(mixed())]
    (folder / "broken.t7").write_text("hello")
    assert main(["inspect", str(folder)]) == 1
    told = capsys.readouterr()
    assert told.err.count("\n") == 1 and "broken.t7" in told.err
    assert heads == [line for line in told.out.splitlines() if line.endswith(".t7:")]
    assert main(["inspect", "--json", str(folder / "many.t7"), str(folder / "shape.t7")]) == 0
    assert [f["total"]["tensors"] for f in json.loads(capsys.readouterr().out)] == [0, 2]


def test_a_folder_without_files_is_refused(tmp_path, capsys):
    assert main(["inspect", str(tmp_path)]) == 1
    assert "has no file named *.t7; a folder with such is accepted" in capsys.readouterr().err


def test_what_is_not_read_is_told(golden, capsys):
    lines = lines_of(capsys, golden / "format" / "trailing_garbage.t7")
    assert lines[-2] == "24 bytes at the end of the file are not part of this object"


def test_the_nodes_of_a_graph_are_not_counted_twice(folder, capsys):
    """A file holds each once for the way forward and once for the way back; modules are listed."""
    lines = lines_of(capsys, folder / "graph.t7")
    assert any("nn.gModule" in line for line in lines)
    assert not any(" node" in line for line in lines)


def test_nets_are_drawn(folder, capsys):
    out = folder / "net.svg"
    assert lines_of(capsys, folder / "graph.t7", "--graph", out) == [f"{out}: protos.rnn, 8 nodes"]
    drawn = ElementTree.fromstring(out.read_text())
    assert drawn.tag.endswith("svg") and "nn.Linear(3 -> 4)" in "".join(drawn.itertext())
    lines_of(capsys, folder / "checkpoint.t7", "--graph", folder / "net.dot")
    assert (folder / "net.dot").read_text().startswith("digraph")
    assert main(["inspect", str(folder / "many.t7"), "--graph", str(out)]) == 1
    assert "holds no net; a file with one is accepted" in capsys.readouterr().err


def test_each_of_several_nets_gets_a_picture(tmp_path, capsys):
    t7.save(tmp_path / "gan.t7", {"G": nn.Sequential(nn.Tanh()), "D": [nn.Linear(2, 1)]})
    lines_of(capsys, tmp_path / "gan.t7", "--graph", tmp_path / "gan.svg")
    assert {path.name for path in tmp_path.glob("*.svg")} == {"gan-G.svg", "gan-D.1.svg"}


def test_a_very_large_file_is_listed_in_part_unless_all_is_wanted(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dptable.cli.inspect._MOST", 100)
    path = tmp_path / "many.t7"
    t7.save(path, [[torch.ones(1)] for _ in range(200)])
    *tree, gap, total = lines_of(capsys, path)
    assert len(tree) == 100 and gap.startswith("… ") and gap.endswith("in them, too")
    assert total.startswith("at least ")
    listed = lines_of(capsys, path, "--json")
    assert json.loads("\n".join(listed))["total"]["unlisted_bytes"] > 0
    *tree, total = lines_of(capsys, path, "--all")
    assert len(tree) == 401 and total.startswith("200 tensors ")
