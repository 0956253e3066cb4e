"""Drafts of recorded scripts print what Lua Torch7 printed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.forked_python import forked_python
from support.paths import ROOT
from support.transcripts import plain, same_line

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

OWN = ROOT / "tests" / "golden" / "port"
SHARED = ROOT / "tests" / "golden" / "lua"
ARGUMENTS = {e["name"]: e["args"] for e in json.loads((SHARED / "manifest.json").read_text())}
# Of the scripts that are about the Lua runtime these are programs that a person would port.
PROGRAMS = (
    *("d_api", "d_basic", "d_threads", "e_cmdline", "e_cmdtype", "n_linear", "n_train", "t_gather"),
    *("n_methods", "t_float", "e_nn", "e_tensor", "l_files", "n_graph", "t_arith", "t_assign"),
    *(
        "t_compare",
        "t_construct",
        "t_index",
        "t_math",
        "t_random",
        "t_resize",
        "t_sort",
        "t_storage",
    ),
    *("t_loops", "e_class", "e_co", "e_exit", "e_load", "e_mm", "e_require", "n_rnn", "o_net"),
    *("e_uncaught_assert", "e_uncaught_index", "e_uncaught_method", "e_uncaught_msg"),
    *("e_uncaught_nil", "e_uncaught_nn", "e_uncaught_table", "p_autoencoder", "p_charrnn"),
    *("p_convnet", "t_alias", "t_conv", "t_lapack", "t_print", "t_typenames", "t_views"),
)


def difference(expected: str, got: str, name: str) -> str | None:
    """The first line that differs."""
    # A recording of usage has no name of a program.
    got = re.sub(r"^(Usage: )\S+\.py", r"\1", got, flags=re.M)
    # Errors tell their places, in the script or in the draft.
    texts = (
        re.sub(r"\b([\w-]+)\.(?:lua|py):\d+:", r"\1:N:", plain(text, name))
        for text in (expected, got)
    )
    a, b = (text.split("\n") for text in texts)
    a += ["(no more)"] * (len(b) - len(a))
    b += ["(no more)"] * (len(a) - len(b))
    for i, (one, other) in enumerate(zip(a, b, strict=True), 1):
        if not same_line(one, other):
            return f"line {i}: {one!r} and {other!r}"
    return None


def clean_draft(name: str) -> str:
    """A draft that ruff has nothing to say about."""
    from ruff.__main__ import find_ruff_bin

    from compat.port.program import convert

    Path(f"{name}.py").write_text(text := convert([OWN / f"{name}.lua"])[0].text)
    rules = "--select=E4,E7,E9,F,I,UP,SIM,RET"
    command = [find_ruff_bin(), "check", "--isolated", "--no-cache", rules, f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return text


@pytest.mark.parametrize("name", sorted(p.stem for p in OWN.glob("*.lua")))
def test_a_script_known_from_its_code(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    text = clean_draft(name)
    excused = re.findall("# noqa: (SIM|UP|RET|F8)", text)
    assert len(excused) <= (name == "files"), "what ruff remarks is mended, not excused"
    if name == "jobs":  # threads need a program of their own
        return
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, f"{name}.py", "exec"), {"__name__": "__main__"})
    expected = (OWN / f"{name}.out").read_text()
    printed = out.getvalue().encode("utf-8", "surrogateescape").decode()
    assert difference(expected, printed, name) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROGRAMS, "jobs"])  # threads need a program of their own
def test_a_script_known_from_a_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compat.port.program import convert
    from compat.port.read.syntax import PortError

    folder = OWN if name == "jobs" else SHARED
    script = folder / f"{name}.lua"
    monkeypatch.setenv("DPTABLE_DEVICES", "cpu,cpu,cpu,cpu")
    (tmp_path / "run").mkdir()
    try:
        made = convert([script], [ARGUMENTS.get(name, [])], tmp_path / "run")
    except PortError:  # it ends in an error, as it should
        made = convert([script])
    draft = tmp_path / f"{name}.py"
    draft.write_text(made[0].text)
    done = subprocess.run(
        [forked_python(), str(draft), *ARGUMENTS.get(name, [])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = (folder / f"{name}.out").read_text(errors="surrogateescape")
    assert difference(expected, done.stdout, name) is None
