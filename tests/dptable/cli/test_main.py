"""The command line as a whole."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from compat import cutorch
from dptable.cli import main


def test_an_error_is_one_line_and_exit_code_1(capsys, tmp_path):
    assert main(["train", "--data", str(tmp_path / "none.t7")]) == 1
    output = capsys.readouterr()
    assert output.err.startswith("dptable: ")
    assert output.err.count("\n") == 1
    assert "none.t7" in output.err
    assert output.out == ""


def test_traceback_shows_the_error_itself(tmp_path):
    with pytest.raises(FileNotFoundError):
        main(["train", "--traceback", "--data", str(tmp_path / "none.t7")])


@pytest.mark.parametrize("argv", [[], ["fly"], ["train", "--epochs", "0"], ["train", "--lr", "x"]])
def test_a_wrong_command_line_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as raised:
        main(argv)
    assert raised.value.code == 2
    assert "usage: dptable" in capsys.readouterr().err


def test_devices_lists_the_logical_devices(capsys):
    cutorch.configure(["cpu"] * 3)
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["1", "cpu"], ["2", "cpu"], ["3", "cpu"]]
    assert main(["devices", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["devices"]
    assert [entry["gpu"] for entry in listed] == [1, 2, 3]


@pytest.mark.parametrize(("argv", "interval"), [([], 2.0), (["0.5"], 0.5)])
def test_devices_are_watched_until_ctrl_c(argv, interval, monkeypatch, capsys):
    cutorch.configure(["cpu"])
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("dptable.devices.time.sleep", sleep)
    assert main(["devices", "--watch", *argv]) == 0
    assert waits == [interval] * 2
    assert capsys.readouterr().out.count("  cpu  ") == 2


def test_python_m_dptable_is_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "dptable", "--help"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("usage: dptable")
    assert "train" in shown.stdout
