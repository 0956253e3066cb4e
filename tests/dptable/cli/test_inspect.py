"""`dptable inspect`."""

from __future__ import annotations

import json

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
    assert out.startswith("nn.DataParallelTable, version 3, 6 parameters\n  header: table of 2\n")
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
