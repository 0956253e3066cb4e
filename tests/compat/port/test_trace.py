"""What a run sees at the places of a script."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

SCRIPT = """\
local function pick(x, k) return x[k], k end
local t = {}
t[#t + 1] = 'a'
for i = 1, 2 do pick(torch.ones(2, 3), i) end
print(pick({5.5}, 1))
if arg[1] == 'never' then t.other = 1 end
"""


def test_kinds_counts_and_writes_are_noted(tmp_path: Path) -> None:
    from compat.port import syntax as s
    from compat.port.inference import File
    from compat.port.scopes import Scopes
    from compat.port.trace import traced

    path = tmp_path / "script.lua"
    path.write_text(SCRIPT)
    source = path.read_bytes()
    block = s.parse(source, str(path))
    facts, problem = traced([File(str(path), "script", block, Scopes(block, {}), source)], [])
    assert problem is None

    def seen(text: str, before: str = "") -> list[str] | None:
        start = SCRIPT.index(before + text) + len(before)
        return facts.get((str(path), start, start + len(text)))

    assert seen("x", "return ") == ["list", "tensor Double 2"]
    assert seen("k", "x[") == ["int"]
    assert seen("t", "then ") is None  # not reached
    key, call = SCRIPT.index("#t + 1"), SCRIPT.index("pick({5.5}, 1)")
    assert facts[str(path), key, -(key + 6)] == ["append"]
    assert facts[str(path), -call, call + 14] == ["2"]


def test_what_a_script_was_run_for_comes_from_its_run(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function f(x) return x:sum() end\n"
        "return f(assert(loadstring('return torch.ones(2)'))())\n"
    )
    assert "lua.method" in convert([path])[0].text
    assert "return x.sum().item()" in convert([path], [])[0].text
