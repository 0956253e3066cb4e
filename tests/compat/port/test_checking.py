"""A draft is compared with its Lua: what they print, then what they save."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from support.paths import ROOT

from compat import nn, t7
from compat.port import processes
from compat.port.check import checking

PYTHON = sys.executable  # a process of its own


class _Runs:
    """Stands for the two runs: what each prints, ends with and saves."""

    def __init__(self, lua: str, python: str, code: int = 0, error: str = "") -> None:
        self.texts = {"lua": lua, "python": python}
        self.code, self.error = code, error
        self.saved: dict[str, object] = {}
        self.file = "net.t7"
        self.places: dict[str, str] = {}
        self.written: dict[str, dict[str, str]] = {}

    def __call__(
        self, module: str, *words: str, folder: Path, seconds: float | None
    ) -> subprocess.CompletedProcess[str]:
        name = folder.name
        if name in self.places:
            Path(words[1]).write_text(self.places[name])
        if name in self.saved:
            t7.save(folder / self.file, self.saved[name])
        for file, text in self.written.get(name, {}).items():
            (folder / file).write_text(text)
        is_python = name == "python"
        return subprocess.CompletedProcess(
            [module, *words],
            self.code if is_python else 0,
            self.texts[name],
            self.error if is_python else "",
        )


def _drafted(script: Path) -> Path:
    from compat.port.program import make
    from compat.port.project.folder import write
    from compat.port.project.following import follow

    (draft,) = write(make(follow([script])), None).files
    return draft


def _check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: _Runs) -> checking.Outcome:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    script.write_text("n = 1\nprint('the loss', n)\n")
    draft.write_text("n = 1\n\nlua.print('the loss', n)\n")
    monkeypatch.setattr(processes, "run", runs)
    return checking.check(script, draft)


def test_the_same_lines_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _Runs("the loss 0.12345678\nend\n", "the loss 0.12345679\nend\n")
    assert _check(tmp_path, monkeypatch, runs) == checking.Outcome(2, [], None)


def test_the_first_difference_is_shown_with_what_both_runs_tell_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _Runs("ä\n\r [==========>]\nthe loss 0.5\nb\n", "ä\nthe loss 0.6\nc\n")
    runs.places = {
        "lua": "0 x.lua:1: print(x)\n3 x.lua:2: bar(x)\n19 x.lua:3: write(x)\n32 x.lua:4: y()\n",
        "python": "0 x.py:1: print(x)\n3 x.py:5: write(x)\n",
    }
    assert _check(tmp_path, monkeypatch, runs).difference == (
        "line 2 of what they print differs:\n"
        "  train.lua: the loss 0.5\n"
        "  train.py: the loss 0.6\n"
        "  x.lua:3: write(x)\n"
        "  x.py:5: write(x)"
    )


@pytest.mark.slow
@pytest.mark.needs("lupa")
def test_the_statement_that_prints_a_line_is_told(tmp_path: Path) -> None:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    (tmp_path / "part.lua").write_text(
        "return function(n)\n  io.write('the', ' loss ')\n  io.stdout:write(n, '\\n')\nend\n"
    )
    script.write_text("print('the loss 1')\nprint{1}\nrequire 'part' (1)\nprint('the loss 1')\n")
    draft.write_text(
        "import sys\nfrom compat.port import lua\nprint('the loss 1')\nlua.print([1])\n"
        "sys.stdout.write('the loss ')\nprint(2)\nprint('the loss 2')\n"
    )
    assert (checking.check(script, draft).difference or "").splitlines()[3:] == [
        "  part.lua:3: io.stdout:write(n, '\\n')",
        "  train.py:6: print(2)",
    ]


def test_a_draft_that_fails_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = '  File "train.py", line 3, in <module>\nKeyError: 0\n'
    found = _check(tmp_path, monkeypatch, _Runs("the loss 1\n", "", 1, error)).difference
    assert found is not None
    assert "  train.py: (nothing more)" in found
    assert 'it ended in: KeyError: 0 (File "train.py", line 3, in <module>)' in found


@pytest.mark.parametrize("change", [0.0, 0.5])
def test_checkpoints_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    net = nn.Sequential().add(nn.Linear(2, 2))
    other = net.clone()
    with torch.no_grad():
        other.get(1).weight[0, 0] += change
    runs = _Runs("", "")
    runs.saved = {"lua": {"model": net, "epoch": 3}, "python": {"model": other, "epoch": 3}}
    found = _check(tmp_path, monkeypatch, runs)
    if change:
        assert found.difference == "net.t7.model.modules.1.weight: the elements differ"
    else:
        assert found == checking.Outcome(0, ["net.t7"], None)


@pytest.mark.parametrize("change", [0.0, 0.5])
def test_objects_of_the_programs_classes_are_compared_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    fields = {"encoder": nn.Linear(2, 2), "decoder": nn.Tanh(), "code": torch.ones(2)}
    other = dict(reversed(fields.items())) | {"code": torch.ones(2) + change}
    runs = _Runs("", "")
    made = {"lua": fields, "python": other}
    runs.saved = {k: t7.TorchObject("nn.autoencoder", fields=v) for k, v in made.items()}
    found = _check(tmp_path, monkeypatch, runs).difference
    assert found == ("net.t7.code: the elements differ" if change else None)


def test_files_of_any_name_are_compared_and_others_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _Runs("a\n", "a\n")
    runs.file, runs.saved = "model.net", {"lua": [torch.ones(2)], "python": [torch.ones(2)]}
    runs.written = {
        "lua": {"log.txt": "at 1", "words": "a b"},
        "python": {"log.txt": "at 2", "words": "a b"},
    }
    found = _check(tmp_path, monkeypatch, runs)
    assert (found.files, found.left) == (["model.net", "words"], ["log.txt"])
    assert str(found) == "1 line that both print, and model.net, words; not compared: log.txt"
    runs.saved["python"] = [torch.zeros(2)]
    assert "model.net" in str(_check(tmp_path, monkeypatch, runs).difference)


def test_a_checkpoint_that_only_the_lua_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _Runs("", "")
    runs.saved = {"lua": [1]}
    found = _check(tmp_path, monkeypatch, runs)
    assert found.difference == "net.t7 was saved by the Lua only"


def test_places_in_messages_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = _Runs("false /tmp/x/train.lua:12: the loss is bad\n", "false the loss is bad\n")
    assert _check(tmp_path, monkeypatch, runs).difference is None


def test_places_in_messages_of_any_file_and_of_drafts_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = _Runs("false lib/m.lua:1: bad\n", "false m.py:6: bad\n")
    assert _check(tmp_path, monkeypatch, runs).difference is None


@pytest.mark.slow
@pytest.mark.needs("lupa")
@pytest.mark.needs("tree_sitter")
@pytest.mark.needs("tree_sitter_lua")
def test_programs_that_set_no_seed_draw_the_same_numbers(tmp_path: Path) -> None:
    script = tmp_path / "train.lua"
    script.write_text(
        "require 'nn'\n"
        "print(nn.Linear(2, 1).weight, torch.rand(1)[1], math.random())\n"
        "torch.manualSeed(os.time())\n"
        "print(torch.rand(1)[1], os.date('%Y-%m-%d %H'))\n"
        "print(torch.seed(), torch.rand(1)[1])\n"
    )
    draft = _drafted(script)
    assert checking.check(script, draft).difference is None


@pytest.mark.slow
@pytest.mark.needs("lupa")
def test_folders_and_sums_of_floats_are_alike_in_both(tmp_path: Path) -> None:
    script, draft = tmp_path / "a.lua", tmp_path / "a.py"
    for i in range(40):
        (tmp_path / f"{i * 7 % 40:02}.png").touch()
    script.write_text(
        """local lfs = require 'lfs'
        for name in lfs.dir('.') do if name:find('png') then io.write(name, ' ') end end
        local x = torch.linspace(0, 1, 999):float()
        local rows = x:view(3, 333)
        print(x:sum(), x:mean(), x:std(), x:norm(), x:dist(x * 2), rows:sum(2)[1][1])
        print(rows:mean(2)[2][1], rows:std(2, true)[2][1], rows:norm(2, 2)[2][1], rows:var(2)[2][1])
        """
    )
    draft.write_text(
        """import torch
