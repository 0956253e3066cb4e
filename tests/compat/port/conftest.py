"""Drafts of pieces of Lua."""

from __future__ import annotations

import contextlib
import io
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lupa")

from support.forked_python import forked_python
from support.lua_settings import settings_of_the_process as settings_of_the_process

from compat import torch as torch7


@pytest.fixture(autouse=True)
def doubles() -> Any:
    """Leave PyTorch's default type as it was."""
    before = torch7.getdefaulttensortype()
    yield
    torch7.setdefaulttensortype(before)


@pytest.fixture(autouse=True)
def quick_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """What port starts to run scripts and drafts has loaded PyTorch already."""
    monkeypatch.setattr("sys.executable", forked_python())


@pytest.fixture
def draft(tmp_path: Path) -> Callable[[str], str]:
    """The Python of a piece of Lua, less its head."""

    def made(lua: str) -> str:
        from compat.port.program import convert

        path = tmp_path / "piece.lua"
        path.write_text(textwrap.dedent(lua))
        text = convert([path])[0].text
        _, _, body = text.partition("# as in Lua\n")
        return body.strip("\n")

    return made


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[str, str]]:
    """What a piece of Lua prints, and what its draft prints."""
    monkeypatch.chdir(tmp_path)

    def run(lua: str) -> tuple[str, str]:
        from compat.port.program import convert

        path = tmp_path / "piece.lua"
        path.write_text(textwrap.dedent(lua))
        text = convert([path])[0].text
        printed = []
        for program in (_in_lua, _in_python):
            torch7.setdefaulttensortype("torch.DoubleTensor")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                program(path, text)
            printed.append(out.getvalue())
        return printed[0], printed[1]

    return run


def _in_lua(path: Path, text: str) -> None:
    from compat.lua import Runtime

    runtime = Runtime()
    lines: list[str] = []
    runtime.lua.globals().print = lambda *args: lines.append(
        "\t".join(str(runtime.lua.globals().tostring(a)) for a in args)
    )
    runtime.run(path)
    runtime.close()
    print("\n".join(lines))


def _in_python(path: Path, text: str) -> None:
    exec(compile(text, "piece.py", "exec"), {"__name__": "__main__"})


@pytest.fixture
def agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Path]:
    """Assert that a program's Lua, ``main.lua``, and its draft do the same; the draft's folder."""

    def made(texts: dict[str, str], check: str = "", run: str | None = None) -> Path:
        from compat.port import command

        for name, text in texts.items():
            (tmp_path / "lua" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "lua" / name).write_text(text)
        runs = [] if run is None else [run]
        script, out = tmp_path / "lua" / "main.lua", tmp_path / "out"
        code = command.run([str(script)], str(out), run=runs, check=[check])
        assert code == 0, capsys.readouterr().out
        return out

    return made
