"""Command lines of Torch7 scripts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat import torch as torch7


@pytest.fixture
def cmd() -> torch7.CmdLine:
    cmd = torch7.CmdLine()
    cmd.text("Train a net")
    cmd.text()
    cmd.argument("-data", "the data")
    cmd.option("-lr", 0.1, "learning rate")
    cmd.option("-epochs", 10, "how long")
    cmd.option("-name", "net")
    cmd.option("-nesterov", False, "Nesterov momentum")
    cmd.option("-shuffle", True, "shuffle")
    return cmd


def test_defaults(cmd: torch7.CmdLine) -> None:
    expected = {"lr": 0.1, "epochs": 10, "name": "net", "nesterov": False, "shuffle": True}
    assert cmd.default() == expected
    assert cmd.parse(["here"]) == {**expected, "data": "here"}


def test_options_are_read_by_type(cmd: torch7.CmdLine) -> None:
    line = "-lr 1e-3 here -epochs 0x10 -nesterov -name 12 -shuffle"
    opt = cmd.parse(line.split())
    assert opt == {
        "data": "here",
        "lr": 1e-3,
        "epochs": 16,
        "name": "12",
        "nesterov": True,
        "shuffle": False,
    }
    assert type(opt.epochs) is int
    assert opt.lr == opt["lr"]
    opt.lr = 5
    assert opt["lr"] == 5
    with pytest.raises(AttributeError, match="there is no option 'rate'"):
        opt.rate  # noqa: B018


def test_the_programs_own_line_is_read(
    cmd: torch7.CmdLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py", "there"])
    assert cmd.parse().data == "there"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not enough arguments"),
        ("here -lr", "missing argument for option -lr"),
        ("here -lr fast", r"invalid type for option -lr \(should be number\)"),
        ("here -epochs 1_0", r"invalid type for option -epochs \(should be number\)"),
        ("here there", "invalid argument: there"),
    ],
)
def test_a_wrong_line_ends_the_program(
    cmd: torch7.CmdLine, line: str, message: str, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(SystemExit) as end:
        cmd.parse(line.split())
    captured = capsys.readouterr()
    assert end.value.code == 1
    assert re.search(message, captured.err)
    assert "Usage:" in captured.out


@pytest.mark.parametrize("flag", ["-help", "-h", "--help"])
def test_help(
    cmd: torch7.CmdLine,
    flag: str,
    capsys: pytest.CaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py"])
    with pytest.raises(SystemExit) as end:
        cmd.parse([flag])
    assert end.value.code == 0
    assert capsys.readouterr().out == (
        "Usage: main.py [options] <data>\n"
        "Train a net\n"
        "\n"
        "  <data>    the data\n"
        "  -lr       learning rate [0.1]\n"
        "  -epochs   how long [10]\n"
        "  -name     [net]\n"
        "  -nesterov Nesterov momentum [false]\n"
        "  -shuffle  shuffle [true]\n"
    )


def test_numbers_as_arguments_are_converted() -> None:
    cmd = torch7.CmdLine()
    cmd.argument("count", "how many", "number")
    assert cmd.parse(["3"]).count == 3


@pytest.mark.parametrize(("default", "kind"), [(None, None), (1, "string"), ("x", "number")])
def test_wrong_defaults_are_refused(default: object, kind: str | None) -> None:
    with pytest.raises(ValueError, match=r"the (type|default) of -a is .*; .* is accepted"):
        torch7.CmdLine().option("-a", default, "help", kind)  # type: ignore[arg-type]


def test_string_names_what_differs(cmd: torch7.CmdLine) -> None:
    opt = cmd.parse(["here", "-lr", "0.001", "-nesterov", "-epochs", "20"])
    assert cmd.string("exp", opt) == "exp,data=here,epochs=20,lr=0.001,nesterov=t"
    assert cmd.string("exp", opt, {"epochs": True}) == "exp,data=here,lr=0.001,nesterov=t"
    assert cmd.string("", opt, ["epochs", "data", "nesterov"]) == "lr=0.001"
    assert "name=net" in cmd.string("exp", opt, {"name": False})


def test_string_prints_what_it_names_and_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    cmd = torch7.CmdLine()
    cmd.option("-n", 1)
    cmd.option("-on", False)
    params = {"n": 5, "on": True, "dir": ["x"], "other": 1}
    assert cmd.string("exp", params, ["dir"]) == "exp,n=5,on=t"
    # Torch7 prints these lines, in the order of pairs.
    assert capsys.readouterr().out.splitlines() == [
        "n\t5\t1",
        "on\tt\tfalse",
        "-- ignore option dir",
        "WARNING: unknown option/argument: other IGNORING for DIRECTORY NAME",
    ]


def test_silent_also_ends_what_a_log_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cmd = torch7.CmdLine()
    with cmd.log(str(tmp_path / "log.txt")):
        print("shown")
        cmd.silent()
        print("logged")
    assert "shown" in capsys.readouterr().out
    assert "logged" in (tmp_path / "log.txt").read_text()


def test_string_has_separators_of_ones_own() -> None:
    cmd = torch7.CmdLine("_", "-")
    cmd.option("-a", 1)
    cmd.option("-b", 1)
    assert cmd.string("x", {"a": 2.0, "b": 0.5}) == "x_a-2_b-0.5"


@given(st.dictionaries(st.from_regex(r"[a-z]\w{0,8}", fullmatch=True), st.integers()))
def test_every_option_comes_back(values: dict[str, int]) -> None:
    values.pop("h", None), values.pop("help", None)
    cmd = torch7.CmdLine()
    for name in values:
        cmd.option(f"-{name}", 0)
    line = [word for name, value in values.items() for word in (f"-{name}", str(value))]
    assert cmd.parse(line) == values


def test_log_copies_what_is_printed(
    cmd: torch7.CmdLine, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    stdout = sys.stdout
    file = tmp_path / "runs" / "1" / "log"
    with cmd.log(str(file), {"lr": 0.1, "decay": 0.0, "fast": True}):
        print("step", 1, end="")
        print(" done")
        print("no end", end="")
    assert sys.stdout is stdout
    print("not logged")
    lines = file.read_text().splitlines()
    assert lines[0].startswith("[program started on ")
    assert lines[1:] == [
        "[command line arguments]",
        "lr\t0.1",
        "decay\t0",
        "fast\ttrue",
        "[----------------------]",
        "step 1 done",
        "no end",
    ]
    assert capsys.readouterr().out.endswith("step 1 done\nno endnot logged\n")


def test_log_may_be_silent_and_have_times(
    cmd: torch7.CmdLine, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    cmd.silent()
    cmd.addTime("main", "%Y ")
    with cmd.log(str(tmp_path / "log")):
        print("step")
    assert capsys.readouterr().out == ""
    assert re.fullmatch(r"\d{4} \[main\]: step", (tmp_path / "log").read_text().splitlines()[-1])


def test_a_table_is_a_default_that_no_line_can_set(
    cmd: torch7.CmdLine, capsys: pytest.CaptureFixture
) -> None:
    cmd.option("-sizes", [3, 4], "sizes")
    assert cmd.parse(["x"]).sizes == [3, 4]
    with pytest.raises(SystemExit):
        cmd.parse(["x", "-sizes", "3"])
    said = capsys.readouterr()
    assert said.err == "unknown required option type table"
    assert "sizes [table: 0x" in said.out


def test_what_is_declared_has_torch7s_fields(cmd: torch7.CmdLine) -> None:
    cmd.text("lines")
    cmd.option("-n", 3, "number")
    cmd.argument("file", "data")
    assert cmd.options["-n"] == {"key": "-n", "default": 3, "help": "number", "type": "number"}
    assert cmd.arguments[-1] == {"key": "file", "help": "data", "type": None}
    assert cmd.helplines[-3:] == ["lines", cmd.options["-n"], cmd.arguments[-1]]
