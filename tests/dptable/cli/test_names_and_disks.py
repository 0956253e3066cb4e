"""Hostile names of files and classes, and disks that are full, in every command."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from support.forked_python import forked_python
from support.paths import ROOT

from compat import nn, t7
from compat.t7.base.atomic_file import atomic_file
from dptable.cli import main

HOSTILE = "net\x1b]0;owned\x07\u202e\n"


def net() -> nn.Module:
    return nn.Sequential().add(nn.Linear(2, 3)).add(nn.Tanh())


def write(folder: Path, value: object, name: str = HOSTILE) -> str:
    path = folder / f"{name}.t7"
    t7.save(path, value)
    return str(path)


def check_output(capsys, lines: int | None = None) -> str:
    output = capsys.readouterr()
    said = output.out + output.err
    assert said and said.replace("\n", "").replace("\t", "").isprintable(), repr(said)
    if lines is not None:
        assert said.count("\n") == lines, said
    return said


def test_every_command_escapes_the_names_of_files(tmp_path, capsys):
    file, two = write(tmp_path, net()), tmp_path / HOSTILE
    two.mkdir()
    write(two, net(), "one\x1b[2J"), write(two, {"a": 1}, "two\x1b[2J")
    for command, code, lines in (
        (["inspect", file], 0, None),
        (["inspect", str(two)], 0, None),
        (["inspect", "--graph", str(two / "\x1b.svg"), file], 0, 1),
        (["convert", file, str(tmp_path / "out\x1b.safetensors")], 0, 1),
        (["convert", file, str(tmp_path / "out\x1b.t7")], 0, 1),
        (["convert", file, "--to", "pt", "-o", str(two)], 0, None),
        (["convert", file, str(tmp_path / "out\x1b.none")], 2, 1),
        (["view", file, "--no-browser", "-o", str(tmp_path / "\x1b.html")], 0, 1),
        (["train", "--data", file], 1, 1),
        (["train", "--data", str(tmp_path / "none\x1b\n")], 1, 1),
        (["train", "--resume", str(two)], 1, 1),
    ):
        assert main(command) == code, command
        check_output(capsys, lines)


def test_a_wrong_command_line_is_escaped(capsys):
    for command in (["train", "--model", HOSTILE], ["train", HOSTILE], ["inspect", f"--{HOSTILE}"]):
        with pytest.raises(SystemExit):
            main(command)
        check_output(capsys, 1)


def test_names_in_files_are_escaped(tmp_path, capsys):
    inner = t7.TorchObject("no.Such", 1, {HOSTILE: net(), "x": HOSTILE})
    file = write(tmp_path, {HOSTILE: inner, "list": [HOSTILE]}, "x")
    for command in (
        ["inspect", file],
        ["inspect", "--tensors", file],
        ["inspect", "--json", file],
        ["convert", file, str(tmp_path / "o.pt")],
        ["inspect", "--graph", str(tmp_path / "o.svg"), file],
    ):
        assert main(command) == 0, command
        check_output(capsys)


def test_errors_of_lua_are_escaped(tmp_path, capsys):
    pytest.importorskip("lupa")
    from compat.lua import command

    script = tmp_path / "s\x1b.lua"
    script.write_text('error("bad \\27]0;x\\7 thing")')
    assert command.main([str(script)]) == 1
    assert "bad \\x1b]0;x\\x07 thing" in check_output(capsys)


def test_json_is_what_other_programs_read(tmp_path, capsys):
    numbers = [float("nan"), float("inf"), -float("inf")]
    file = write(tmp_path, {"a": numbers, "b": b"\xff", "c": t7.Storage([1.0])}, "x")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    assert main(["inspect", "--json", file]) == 0
    listed = json.loads(capsys.readouterr().out, parse_constant=refuse)["entries"]
    values = [entry["value"] for entry in listed if entry["path"].startswith("a[")]
    assert values == ["nan", "inf", "-inf"]


FULL = f"""
import resource, signal, sys
sys.path.insert(0, {str(ROOT)!r})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import dptable.cli
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
sys.exit(dptable.cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "command",
    [
        ["convert", "IN", "out.t7"],
        ["convert", "IN", "out.pt"],
        ["convert", "IN", "out.safetensors"],
        ["convert", "IN", "out.py"],
        ["inspect", "--graph", "out.svg", "IN"],
        ["view", "IN", "--no-browser", "-o", "out.html"],
    ],
    ids=lambda command: " ".join(command),
)
def test_a_full_disk_is_told_with_the_file_and_leaves_nothing(tmp_path, command):
    file = write(tmp_path, nn.Sequential(*(nn.Linear(30, 30) for _ in range(12))), "in")
    done = subprocess.run(
        [forked_python(), "-c", FULL, *(file if word == "IN" else word for word in command)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    [out] = [word for word in command if word.startswith("out")]
    assert done.returncode == 1, done.stderr
    stem = out.rpartition(".")[0]
    assert done.stderr.startswith(f"dptable: {stem}."), done.stderr
    assert done.stderr.endswith(f": {os.strerror(errno.EFBIG)}\n") and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.t7"]


def test_errors_of_writing_name_the_file_that_is_meant(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(OSError, match="large") as raised, atomic_file(tmp_path / "x") as file:
            file.write(bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert raised.value.filename == str(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_files_keep_their_names(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as raised,
        atomic_file(tmp_path / "x"),
        open(tmp_path / "none"),
    ):
        pass
    assert raised.value.filename == str(tmp_path / "none")


def test_a_file_that_holds_too_deep_a_table_takes_one_line(tmp_path, capsys):
    value: list = []
    for _ in range(5000):
        value = [value]
    file = write(tmp_path, {"a": value, "t": torch.ones(1)}, "deep")
    for command in (["view", file, "--no-browser", "-o", str(tmp_path / "o.html")],):
        code = main(command)
        said = check_output(capsys, 1)
        assert code == 0 or f"dptable: {file}: " in said


@pytest.mark.parametrize(
    "command",
    [
        ["convert", "IN", "OUT.t7"],
        ["convert", "IN", "OUT.py"],
        ["inspect", "--graph", "OUT.svg", "IN"],
        ["view", "IN", "--no-browser", "-o", "OUT.html"],
    ],
    ids=lambda command: " ".join(command),
)
@pytest.mark.parametrize("place", ["none", "file", "folder"])
def test_where_nothing_can_be_written_is_told_before_the_file_is_read(
    tmp_path, monkeypatch, capsys, command, place
):
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(t7, "load", refuse)
    (tmp_path / "file").touch()
    out = tmp_path / place / "out"
    if place == "folder":
        for suffix in ("t7", "py", "svg", "html"):
            (tmp_path / place / f"out.{suffix}").mkdir(parents=True)
    words = [str(tmp_path / "in.t7") if w == "IN" else w.replace("OUT", str(out)) for w in command]
    assert main(words) == 1
    assert check_output(capsys, 1).startswith(f"dptable: {out.parent}")


@pytest.mark.parametrize("backend", ["foo", "cpu:gloo,cuda:foo", ""])
def test_a_backend_that_there_is_not(backend, capsys, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    assert main(["train", "--distributed", "--backend", backend]) == 1
    assert f"backend is {backend!r}; gloo" in check_output(capsys, 1)
    assert main(["train", "--backend", "gloo"]) == 1
    assert "backend is 'gloo'; with --distributed" in check_output(capsys, 1)


@pytest.mark.needs("PIL")
def test_a_damaged_image_is_told_with_its_name(tmp_path):
    from PIL import Image

    from compat import image

    path = tmp_path / "x.png"
    Image.new("RGB", (40, 40), (1, 2, 3)).save(path)
    whole = path.read_bytes()
    for damaged in (whole[:60], whole.replace(b"IDAT", b"s\xd8\xf0\x98"), whole[:-20]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"x\.png"):
            image.load(path)


@pytest.mark.needs("h5py")
def test_what_is_no_data_in_an_hdf5_file_is_told(tmp_path):
    import h5py
    import numpy

    from compat import hdf5

    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["kind"] = numpy.dtype("f8")
    file = hdf5.open(tmp_path / "x.h5", "r")
    with pytest.raises(TypeError, match="kind is a Datatype"):
        file.all()
    file.close()


@pytest.mark.needs("google.protobuf")
def test_weights_of_other_sizes_in_a_net_of_caffe_are_told(tmp_path):
    from support.caffe import small_net

    from compat import loadcaffe
    from compat.loadcaffe.schema import Net

    net = Net.FromString(small_net(False)[0])
    [layer] = [layer for layer in net.layer if layer.type == "InnerProduct"]
    del layer.blobs[0].shape.dim[1:]
    with pytest.raises(ValueError, match="2 or 4 sizes are accepted"):
        loadcaffe.load("", net, say=lambda line: None)
