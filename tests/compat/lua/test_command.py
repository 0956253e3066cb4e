"""The command: options, scripts, code, the prompt, and how it ends."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked_python import forked_python

from compat.lua import command
from compat.lua.prompt import Prompt
from compat.lua.runtime import Runtime
from compat.lua.state import implementation

ROOT = Path(__file__).parents[3]


def run(
    *arguments: str,
    cwd: Path,
    given: str = "",
    module: tuple[str, ...] = ("compat.lua",),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [forked_python(), "-m", *module, *arguments],
        cwd=cwd,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "TREPL_HISTORY": str(cwd / "history")}
        | environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_a_script_finds_its_arguments_and_th_s_globals(tmp_path: Path) -> None:
    (tmp_path / "beside.lua").write_text("return {name = 'beside'}")
    (tmp_path / "s.lua").write_text(
        "print(arg[0], arg[1], select('#', ...), ...)\n"
        "print(paths ~= nil, sys ~= nil, xlua ~= nil, stringx ~= nil)\n"
        "print(require('./beside').name)\n"
        "print({1, x = torch.Tensor(2, 3)})\nprint('a', nil)\n"
    )
    done = run("lua", "s.lua", "-e", "--traceback", cwd=tmp_path, module=("dptable",))
    assert done.stdout == (
        "s.lua\t-e\t2\t-e\t--traceback\ntrue\ttrue\ttrue\ttrue\nbeside\n"
        "{\n  1 : 1\n  x : DoubleTensor - size: 2x3\n}\na\tnil\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_found_nowhere_else_may_be_a_file(tmp_path: Path) -> None:
    # As in th, whose scripts say require 'model/net.lua'.
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "net.lua").write_text("return 'net'")
    code = (
        "print(require('model/net.lua'), require('model/net'), pcall(require, 'model/nothing.lua'))"
    )
    done = run("-e", code, cwd=tmp_path)
    head, _, _ = done.stdout.partition("\n")
    assert head == "net\tnet\tfalse\tmodule 'model/nothing.lua' not found:"


def test_an_error_shows_lua_s_stack_and_python_s_when_asked(tmp_path: Path) -> None:
    (tmp_path / "s.lua").write_text("local function f() error('boom') end\nprint 'before'\nf()\n")
    done = run("s.lua", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == "before\n"
    assert done.stderr == (
        "luajit: s.lua:1: boom\nstack traceback:\n\t[C]: in function 'error'\n"
        "\ts.lua:1: in function 'f'\n\ts.lua:3: in main chunk\n"
    )
    assert "Traceback (most recent call last)" in run("--traceback", "s.lua", cwd=tmp_path).stderr


def test_code_standard_input_and_exit_codes(tmp_path: Path) -> None:
    assert run("-e", "x = 2", "-e", "print(x)", "-lcjson", cwd=tmp_path).stdout == "2\n"
    assert run(cwd=tmp_path, given="print(1)\nprint(2)\n").stdout == "1\n2\n"
    assert run("-e", "os.exit(7)", cwd=tmp_path).returncode == 7


def test_a_class_of_a_package_that_was_not_required_says_so(tmp_path: Path) -> None:
    (tmp_path / "save.lua").write_text(
        "local A = torch.class('A')\ntorch.save('a.t7', torch.factory('A')())\n"
        "require 'nn'\ntorch.save('net.t7', nn.Identity())\n"
    )
    assert run("save.lua", cwd=tmp_path).returncode == 0
    for name, needed in (("net", "<nn.Identity> (require 'nn', or"), ("a", "<A> (its own file c")):
        done = run("-e", f"torch.load('{name}.t7')", cwd=tmp_path)
        assert f"unknown Torch class {needed}" in done.stderr


def test_quiet_and_verbose(tmp_path: Path) -> None:
    (tmp_path / "s.lua").write_text("require 'cutorch' torch.CudaTensor(1)\nerror('boom')\n")
    usual, quiet, verbose = (run(*o, "s.lua", cwd=tmp_path) for o in ([], ["-q"], ["--verbose"]))
    assert "Warning: " in usual.stderr and "Warning: " not in quiet.stderr
    assert "boom" in quiet.stderr and quiet.returncode == usual.returncode == 1
    assert "UserWarning: " in verbose.stderr and "Traceback (most" in verbose.stderr
    assert run("--quiet", "--verbose", "s.lua", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("lines", ["x = torch.ones(2)\n= x\nprint {1, a = 2}\nnn.Linear(1, 2)\n"])
def test_a_pipe_gets_no_escape_sequences(tmp_path: Path, lines: str) -> None:
    environment = {"TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}
    done = run("-i", cwd=tmp_path, given=lines, **environment)
    assert done.returncode == 0 and "torch.DoubleTensor of size 2" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_no_color_empties_the_script_s_colours(tmp_path: Path) -> None:
    code = "io.write(sys.COLORS.red, 'a', sys.COLORS.none, require('trepl.colors').Red)"
    assert run("-e", code, cwd=tmp_path).stdout == "\x1b[0;31ma\x1b[0m"
    assert run("-e", code, cwd=tmp_path, NO_COLOR="1").stdout == "a"


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--nonsense"], "--nonsense;"),
        (["--quite", "x.lua"], "--quite (did you mean --quiet?)"),
        (["--orignal=nn"], "--orignal (did you mean --original?)"),
        (["-e"], "-e needs a value"),
        (["--torch-home"], "--torch-home needs a value"),
        (["-q", "-v"], "--quiet and --verbose are given"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    arguments: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and wrong in told


def test_the_help_ends_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["-h"], program="dptable lua") == 0
    examples = capsys.readouterr().out.partition("examples:\n")[2].splitlines()
    assert len(examples) > 2 and all(line.startswith("  dptable lua ") for line in examples)


def test_a_torch_home_that_does_not_exist_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing")
    assert command.main(["--torch-home", str(tmp_path), "--torch-home", missing, "-e", ""]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "--torch-home" in told and missing in told


def test_nothing_is_said_of_a_reader_that_has_gone(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [forked_python(), "-m", "compat.lua", "--help"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=100,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_without_lupa_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    implementation.cache_clear()  # of tests before
    monkeypatch.setitem(sys.modules, "lupa", None)
    assert command.main(["-e", "print(1)"]) == 1
    assert capsys.readouterr().err.count("pip install") == 1


def test_packages_come_from_an_old_installation(tmp_path: Path) -> None:
    share = tmp_path / "home" / "share" / "lua" / "5.1"
    (share / "mine").mkdir(parents=True)
    (share / "mine" / "init.lua").write_text("return 'mine'")
    (share / "sys.lua").write_text("return 'their sys'")
    (tmp_path / "home" / "checkout").mkdir()
    (tmp_path / "home" / "checkout" / "init.lua").write_text("return 'checkout'")
    runtime = Runtime()
    runtime.add_packages([str(tmp_path / "home")])
    assert (runtime.require("mine"), runtime.require("checkout")) == ("mine", "checkout")
    assert runtime.eval("require('sys') ~= 'their sys'")
    runtime = Runtime()
    runtime.add_packages([str(tmp_path / "home")], ["sys"])
    assert runtime.require("sys") == "their sys"


def at_prompt(
    lines: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    runtime = Runtime()
    runtime.require("trepl")
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    Prompt(runtime).loop()
    runtime.flush()
    return capfd.readouterr()


@pytest.mark.parametrize(
    ("lines", "printed"),
    [
        ("1 + 1", "2\n"),
        ("= 1, 'a'", "1\ta\n"),
        ("x = 3; x = x + 1;\nx", "4\n"),
        ("nil", "nil\n"),
        ("{1, {2}}", "{\n  1 : 1\n  2 : \n    {\n      1 : 2\n    }\n}\n"),
        ("for i = 1, 2 do\nprint(i)\nend", "1\n2\n"),
        ("torch.ones(1)", " 1\n[torch.DoubleTensor of size 1]\n\n"),
        ("5\n_LAST", "5\n5\n"),
        ("$ echo hi\n_LAST", "hi\nhi\n\n"),
        ("local y = 1\nexit\nprint(2)", ""),
    ],
)
def test_the_prompt_prints_what_a_line_gives(
    lines: str, printed: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out, err = at_prompt(lines + "\n", monkeypatch, capfd)
    assert (out, err) == (printed, "")


def test_an_error_at_the_prompt_does_not_end_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out, err = at_prompt("error('x')\nx x\nfoo(\n\n7\n", monkeypatch, capfd)
    assert out == "7\n"
    assert "stdin:1: x" in err
    assert err.count("syntax error") == 2


def test_names_are_completed() -> None:
    complete = Runtime().eval("(function() return require('trepl').complete end)()")
    assert "torch.manualSeed(" in complete("torch.manualS")
    assert complete("string.for") == ["string.format("]
    assert complete("nothing.here") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothere.lua"], "cannot open nothere.lua"),
        (["."], "cannot read ."),
        (["binary"], "binary:1: "),
        (["-l", "nothere"], "module 'nothere' not found"),
    ],
)
def test_what_is_no_script_takes_one_line(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("binary").write_bytes(bytes(range(256)))
    assert command.main(arguments) == 1
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert words in said


def test_a_package_that_misses_another_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("outer.lua").write_text("require 'inner'")
    assert command.main(["-l", "outer"]) == 1
    assert "no file './inner.lua'" in capfd.readouterr().err
