"""A piece of Lua and its draft, run side by side in this process."""

from __future__ import annotations

import argparse
import contextlib
import io
import linecache
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.port.know.files import File
    from compat.port.know.trace import Facts


@dataclass
class Outcome:
    """What both printed, the draft, and in what it ended if that is an error."""

    lua: str
    python: str
    draft: str
    problem: str | None = None

    @property
    def is_marked(self) -> bool:
        """Whether the draft says that something is open."""
        return "# port:" in self.draft

    @property
    def differs(self) -> bool:
        """Whether both did not print the same."""
        return self.lua != self.python


def draft_of(source: bytes) -> str:
    """The draft of one file as it is written, before ruff lays it out."""
    return _drafted(_read(source, "piece.lua"), {})


def _read(source: bytes, path: str) -> File:
    from compat.port.forms import write_in_fewer_forms
    from compat.port.know.files import File
    from compat.port.know.scopes import Scopes
    from compat.port.read.parser import parse

    block = parse(source, path)
    write_in_fewer_forms([block], [path], [{}])
    return File(path, "piece", block, Scopes(block, {}), source, is_script=True)


def _drafted(file: File, facts: Facts) -> str:
    from compat.port.know.inference import Inference
    from compat.port.know.questions.attempts import attempts
    from compat.port.know.questions.naming import name_variables
    from compat.port.write.draft import Draft
    from compat.port.write.file import written

    draft = Draft(file, Inference([file], facts).infer(), set())
    name_variables(file, draft.types, set())
    draft.in_lua = dict.fromkeys(attempts(file, draft.types), "")
    return written(draft)


class SideBySide:
    """Runs pieces; all share one Lua, whose global variables each leaves as they were.

    Args:
        file: where pieces are kept for a run each, which their drafts come behind; else they come
            from the code alone. Runs are started by ``forked_python``, in all of this process.
    """

    def __init__(self, file: Path | None = None) -> None:
        from compat.lua import Runtime

        self.file = file
        if file is not None:
            from support.forked_python import forked_python

            sys.executable = forked_python()
        self.runtime = Runtime()
        for package in ("torch", "nn", "optim"):
            self.runtime.require(package)
        self.run_lua = self.runtime.execute("""
            local load, tostring, pcall, concat = loadstring, tostring, pcall, table.concat
            local select, setfenv, pairs = select, setfenv, pairs
            local known = {}
            for k in pairs(_G) do known[k] = true end
            return function(text)
              local out = {}
              local old, write = print, io.write
              print = function(...)
                local words = {}
                for i = 1, select('#', ...) do words[i] = tostring((select(i, ...))) end
                out[#out + 1] = concat(words, '\\t') .. '\\n'
              end
              local stdout = {write = function(self, ...) io.write(...) return self end}
              io.write = function(...)
                for i = 1, select('#', ...) do out[#out + 1] = tostring((select(i, ...))) end
                return stdout
              end
              local f, problem = load(text, '=piece')
              local ok = f ~= nil
              if f then ok, problem = pcall(f) end
              print, io.write = old, write
              for k in pairs(_G) do if not known[k] then _G[k] = nil end end
              return concat(out), not ok and tostring(problem) or nil
            end
        """)

    def __call__(self, source: str) -> Outcome:
        """Run a piece both ways. The output of one that fails ends where it fails, in both."""
        from compat import torch as torch7
        from compat.port.lua.errors import _tree

        if self.file is None:
            draft = draft_of(source.encode())
        torch7.setdefaulttensortype("torch.DoubleTensor")
        letters, lua_problem = self.run_lua(source.encode())
        printed = letters.encode("latin-1").decode("utf-8", "surrogateescape")
        if self.file is not None:
            draft = self._draft_behind_a_run(source, self.file, lua_problem is not None)
        torch7.setdefaulttensortype("torch.DoubleTensor")
        out = io.StringIO()
        problem: str | None = None
        names: dict[str, Any] = {"__name__": "__main__"}
        linecache.cache["piece.py"] = (
            len(draft),
            None,
            draft.splitlines(keepends=True),
            "piece.py",
        )
        _tree.cache_clear()
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(draft, "piece.py", "exec"), names)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
        names.clear()  # else coroutines keep themselves, and their threads
        python = out.getvalue()
        if (problem is None) != (lua_problem is None):
            python += f"\n(Python: {problem}; Lua: {lua_problem})"
        return Outcome(printed, python, draft, problem or lua_problem)

    def _draft_behind_a_run(self, source: str, file: Path, fails: bool) -> str:
        from compat.port.know.trace import traced

        file.write_text(source)
        read = _read(source.encode(), str(file))
        facts, problem, _ = traced([read], [])
        assert fails or problem is None, f"{problem}\n{source}"
        assert fails or facts or "local " not in source, "the run told nothing"
        return _drafted(read, facts)


def main() -> None:
    """Show what differs in files of Lua, of pieces behind lines ``-- # name``; with ``--run`` their
    drafts come behind a run.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--run", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = SideBySide(Path(folder, "piece.lua") if given.run else None)
        # A run of its own has not the packages that the others' Lua has.
        head = "require 'torch' require 'nn' require 'optim'" if given.run else "require 'torch'"
        for path in given.paths:
            first, *others = ("\n" + path.read_text()).split("\n-- # ")
            for piece in [f"\n{first}"] * bool(first.strip()) + others:
                name, _, text = piece.partition("\n")
                made = run(f"{head}\n{text}")
                if made.differs:
                    word = "marked" if made.is_marked else "UNMARKED"
                    print(f"=== {path.name}: {name}: {word}")
                    print(f"--- Lua\n{made.lua}--- Python\n{made.python}--- draft\n{made.draft}")


if __name__ == "__main__":
    main()
