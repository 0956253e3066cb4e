"""Scripts print what Lua Torch7 printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.forked_python import forked_python
from support.transcripts import differences, plain, same_line

from compat import lua

GOLDEN = Path(__file__).parents[2] / "golden" / "lua"
ROOT = Path(__file__).parents[3]
SCRIPTS = json.loads((GOLDEN / "manifest.json").read_text())
ENDING = [script for script in SCRIPTS if script["exit"]]
WHOLE = [script for script in SCRIPTS if not script["exit"]]


# These were recorded with a LuaJIT that has none of Lua 5.2's features. Torch7's own has them
# (golden/state/54_lua52 is from there), and so has ours: by line, what was recorded, and what
# stands there with them.
LUA52 = {
    "l_class": {
        6: (
            "false\tl_class.lua:23: attempt to compare two table values",
            "true\ttrue\tfalse\tfalse\t8\t4\tAnimal<cow>+Animal<rex>\tAnimal<cow>+!",
        )
    },
    "l_language": {
        15: ("nil", "thread"),
        24: ("foo?\t2\tOBJ\tneg\tcat\t0\ttrue", "foo?\t2\tOBJ\tneg\tcat\t42\ttrue"),
    },
    "n_container": {227: ("0\tnil", "2\tnil")},
}


def name_of(script: dict[str, Any]) -> str:
    return str(script["name"])


def recorded(name: str, kind: str) -> str:
    lines = (GOLDEN / f"{name}.{kind}").read_text("latin-1").split("\n")
    for number, (old, new) in LUA52.get(name, {}).items() if kind == "out" else ():
        assert lines[number - 1].rstrip() == old
        lines[number - 1] = new
    return "\n".join(lines)


@pytest.mark.parametrize("script", WHOLE, ids=name_of)
def test_prints_the_same(
    script: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    name = script["name"]
    shutil.copy(GOLDEN / f"{name}.lua", tmp_path)
    monkeypatch.chdir(tmp_path)
    if "devices" in script:
        monkeypatch.setenv("T7_NGPU", str(script["devices"]))
    lua.run(f"{name}.lua", *script["args"])
    printed = capfdbinary.readouterr().out.decode("latin-1")
    assert not differences(recorded(name, "out"), printed, name)


@pytest.mark.parametrize("script", ENDING, ids=name_of)
def test_ends_in_the_same_error(script: dict[str, Any], tmp_path: Path) -> None:
    name = script["name"]
    shutil.copy(GOLDEN / f"{name}.lua", tmp_path)
    ran = subprocess.run(
        [forked_python(), "-m", "compat.lua", f"{name}.lua", *script["args"]],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=100,
    )
    assert ran.returncode == script["exit"], ran.stderr
    assert not differences(recorded(name, "out"), ran.stdout.decode("latin-1"), name)
    expected = plain(recorded(name, "err"), name).split("\n")[0]
    lines = plain(ran.stderr.decode("latin-1"), name).split("\n")
    assert any(expected in line or same_line(expected, line) for line in lines)
