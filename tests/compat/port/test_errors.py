"""What cannot be converted is refused in one sentence, and nothing is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", r"\.lua is empty"),
        (
            "\nfor i = 1, 2 do\nif i == 1 then\nprint(i)\nend\n",
            r"\.lua:6: this is no Lua: 'end' expected \(to close 'for' at line 2\) near '<eof>'",
        ),
        ("print(1);;\nif x = 5 then end\n", r"\.lua:2:6: this is no Lua: 'then' expected near '='"),
        ("goto out\n", r"\.lua:1: this is no Lua: undefined label 'out'"),
        ("local x = 7 // 2\n", r"\.lua:1:\d+: the operator // is of a later Lua"),
        ("local x <const> = 7\n", r"\.lua:1:\d+: an attribute in <…> is of a later Lua"),
        ("local f = function() break end\n", r"\.lua:1: this is no Lua: no loop to break"),
        ("print(1 & 2)\n", r"the operator & is of a later Lua"),
    ],
)
def test_files_that_are_no_lua_of_torch7(tmp_path: Path, source: str, message: str) -> None:
    from compat.port.program import convert
    from compat.port.read.syntax import PortError

    path = tmp_path / "bad.lua"
    path.write_text(source)
    with pytest.raises(PortError, match=message):
        convert([path])


def test_numbers_that_are_too_large_for_lua_are_infinite(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "large.lua"
    path.write_text(f"a, b, c = {'9' * 400}, 0x{'f' * 5000}, 0xffff\n")
    held: dict[str, object] = {}
    exec(convert([path])[0].text, held)
    assert (held["a"], held["b"], held["c"]) == (float("inf"), float("inf"), 65535)


def test_a_class_of_no_file_is_marked(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local A, p = torch.class('treelstm.A', 'treelstm.B')\n"
        "function A:get() if not self.x then self.x = 1 end return self.x end\n"
    )
    made = convert([path])[0]
    assert "treelstm.B is a class of no file of this program" in made.text


def test_misspelt_names_and_missing_files_are_marked(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local utils = require 'utils'\nutils.say(nn.Sequental())\nprint(nn.Linaer(2, 2))\n"
    )
    marks = [reason for _, reason, _ in convert([path])[0].report.marks]
    assert marks == [
        "utils is no file of this program",
        "nn.Sequental is Lua's own (did you mean Sequential?)",
        "nn.Linaer is Lua's own (did you mean Linear?)",
    ]


def test_command_lines_that_cannot_be_read(tmp_path: Path) -> None:
    from compat.port import command
    from compat.port.read.syntax import PortError

    (tmp_path / "script.lua").write_text("print(1)\n")
    (tmp_path / "other.lua").write_text("print(1)\n")
    (tmp_path / "file").write_text("")
    files = [str(tmp_path / "script.lua"), str(tmp_path / "other.lua")]
    with pytest.raises(PortError, match=r"the arguments .* cannot be read: No closing quotation"):
        command.run(files, run=['"unclosed'])
    with pytest.raises(PortError, match=r"the arguments .* cannot be read"):
        command.run(files, check=['-n "a'])
    with pytest.raises(PortError, match="it needs --check, and no --run"):
        command.run(files, keep=True)
    assert not list(tmp_path.glob("*.py"))
    with pytest.raises(PortError, match="file is a file; name a folder"):
        command.run(files, str(tmp_path / "file"))


def test_a_run_that_cannot_be_ended_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compat.port.know import trace
    from compat.port.program import convert
    from compat.port.read.syntax import PortError

    subprocess.run([sys.executable, "-c", ""], check=True)  # the next one starts at once
    monkeypatch.setattr(trace, "_GRACE", 1)
    path = tmp_path / "endless.lua"
    path.write_text("while true do end\n")
    with pytest.raises(PortError, match="it did not end in 1 seconds"):
        convert([path], runs=[[]], seconds=1)


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    from compat.port.program import convert
    from compat.port.project.following import follow
    from compat.port.read.syntax import PortError

    with pytest.raises(PortError, match="does not exist"):
        convert([tmp_path / "absent.lua"])
    with pytest.raises(PortError, match=r"has no \.lua files"):
        convert([tmp_path])
    (tmp_path / "script.lua").write_text("print(1)")
    for place in ("nosuch", "nosuch/?.lua"):
        with pytest.raises(PortError, match=r"--path is nosuch.*; a folder, or a template"):
            follow([tmp_path / "script.lua"], [place])


@pytest.mark.slow
def test_a_script_that_fails_in_its_run(tmp_path: Path) -> None:
    from compat.port.program import convert
    from compat.port.read.syntax import PortError

    path = tmp_path / "fails.lua"
    path.write_text("error('no data')\n")
    with pytest.raises(PortError, match=r"fails in its run: .*fails\.lua:1: no data; nothing"):
        convert([path], runs=[[]])
    path.write_text("require 'nn'\nnn.Sequential():add(nn.Linear(2, 3)):forward(torch.ones(5))\n")
    with pytest.raises(PortError, match=r"size mismatch, .* \(at .*fails\.lua:2\); nothing"):
        convert([path], runs=[[]])
    assert [p.name for p in tmp_path.iterdir()] == ["fails.lua"]


def test_a_package_that_is_tried_stays_lua_s() -> None:
    from compat.port import lua

    is_there, package = lua.pcall(lua.require, "cunn")
    assert is_there
    assert type(package) is type(lua.require("cunn"))
    assert not isinstance(package, dict)  # into which Lua could put no more classes
