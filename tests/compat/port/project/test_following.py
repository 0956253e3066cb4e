"""A script brings the files that it loads, wherever Lua would find them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]


def program(folder: Path, **texts: str) -> Path:
    """A program with these files; ``__`` in a name is a slash. Gives the first."""
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.lua"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / f"{next(iter(texts)).replace('__', '/')}.lua"


def found(script: Path, *places: str) -> list[str]:
    """The files of a script's program, from the folder on where it runs."""
    from compat.port.project.following import follow

    made = follow([script], places)
    return [source.path.relative_to(made.root).as_posix() for source in made.sources]


@pytest.mark.parametrize(
    "text",
    [
        "require 'lib.part'",
        "require('lib/part')",
        "dofile 'lib/part.lua'",
        "local f = loadfile('lib/part.lua')",
        "paths.dofile('lib/part.lua')",
        "paths.dofile(paths.concat('lib', 'part.lua'))",
        "dofile(paths.thisfile('lib/part.lua'))",
        "local ok, part = pcall(require, 'lib.part')",
        "include('lib/part.lua')",
        "torch.include('project', 'lib/part.lua')",
        "require 'project.lib.part'",
        "pool = Threads(2, function() require 'lib.part' end)",
        "local part = require('lib.' .. opt.name)",
        "local part = require(string.format('lib.%s', opt.name))",
        "cmd:option('-model', 'lib/part.lua')\ndofile(opt.model)",
        "package.path = './lib/?.lua;' .. package.path\nrequire 'part'",
        "package.path = path.join(path.dirname(__FILE__), 'lib', '?.lua;') .. package.path\n"
        "require 'part'",
    ],
)
def test_ways_to_load_a_file(text: str, tmp_path: Path) -> None:
    script = program(tmp_path / "project", main=text, lib__part="return 1", other="return 2")
    assert found(script) == ["main.lua", "lib/part.lua"]


def test_a_name_that_is_open_means_no_file_of_another_kind(tmp_path: Path) -> None:
    script = program(
        tmp_path, main="local name, net = 'a.png', 'net.txt'\ndofile(opt.model)", net="return 1"
    )
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "net.txt").write_text("return 2")
    assert found(script) == ["main.lua", "net.txt"]


def test_names_of_files_are_in_utf_8(tmp_path: Path) -> None:
    script = program(tmp_path, main="require 'été.modèle'", été__modèle="return 1")
    assert found(script) == ["main.lua", "été/modèle.lua"]


def test_what_is_loaded_loads_others_also_in_circles(tmp_path: Path) -> None:
    script = program(
        tmp_path,
        main="require 'a'",
        a="local M = {} function M.f() return require 'b' end return M",
        b="local a = require 'a' return a",
    )
    assert found(script) == ["main.lua", "a.lua", "b.lua"]


def test_paths_dofile_looks_beside_the_file_that_asks_and_dofile_where_the_script_runs(
    tmp_path: Path,
) -> None:
    script = program(
        tmp_path,
        main="require 'lib.a'",
        lib__a="paths.dofile('part.lua') dofile('part.lua')",
        lib__part="",
        part="",
    )
    program(tmp_path, lib__part="return 1", part="return 2")
    assert found(script)[:3] == ["main.lua", "lib/a.lua", "lib/part.lua"]


def test_a_script_in_a_subfolder_runs_where_its_files_are_found(tmp_path: Path) -> None:
    from compat.port.project.following import follow

    (tmp_path / ".git").mkdir()
    script = program(tmp_path, tools__convert="require 'lib.part'", lib__part="return 1")
    made = follow([script])
    assert made.home == tmp_path and found(script) == ["tools/convert.lua", "lib/part.lua"]


def test_a_script_deep_inside_runs_where_its_folder_is_a_package(tmp_path: Path) -> None:
    from compat.port.project.following import follow

    (tmp_path / ".git").mkdir()
    main = "require 'gan.script.opts' paths.dofile('../data/data.lua')"
    others = dict.fromkeys(("gan__script__opts", "gan__data__data"), "return 1")
    script = program(tmp_path, gan__script__main=main, **others)
    assert follow([script]).home == tmp_path and len(found(script)) == 3
    assert follow([tmp_path / "gan/script/opts.lua"]).home == tmp_path / "gan/script"


def test_folders_given_besides_and_lua_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = program(tmp_path, project__main="require 'part' require 'other'", far__part="return 1")
    program(tmp_path, farther__other="return 2")
    assert found(script) == ["main.lua"]
    monkeypatch.setenv("LUA_PATH", str(tmp_path / "farther/?.lua"))
    names = found(script, str(tmp_path / "far"))
    assert names == ["project/main.lua", "far/part.lua", "farther/other.lua"]


def test_packages_that_the_runtime_has_are_none_of_the_programs(tmp_path: Path) -> None:
    script = program(tmp_path, main="require 'nn' require 'image'", image="return 1", nn="return 2")
    assert found(script) == ["main.lua"]


