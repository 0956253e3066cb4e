"""The folder of a program in Python: it runs, and what was edited there stays."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import pytest
from support.forked_python import forked_python

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

TEXTS = {
    "train.lua": "local part = require 'lib.part'\ncount = 2\nprint(part.twice(4), part.more())\n",
    "lib/part.lua": "local M = {}\nfunction M.twice(x) return 2 * x end\n"
    "function M.more() count = count + 1 return count end\nreturn M\n",
    "tools/show.lua": "local part = require 'lib.part'\nprint(part.twice(1))\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        path = tmp_path / "lua" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "lua"


def port(script: Path, out: Path, **options: object) -> str:
    import contextlib
    import io

    from compat.port import command

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        command.run([str(script)], str(out), **options)  # type: ignore[arg-type]
    return said.getvalue()


def printed(texts: dict[str, str], folder: Path) -> str:
    """What the draft of a program of several files prints."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    port(folder / "main.lua", folder / "out")
    command = [forked_python(), str(folder / "out/main.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_runs_from_any_folder(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    port(source, out)
    assert {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()} == {
        *("README.md", "port.json", "pyproject.toml", "shared.py", "train.py"),
        *("lib/__init__.py", "lib/part.py", "tools/__init__.py", "tools/show.py"),
    }
    code = (
        "import runpy, sys\n"
        "for path in sys.argv[1:]:\n"
        "    sys.path[:] = [path.rpartition('/')[0], *sys.path[1:]]\n"
        "    runpy.run_path(path, run_name='__main__')\n"
    )
    done = subprocess.run(
        [forked_python(), "-c", code, str(out / "train.py"), str(out / "tools/show.py")],
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "8\t3\n2\n"
    readme = (out / "README.md").read_text()
    assert len(readme.splitlines()) <= 12 and "`python out/train.py`" in readme


def test_a_folder_with_files_is_refused_and_edited_files_are_never_overwritten(
    source: Path, tmp_path: Path
) -> None:
    from compat.port.read.syntax import PortError

    out = tmp_path / "out"
    port(source / "train.lua", out)
    with pytest.raises(PortError, match="has files; name a new folder, or give --force"):
        port(source / "train.lua", out)
    script, part = out / "train.py", out / "lib/part.py"
    edited = script.read_text() + "print('edited')\n"
    script.write_text(edited)
    (source / "lib/part.lua").write_text(TEXTS["lib/part.lua"].replace("2 * x", "3 * x"))
    for _ in range(2):
        said = port(source / "train.lua", out, force=True)
        assert "train.py was edited and stays; the new draft is train.py.new" in said
        assert f"{script}\n" not in said
        assert script.read_text() == edited and "3 * x" in part.read_text()
    assert "edited" not in (out / "train.py.new").read_text()


def test_files_of_somebody_else_stay(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("mine\n")
    (out / "other.py").write_text("mine\n")
    port(source / "train.lua", out, force=True)
    assert (out / "README.md").read_text() == (out / "other.py").read_text() == "mine\n"
    assert "dptable port" in (out / "README.md.new").read_text()


WRONG = {
    "the whole": lambda held: [held],
    "files": lambda held: {**held, "files": 5},
    "module of file 1": lambda held: {**held, "files": [{"module": "../../x"}]},
    "file 2": lambda held: {**held, "files": [held["files"][0], {"module": "a"}]},
    "hashes": lambda held: {**held, "hashes": {"a": 1}},
    "'../mine' in hashes": lambda held: {
        **held,
        "hashes": {"../mine": hashlib.sha256(b"mine").hexdigest()},
    },
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_manifest_that_was_edited_is_refused(source: Path, tmp_path: Path, wrong: str) -> None:
    """Its hashes say what may be removed; nothing outside of the folder is."""
    from compat.port.project.status import status
    from compat.port.read.syntax import PortError

    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.write_text("mine")
    port(source / "train.lua", out)
    manifest = out / "port.json"
    manifest.write_text(json.dumps(WRONG[wrong](json.loads(manifest.read_text()))))
    for again in (lambda: status(out), lambda: port(source / "train.lua", out, force=True)):
        with pytest.raises(PortError, match=rf"port\.json: {re.escape(wrong)} is not what port"):
            again()
    assert mine.read_text() == "mine"


def test_what_the_program_has_no_more_goes(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    port(source, out)
    port(source / "train.lua", out, force=True)
    assert not (out / "tools/show.py").exists() and (out / "lib/part.py").exists()


@pytest.mark.skipif("os.geteuid() == 0", reason="root may write anywhere")
def test_a_folder_without_permission(source: Path, tmp_path: Path) -> None:
    from compat.port.read.syntax import PortError

    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(
        PortError, match=r"cannot be written to: no permission; -o names another folder"
    ):
        port(source / "train.lua", tmp_path / "closed/out")


def test_names_that_change_are_told(tmp_path: Path) -> None:
    (tmp_path / "random.lua").write_text("return 1\n")
    (tmp_path / "main.lua").write_text("print(require 'random')\n")
    said = port(tmp_path / "main.lua", tmp_path / "out")
    assert "random.lua becomes random_.py: Python has a module of this name" in said


def test_dofile_runs_a_file_each_time(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local a = dofile 'a.lua'\nlocal b = dofile 'a.lua'\na.n = 5\n"
        "print(b.n, a == b)\nfor i = 1, 2 do\n  dofile 'g.lua'\n  local c = dofile 'c.lua'\n"
        "  c.n = c.n + i\n  print(c.n)\nend\nprint(#G)\n"
        "local function fresh() return dofile 'd.lua' end\nprint(fresh() == fresh())\n",
        "d.lua": "return {n = 1}\n",
        "a.lua": "return {n = 1}\n",
        "c.lua": "local C = {n = 1}\nreturn C\n",
        "g.lua": "G = G or {}\nG[#G + 1] = 'x'\n",
    }
    assert printed(texts, tmp_path) == "1\tfalse\n2\n3\n2\nfalse\n"


def test_dofile_in_several_files_runs_each_time_where_that_can_be_seen(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local a, b = require 'a', require 'b'\nprint(a(2), b(3))\n",
        "a.lua": "local util = dofile 'util.lua'\nlocal n = dofile 'count.lua'\n"
        "return function(x) return util.twice(n(x)) end\n",
        "util.lua": "local util = {}\nfunction util.twice(x) return x * 2 end\nreturn util\n",
        "count.lua": "local n = 0\nreturn function(x) n = n + 1 return x + n end\n",
    }
    texts["b.lua"] = texts["a.lua"]
    assert printed(texts, tmp_path) == "6\t8\n"
    draft = (tmp_path / "out" / "a.py").read_text()
    assert "import util\n" in draft
    assert 'lua.run_again("count"' in draft


def test_dofile_runs_a_file_each_time_if_what_it_makes_is_changed_later(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local a, b = dofile 'n.lua', dofile 'n.lua'\n"
        "print(a.inc(), a.inc(), b.inc())\n"
        "local c, d = dofile 'f.lua', dofile 'f.lua'\nc.f = function() return 2 end\n"
        "print(c.f(), d.f())\nlocal e, g = dofile 'g.lua', dofile 'g.lua'\n"
        "e.set()\nprint(e.get(), g.get())\n",
        "n.lua": "local M = {}\nlocal n\nfunction M.inc() n = (n or 0) + 1 return n end\n"
        "return M\n",
        "f.lua": "local M = {}\nfunction M.f() return 1 end\nreturn M\n",
        "g.lua": "local M = {}\nlocal function f() return 1 end\n"
        "function M.set() f = function() return 2 end end\nfunction M.get() return f() end\n"
        "return M\n",
    }
    assert printed(texts, tmp_path) == "1\t2\t1\n2\t1\n2\t1\n"


def test_dofile_gives_all_that_a_file_returns_and_require_the_first(tmp_path: Path) -> None:
    texts = {
        "main.lua": "print(dofile 'v.lua')\nlocal a, b = dofile 'w.lua'\nprint(a(3), b)\n"
        "local t = {dofile 'w.lua'}\nprint(#t, require 'v')\n",
        "v.lua": "return 1, nil, 'x'\n",
        "w.lua": "local function f(x) return x + 1 end\nreturn f, 'two'\n",
    }
    assert printed(texts, tmp_path) == "1\tnil\tx\n4\ttwo\n2\t1\n"


def test_a_file_gives_all_values_or_none_however_it_is_asked_for(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local n = 'two'\nprint(select('#', dofile(n .. '.lua')))\n"
        "local r = require(n)\nprint(r.x, (require(n)).x)\nprint(select(2, dofile(n .. '.lua')))\n"
        "print(loadstring(\"return select('#', dofile('two.lua')), dofile('two.lua').x\")())\n"
        "print(loadstring(\"return require('two').x, select('#', require('two'))\")())\n"
        "print(loadstring(\"return require('none'), select('#', dofile('none.lua'))\")())\n"
        "local a = dofile('two.lua')\nprint(a.x, select('#', dofile('none.lua')))\n"
        "print(require 'none', type(package.loaded['two']))\n"
        "print(select('#', dofile('only.lua')))\nn = 'none'\nprint(require(n))\n",
        "two.lua": "return {x = 1}, 'second'\n",
        "none.lua": "local x = 1\n",
        "only.lua": "local x = 1\n",
    }
    assert printed(texts, tmp_path) == (
        "2\n1\t1\nsecond\n2\t1\n1\t1\ntrue\t0\n1\t0\ntrue\ttable\n0\ntrue\n"
    )


def test_a_file_may_give_more_or_fewer_values_each_time(tmp_path: Path) -> None:
    texts = {
        "main.lua": "print(dofile 'v.lua')\nflag = true\nprint(dofile 'v.lua')\n"
        "print(select('#', dofile 'u.lua'))\nflag = nil\nprint(select('#', dofile 'u.lua'))\n"
        "local x = dofile 'u.lua'\nprint(x)\nlocal n = 'u'\n"
        "x = dofile(n .. '.lua')\nprint(x)\nn = 'n'\nlocal y = dofile(n .. '.lua')\nprint(y)\n"
        "if false then dofile 'n.lua' end\n",
        "n.lua": "flag = 1\n",
        "v.lua": "if flag then return 1 end\nreturn nil, 2\n",
        "u.lua": "if flag then return 1 end\n",
    }
    assert printed(texts, tmp_path) == "nil\t2\n1\n1\n0\nnil\nnil\nnil\n"


def test_coroutines_of_lua_and_of_drafts_go_through_one_another(tmp_path: Path) -> None:
    texts = {
        "main.lua": """
            require 'torch'
            local m = require 'm'
            local function sizes(n)
              for i = 1, n do coroutine.yield(i, m.twice(i), torch.Tensor(1):type()) end
            end
            for a, b, kind in m.wrap(sizes, 2) do print(a, b, kind) end
            local co = coroutine.wrap(function() m.each(function(i) coroutine.yield(i) end) end)
            print(m.twice(co()), m.twice(co()))
        """,
        "m.lua": """
            goto start
            ::start::
            local m = {}
            function m.wrap(f, n) return coroutine.wrap(f), n end
            function m.each(f) for i = 1, 3 do f(i) end end
            function m.twice(x) return x * 2 end
            return m
        """,
    }
    own = "torch.DoubleTensor"
    assert printed(texts, tmp_path) == f"1\t2\t{own}\n2\t4\t{own}\n2\t4\n"


def test_requires_inside_functions_may_go_in_circles(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local a = require 'a'\nprint(a.f(3))\n",
        "a.lua": "local b = require 'b'\nlocal M = {}\nfunction M.f(n) return b.g(n) end\n"
        "function M.h(n) return n + 1 end\nreturn M\n",
        "b.lua": "local M = {}\nfunction M.g(n) local a = require 'a' return a.h(n) end\n"
        "function M.c(n) require 'c' return inc(n) end\nreturn M\n",
        "c.lua": "local b = require 'b'\nfunction inc(n) return b.g(n) end\n",
    }
    texts["main.lua"] += "print(require('b').c(4))\n"
    assert printed(texts, tmp_path) == "4\n5\n"


def test_dofile_of_a_computed_name_runs_a_file_each_time(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local function load(name) return dofile(name .. '.lua') end\n"
        "local a, b = load('one'), load('one')\na.x = 5\nprint(b.x, count)\n"
        "local ok, c = pcall(dofile, 'one.lua')\nprint(ok, c.x, count)\n"
        "print(arg[0] ~= nil and 1, arg[1] or 2)\n"
        "local name = 'm'\nlocal m = require(name)\nm.v = 5\nprint(require('m').v)\n",
        "one.lua": "count = (count or 0) + 1\nreturn {x = 1}\n",
        "m.lua": "return {v = 1}\n",
    }
    assert printed(texts, tmp_path) == "1\t2\ntrue\t1\t3\n1\t2\n5\n"


def test_require_of_a_computed_name_gives_one_of_several_classes(tmp_path: Path) -> None:
    texts = {
        "main.lua": "require 'torch'\nfor _, name in ipairs{'one', 'two'} do\n"
        "  local task = require('task_' .. name)\n  local config = task.CONFIG or {}\n"
        "  print(task:make(5), config.a)\nend\n",
        "task.lua": "local Task = torch.class('Task')\n"
        "function Task:make(n) return self:name() .. n .. (self.x or 'nix') end\nreturn Task\n",
        "task_one.lua": "require 'task'\nlocal One = torch.class('One', 'Task')\n"
        "function One:name() return 'one' end\nOne.CONFIG = {a = 1}\nreturn One\n",
        "task_two.lua": "require 'task'\nlocal Two = torch.class('Two', 'Task')\n"
        "function Two:name() return 'two' end\nreturn Two\n",
    }
    assert printed(texts, tmp_path) == "one5nix\t1\ntwo5nix\tnil\n"


@pytest.mark.parametrize("load", ["dofile(opt.config)", "assert(loadfile(opt.config))()"])
def test_a_file_of_settings_under_an_option_is_a_table_of_them(load: str, tmp_path: Path) -> None:
    texts = {
        "main.lua": "require 'torch'\nlocal cmd = torch.CmdLine()\n"
        "cmd:option('-config', 'conf.lua', 'file')\ncmd:option('-lr', 0.01, 'rate')\n"
        f"local opt = cmd:parse(arg)\nlocal config = {load}\n"
        "for k, v in pairs(config) do opt[k] = v end\n"
        "print(opt.lr, opt.net.depth * 2, #config.sizes, config.sizes[2])\n",
        "conf.lua": "return {lr = 0.5, sizes = {3, 4}, net = {depth = 2}}\n",
    }
    assert printed(texts, tmp_path) == "0.5\t4\t2\t4\n"
    text = (tmp_path / "out/main.py").read_text()
    assert "opt[k] = v" in text and "# port" not in text
    assert set(re.findall(r"lua\.\w+", text)) == {"lua.dofile"}


def test_large_data_comes_whole(tmp_path: Path) -> None:
    rows = "".join(f"  {{id = {i}, name = 'row {i}'}},\n" for i in range(9_000))
    texts = {
        "main.lua": "local d = require 'd'\nprint(#d, d[9000].id)\n",
        "d.lua": f"return {{\n{rows}}}\n",
    }
    assert printed(texts, tmp_path) == "9000\t8999\n"


def test_what_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    from compat.port.read.syntax import PortError

    (tmp_path / "main.lua").write_text("dofile 'conf.py'\nerror('it ran')\n")
    (tmp_path / "conf.py").write_text("n = 1\n")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/x").touch()
    for out, reason in {
        "taken": "has files",
        "conf.py/x": "is a file",
        "one.py": "is one file, and there are 2",
    }.items():
        with pytest.raises(PortError, match=reason):
            port(tmp_path / "main.lua", tmp_path / out, run=[""])
    with pytest.raises(PortError, match="it ran"):
        port(tmp_path / "main.lua", tmp_path / "out", run=[""])
    assert not (tmp_path / "out").exists()


def test_no_draft_takes_the_place_of_its_lua(tmp_path: Path) -> None:
    from compat.port import command
    from compat.port.read.syntax import PortError

    (tmp_path / "main.lua").write_text("dofile 'conf.py'\n")
    (tmp_path / "conf.py").write_text("n = 1\n")
    with pytest.raises(PortError, match=r"the draft of .*conf\.py would take its place"):
        command.run([str(tmp_path / "main.lua")])
    assert (tmp_path / "conf.py").read_text() == "n = 1\n"


def test_what_a_run_told_is_not_lost_in_silence(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    port(source / "train.lua", out, run=["-n '1 2'"])
    again = port(source / "train.lua", out, run=["-n 2"], force=True)
    assert "the types of a run" not in again
    said = port(source / "train.lua", out, force=True)
    assert "The drafts before had the types of a run, these have not" in said
    assert "--run '-n 2'" in said


def test_files_that_are_gone_are_told(source: Path, tmp_path: Path) -> None:
    from compat.port.project.status import status

    port(source / "train.lua", tmp_path / "out")
    (tmp_path / "out/lib/part.py").unlink()
    assert status(tmp_path / "out").missing == ["lib/part.py"]


def test_a_run_that_was_ended_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.lua").write_text("print(1)\nlocal i = 0\nwhile true do i = i + 1 end\n")
    options = {"run": ["-n 1"], "check": [""], "seconds": 2.0, "ignore": ".*"}
    said = port(tmp_path / "main.lua", tmp_path / "out", **options)
    assert '--run "-n 1" was ended after 2 seconds; what it met by then counts' in said
    assert "main.lua was ended after 2 seconds" in said


@pytest.mark.parametrize(("status", "code"), [("3", 3), ("false", 1), ("true", 0), ("1.5", 1)])
def test_a_script_may_end_itself_in_its_run(tmp_path: Path, status: str, code: int) -> None:
    script = tmp_path / "main.lua"
    script.write_text(f"print(arg[0], #arg)\nlocal n = {status}\nos.exit({status}, true)\n")
    said = port(script, tmp_path / "out", run=["1"], check=["1"])
    assert said.count(f'--run "1" ended itself with status {code}; what it met by then') == bool(
        code
    )
    assert said.endswith("The same: 1 line that both print\n")
    done = subprocess.run([forked_python(), tmp_path / "out" / "main.py"], check=False)
    assert done.returncode == code


def test_what_may_be_meant_for_a_file_is_no_folder(source: Path, tmp_path: Path) -> None:
    from compat.port.read.syntax import PortError

    with pytest.raises(PortError, match=r"-o is .*\.txt; NAME\.py is accepted, or a folder: "):
        port(source / "train.lua", tmp_path / "train.txt")
    assert not (tmp_path / "train.txt").exists()
    (tmp_path / "net.txt").mkdir()
    for name in ("net.txt", "net.torch", "draft-1.2"):
        assert "train.py" in port(source / "train.lua", tmp_path / name)


def test_a_folder_starts_with_a_script_that_nothing_loads(tmp_path: Path) -> None:
    from compat.port.read.syntax import PortError

    texts = {
        "a_conf.lua": "size = 3\n",
        "b_conf.lua": "size = 4\n",
        "main.lua": "print(pcall(dofile, (arg[1] or 'a') .. '_conf.lua'))\nprint(size)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    assert "The same" in port(tmp_path, out, run=[""], check=["", "main.lua b"])
    assert "Scripts: `main.py`." in (out / "README.md").read_text()
    (tmp_path / "main.lua").unlink()
    (tmp_path / "b_conf.lua").write_text("return {}")
    (tmp_path / "a_conf.lua").write_text("require 'nn'\nlocal A = torch.class('A')\nA.x = 1\n")
    port(tmp_path, tmp_path / "no_script")
    page = (tmp_path / "no_script" / "README.md").read_text()
    assert "Scripts: none.\n\n- Use: `import a_conf`" in page
    (tmp_path / "main.lua").write_text(texts["main.lua"])
    (tmp_path / "other.lua").write_text("print(1)\n")
    with pytest.raises(PortError, match=r"several scripts; name one .*: main\.lua, other\.lua"):
        port(tmp_path, tmp_path / "more", run=[""])