from compat.port import lua
for name in lua.files("."):
    if "png" in name:
        print(name, end=" ")
x = torch.linspace(0, 1, 999, dtype=torch.float64).float()
rows = x.view(3, 333)
y = x.double()
first = y.sum(), y.mean(), y.std(), y.norm(), x.dist(x * 2), rows.sum(1)[0]
lua.print(*(one.item() for one in first))
several = rows.mean(1), rows.std(1, unbiased=False), rows.norm(2, 1), rows.var(1)
lua.print(*(one[1].item() for one in several))
"""
    )
    assert checking.check(script, draft) == checking.Outcome(2, [], None)


@pytest.mark.slow
@pytest.mark.needs("lupa")
def test_both_programs_really_run(tmp_path: Path) -> None:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    script.write_text("print(arg[1], 1 / 3)\ntorch.save('x.t7', torch.ones(2))\n")
    draft.write_text(
        "import sys\nimport torch\nfrom compat import t7\n"
        "print(sys.argv[1], 1 / 3, sep='\\t')\n"
        "t7.save('x.t7', torch.ones(2, dtype=torch.float64))\n"
    )
    assert checking.check(script, draft, ["a"]) == checking.Outcome(1, ["x.t7"], None)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["train.lua", "train.py"]


def test_a_script_that_ends_before_it_prints_says_why(tmp_path: Path) -> None:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    script.write_text("local f = assert(io.open('nowhere.t7'))\nprint(f)")
    draft.write_text("open('nowhere.t7')\n")
    with pytest.raises(
        checking.PortError, match=r"nothing to compare; it ended in: .*nowhere\.t7: No such"
    ):
        checking.check(script, draft)


def test_a_package_that_nobody_has_is_named_with_its_place(tmp_path: Path) -> None:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    script.write_text("\nlocal utils = require 'utils'\n")
    draft.write_text("import utils\n")
    with pytest.raises(
        checking.PortError, match=r"luajit: .*train\.lua:2: module 'utils' not found\n"
    ):
        checking.check(script, draft)


def test_lines_in_another_order_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _check(tmp_path, monkeypatch, _Runs("{\nb : 2\na : 1\n}\n", "{\na : 1\nb : 2\n}\n"))
    assert found.difference is None
    assert str(found) == "4 lines that both print (2 of them in another order)"
    runs = _Runs("{\nb : 2\na : 1\n}\n", "{\na : 1\nb : 3\n}\n")
    assert _check(tmp_path, monkeypatch, runs).difference is not None


@pytest.mark.slow
@pytest.mark.needs("lupa")
def test_each_program_has_folders_and_checkpoints_of_its_own(tmp_path: Path) -> None:
    script, draft = tmp_path / "train.lua", tmp_path / "train.py"
    (tmp_path / "save").mkdir()
    t7.save(tmp_path / "save" / "n.t7", [1.0])
    t7.save(tmp_path / "save" / "unused.t7", [1.0])
    script.write_text(
        "n = torch.load('save/n.t7')[1] + 1\nprint(n)\ntorch.save('save/n.t7', {n})\n"
    )
    draft.write_text(
        "from compat import t7\n"
        "n = t7.load('save/n.t7', plain=True)[0] + 1\nprint(int(n))\nt7.save('save/n.t7', [n])\n"
    )
    assert checking.check(script, draft) == checking.Outcome(1, ["save/n.t7"], None)
    assert t7.load(tmp_path / "save" / "n.t7", plain=True) == [1]


def test_bars_addresses_and_the_folder_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lua = (
        "\r [=======>.......]  1/2 \r\r [===============>]  2/2 \n\rdone\n"
        "table: 0x7f00 /tmp/dptable-port-x1/lua/save/a.txt ./b\n"
    )
    runs = _Runs(lua, "done\ntable: 0x10 save/a.txt b\n")
    assert _check(tmp_path, monkeypatch, runs) == checking.Outcome(2, [], None)


def test_a_copy_of_a_copy_stays_when_that_is_gone(tmp_path: Path) -> None:
    import shutil

    from compat.port.check.copies import copied

    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "script.lua").write_text("print(1)")
    for source, target in (("own", "first"), ("first", "second")):
        copied(tmp_path / source, tmp_path / target)
    shutil.rmtree(tmp_path / "first")
    (tmp_path / "second").rename(tmp_path / "first")
    assert (tmp_path / "first" / "script.lua").read_text() == "print(1)"


def test_a_copy_is_not_copied_into_itself(tmp_path: Path) -> None:
    from compat.port.check.copies import copied

    (tmp_path / "data.txt").write_text("1")
    folder = tmp_path / "dptable-port-1" / "lua"
    folder.mkdir(parents=True)
    copied(tmp_path, folder)
    assert [p.name for p in folder.iterdir()] == ["data.txt"]


@pytest.mark.slow
@pytest.mark.needs("lupa")
def test_workers_that_are_forked_behind_parallel_work_do_not_wait_for_ever(tmp_path: Path) -> None:
    script = tmp_path / "pool.lua"
    script.write_text(
        "local threads = require 'threads'\n"
        "print(torch.exp(torch.ones(600, 600)):dim())\n"
        "local pool = threads.Threads(1, function() require 'torch' end)\n"
        "local function job() return torch.exp(torch.ones(300, 300)) end\n"
        "pool:addjob(job, function(y) print(y:dim()) end)\n"
        "pool:synchronize()\n"
        "pool:terminate()\n"
    )
    draft = _drafted(script)
    done = checking.check(script, draft, seconds=60)
    assert (done.lines, done.difference) == (2, None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
def test_a_run_whose_time_is_up_ends_with_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", PYTHON)
    (tmp_path / "hang.py").write_text(
        "import os, time\n"
        "if os.fork() == 0: time.sleep(60)\n"
        "print('begun', flush=True)\n"
        "time.sleep(60)\n"
    )
    begun = time.monotonic()
    done = processes.run("check.seeded", "python", "places", "hang.py", folder=tmp_path, seconds=6)
    assert done.returncode == processes.ENDED
    assert time.monotonic() - begun < 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals that end processes are POSIX's")
def test_a_run_does_not_outlive_what_made_it(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text(
        "import os, pathlib, time\n"
        "pathlib.Path('new').write_text(str(os.getpid()))\n"
        "os.rename('new', 'begun')\n"
        "time.sleep(100)\n"
    )
    words = ("check.seeded", "python", "places", "hang.py")
    given = f"*{words}, folder={str(tmp_path)!r}, seconds=None"
    code = f"from compat.port import processes; processes.run({given})"
    maker = subprocess.Popen([PYTHON, "-c", code], cwd=ROOT)
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        maker.terminate()
        assert maker.wait(30) == 128 + signal.SIGTERM
    finally:
        maker.kill()
        maker.wait()
    pid = int((tmp_path / "begun").read_text())
    with pytest.raises(ProcessLookupError):
        for _ in range(200):
            os.kill(pid, 0)
            time.sleep(0.05)