def test_sockets_pipes_and_links_in_circles_are_left_out(tmp_path: Path) -> None:
    import os
    import socket

    from compat.port.check.copies import copied
    from compat.port.project.following import follow

    program(tmp_path / "p", main="print(1)")
    os.mkfifo(tmp_path / "p/pipe.lua")
    (tmp_path / "p/circle.lua").symlink_to(tmp_path / "p/circle.lua")
    (tmp_path / "p/above").symlink_to(tmp_path / "p")
    with socket.socket(socket.AF_UNIX) as server:
        monkey = os.getcwd()
        os.chdir(tmp_path / "p")  # names of sockets are short
        server.bind("s.lua")
        os.chdir(monkey)
        made = follow([tmp_path / "p"])
        (tmp_path / "copy").mkdir()
        copied(tmp_path / "p", tmp_path / "copy")
    assert [source.path.name for source in made.sources] == ["main.lua"]
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["above", "main.lua"]


@pytest.mark.parametrize("text", [b"\xef\xbb\xbfprint('a')\r\nprint('b')\r\n", b"print('\xe9')\n"])
def test_encodings(text: bytes, tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_bytes(text)
    made = convert([path])[0].text
    printed = 'print("a")\nprint("b")' if b"a" in text else r'lua.bytes_as_text(b"\xe9")'
    assert printed in made


def test_large_tables_of_constants_are_data(tmp_path: Path) -> None:
    from compat.port.program import convert

    rows = ",\n".join(f"{{{i}, 'text ( {i}', {i}.5}}" for i in range(12_000))
    script = program(
        tmp_path, main="local t = require 'rows'\nprint(#t)", rows=f"return {{{rows}}}"
    )
    main, data = convert([script])
    assert data.in_lua == "data" and not data.report.marks
    assert 'exports = lua.module("rows.lua", __file__)' in data.text
    assert "from rows import exports" in main.text


def test_files_of_a_folder_that_are_no_lua_are_told_and_left_out(tmp_path: Path) -> None:
    from compat.port.project.following import follow
    from compat.port.read.syntax import PortError

    program(tmp_path, main="print(1)", bad="local x = = 1", empty="")
    made = follow([tmp_path])
    assert [source.path.name for source in made.sources] == ["main.lua"]
    assert any("bad.lua:1:11: this is no Lua" in reason for reason in made.left)
    assert any("empty.lua is empty" in reason for reason in made.left)
    with pytest.raises(PortError, match=r"bad\.lua:1:11: this is no Lua"):
        follow([tmp_path / "bad.lua"])


def test_a_name_that_only_a_run_knows_may_mean_a_file_that_is_left_out(tmp_path: Path) -> None:
    from compat.port.project.following import follow

    program(tmp_path, main="opt = {model = 'bad'}\nrequire(opt.model)", bad="local x = = 1")
    made = follow([tmp_path])
    assert [source.path.name for source in made.sources] == ["main.lua"]
    assert len(made.left) == 1


def test_a_loaded_file_that_is_no_lua_fails_when_it_is_loaded(tmp_path: Path) -> None:
    from compat.port.program import convert

    script = program(tmp_path, main="print(pcall(require, 'bad'))", bad="local x = 7 // 2")
    bad = convert([script])[1]
    assert bad.in_lua == "file" and "the operator // is of a later Lua" in bad.report.marks[0][1]


def test_a_file_of_a_hundred_thousand_lines_stays_lua(tmp_path: Path) -> None:
    from compat.port.program import convert

    long = "local part = require('part')\n" + "x = (x or 0) + 1\n" * 100_000 + "return x\n"
    script = program(tmp_path, main="print(require 'long')", long=long, part="return 1")
    main, whole, part = convert([script])
    assert whole.in_lua == "file" and "100002 lines" in whole.report.marks[0][1]
    assert part.text == "exports = 1\n" and "from long import exports" in main.text


def test_a_folder_that_is_given_has_packages_too(tmp_path: Path) -> None:
    script = program(tmp_path / "project", main="require 'part'\nrequire 'whole'")
    program(tmp_path / "lib", part="return 1", whole__init="return 2")
    assert found(script, str(tmp_path / "lib")) == [
        "project/main.lua",
        "lib/part.lua",
        "lib/whole/init.lua",
    ]


def test_a_script_in_a_folder_begins_with_its_docstring(tmp_path: Path) -> None:
    import ast

    from compat.port.program import make
    from compat.port.project.following import follow

    script = program(
        tmp_path,
        tools__run="-- Trains a net and shows its loss.\n\nprint(require 'part')",
        part="return 1",
    )
    main = make(follow([script])).files[0]
    assert "sys.path" in main.text
    assert ast.get_docstring(ast.parse(main.text)) == "Trains a net and shows its loss."
