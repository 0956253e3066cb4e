"""The index of a folder of slices: read as data, whoever wrote it."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from support.hostile import Trap
from support.processes import together

from compat import nn, random, t7
from dptable import DataParallelTable
from dptable.cli import main
from dptable.processes import restricted_pickle, slice_index
from dptable.sharding import ShardedParameters, load_distributed


def table() -> DataParallelTable:
    random.manualSeed(4)
    net = nn.Sequential().add(nn.Linear(3, 4)).add(nn.BatchNormalization(4))
    return DataParallelTable(1, True, statistics="synchronised").add(net, ["cpu"])


def save(folder: Path) -> None:
    sharded = ShardedParameters(table())
    state = {"m": sharded.parameters * 2, "n": 3}
    sharded.save_distributed(folder, state)
    sharded.dpt.close_group()


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "state"
    together(save, 2, folder)
    return folder


@pytest.fixture
def folder(written, tmp_path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "state"))


def check_loaded(folder: Path) -> None:
    model = table()
    expected = model.getParameters()[0].clone()
    model.getParameters()[0].zero_()
    state = load_distributed(folder, model)
    assert torch.equal(model.getParameters()[0], expected)
    assert torch.equal(state["m"], 2 * expected) and state["n"] == 3


def test_a_folder_of_before_the_index_is_read(folder):
    (folder / "index.json").unlink()
    check_loaded(folder)


def test_the_index_is_all_that_is_read(folder):
    (folder / ".metadata").write_bytes(b"nobody looks here")
    check_loaded(folder)


def test_both_forms_tell_the_same(folder):
    new = slice_index.read(folder)
    (folder / "index.json").unlink()
    assert slice_index.read(folder) == new


def hostile(folder: Path, trap: Trap) -> list[bytes]:
    """Pickles of the old form in which code hides."""
    with open(folder / ".metadata", "rb") as file:
        metadata = pickle.load(file)
    metadata.planner_data = trap
    keyed = pickle.dumps(metadata)
    metadata.planner_data = None
    metadata.storage_data[trap] = 1
    return [*trap.pickles().values(), keyed, pickle.dumps(metadata)]


def test_code_in_the_old_form_is_not_run(folder, tmp_path):
    trap = Trap(tmp_path)
    (folder / "index.json").unlink()
    for data in hostile(folder, trap):
        (folder / ".metadata").write_bytes(data)
        with pytest.raises(ValueError, match=r"\.metadata: a pickle that is refused: ") as raised:
            load_distributed(folder, table())
        assert "\n" not in str(raised.value)
    assert not trap.has_run


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_code_in_the_data_is_not_run(folder, tmp_path):
    trap = Trap(tmp_path)
    index = json.loads((folder / "index.json").read_text())
    for data in trap.pickles().values():
        for entry in index["tensors"].values():
            for piece in entry["pieces"]:
                piece["offset"], piece["bytes"] = 0, len(data) + 10_000
                (folder / piece["file"]).write_bytes(data + bytes(10_000))
        (folder / "index.json").write_text(json.dumps(index))
        with pytest.raises(OSError, match="could not read its part"):
            load_distributed(folder, table())
    assert not trap.has_run


def test_resuming_runs_no_code(folder, tmp_path, capsys):
    trap = Trap(tmp_path)
    t7.save(tmp_path / "latest.t7", {"epoch": 1, "stateFolder": "state", "opt": {"epochs": 2}})
    (folder / "index.json").unlink()
    (folder / ".metadata").write_bytes(trap.pickles()["protocol 4"])
    assert main(["train", "--resume", str(tmp_path)]) == 1
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and ".metadata: a pickle that is refused" in output
    assert not trap.has_run


DAMAGE: list[tuple[str, Any]] = [
    ("file", "../../secret"),
    ("file", "/etc/passwd"),
    ("file", "none"),
    ("file", None),
    ("offset", 1 << 40),
    ("offset", -1),
    ("bytes", 3),
    ("bytes", "x"),
    ("size", [1 << 40]),
    ("size", [-1]),
    ("size", [1, 1]),
    ("start", [1]),
    ("start", [0.5]),
    ("start", 7),
]


@pytest.mark.parametrize(("field", "value"), DAMAGE, ids=str)
def test_an_index_that_leads_elsewhere_is_refused(folder, field, value):
    (folder.parent / "secret").write_bytes(bytes(10_000))
    index = json.loads((folder / "index.json").read_text())
    index["tensors"]["parameters"]["pieces"][0][field] = value
    (folder / "index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"index\.json: "):
        load_distributed(folder, table())


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "3", '{"tensors": 3}', '{"tensors": {"parameters": {}}}', "[" * 100_000),
        '{"tensors": {"parameters": {"dtype": "float32", "size": [24], "pieces": []}}}',
        '{"tensors": {"parameters": {"dtype": "object", "size": [], "pieces": []}}}',
    ],
    ids=lambda text: text[:60],
)
def test_a_damaged_index_is_refused(folder, text):
    (folder / "index.json").write_text(text)
    with pytest.raises(ValueError, match=r"index\.json: ") as raised:
        load_distributed(folder, table())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("told", [3, {}, {"slices": 3}, {"slices": ["none"]}, {"slices": [{}]}])
def test_names_of_other_tensors_are_refused(folder, told):
    t7.save(folder / "rest.t7", told)
    with pytest.raises(ValueError, match=r"rest\.t7: slices is "):
        load_distributed(folder, table())


class Known:
    pass


def test_plain_data_passes_the_restricted_reader():
    value = {"a": [1, 2.5, None, True], "b": ("x" * 300, -1), 3: {"n": 1 << 80}}
    for protocol in (2, 3, 4, 5):
        assert restricted_pickle.read(pickle.dumps(value, protocol), ()) == value


def test_allowed_names_are_noted_and_never_called():
    known = Known()
    known.field = [1]
    name = f"{Known.__module__}.Known"
    noted = restricted_pickle.read(pickle.dumps(known), [name])
    assert type(noted) is not Known and noted["field"] == [1] and noted.name == "Known"
    with pytest.raises(ValueError, match="which is not allowed"):
        restricted_pickle.read(pickle.dumps(known), [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04.",
        b"\x80\x04r\xff\xff\xff\xff.",  # a memo of 32 GB
        b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b".",
        b"\x80\x04\x8d" + (1 << 62).to_bytes(8, "little") + b".",
        b"\x80\x04j\xff\xff\xff\x7f.",
        b"\x80\x02c__builtin__\neval\n(S'1'\ntR.",
        b"(lp0\n.",
        b"\x80\x04" + b"(" * 100_000,
        b"\x80\x04" + b"]" + b"\x94]h\x00a" * 1000,
    ],
    ids=repr,
)
def test_what_is_no_pickle_of_data_is_refused(data):
    with pytest.raises(ValueError, match="a pickle that is refused"):
        restricted_pickle.read(data, ())
