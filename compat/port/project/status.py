"""The state of a port: what is still Lua, what is marked, and how long Lua runs."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compat.port.processes import run, said
from compat.port.project.folder import manifest
from compat.port.project.modules import place
from compat.port.read.syntax import PortError
from compat.terminal import printable, say

_MARK = "# port: "


@dataclass
class Status:
    """The counts of a program in Python.

    Attributes:
        files: how many files of Lua it was.
        missing: of these, those that are not there.
        in_lua: those that Lua still runs.
        functions: functions that Lua still runs, ``file.py: name``.
        marks: how many marks each file has.
    """

    files: int
    missing: list[str] = field(default_factory=list)
    in_lua: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    marks: dict[str, int] = field(default_factory=dict)


def status(folder: str | os.PathLike[str]) -> Status:
    """Look at the files of a program as they are now.

    Raises:
        PortError: ``port`` has not written the folder.
    """
    root = Path(folder)
    known = manifest(root)
    if known is None:
        what = "has no port.json" if root.is_dir() else "is no folder"
        raise PortError(f"{root} {what}; a folder that port has written is accepted")
    found = Status(len(known["files"]))
    for entry in known["files"]:
        path = root / place(entry["module"])
        name = path.relative_to(root).as_posix()
        if not path.is_file():
            found.missing.append(name)
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if re.search(r"\blua\.(module|main)\(", text) and entry["in_lua"] != "data":
            found.in_lua.append(name)
        count = text.count("lua.function(")
        if count:
            found.functions.append(f"{name}: {count}")
        marks = text.count(_MARK)
        if marks:
            found.marks[name] = marks
    return found


def show(folder: str, runs: Sequence[Sequence[str]], seconds: float | None) -> int:
    """Say what is still Lua, and how much of the time of runs that is. Returns the exit code."""
    found = status(folder)
    drafted = found.files - len(found.in_lua) - len(found.missing)
    say(f"{drafted} of {found.files} files are Python.")
    for name in found.missing:
        say(f"not there any more: {printable(name)}")
    for name in found.in_lua:
        say(f"still Lua: {printable(name)}")
    for name in found.functions:
        say(f"functions that are still Lua: {printable(name)}")
    total = sum(found.marks.values())
    say(f"{total} mark{'s' * (total != 1)}" + (":" if total else "."))
    for name, count in sorted(found.marks.items(), key=lambda pair: -pair[1]):
        say(f"  {printable(name)}: {count}")
    for words in runs:
        say(_share(Path(folder), words, seconds))
    return 0


def _share(root: Path, words: Sequence[str], seconds: float | None) -> str:
    """Return how much of a run's time Lua takes."""
    known = manifest(root)
    assert known is not None
    scripts = {e["lua"]: str(place(e["module"])) for e in known["files"] if e["script"]}
    script, arguments = next(iter(scripts.values()), ""), list(words)
    if arguments and arguments[0].endswith((".py", ".lua")):
        named = arguments.pop(0).removeprefix(f"{root}/")
        script = scripts.get(named, named)
    if not (root / script).is_file() or not script:
        raise PortError(f"{root / script} does not exist; the script to run is named first")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "times.json")
        given = [str(out), str(seconds or 0), str(root.resolve()), script, *arguments]
        done = run("check.timing", *given, folder=None, seconds=None)
        if not out.exists():
            raise PortError(f"{script} fails in its run: {[done.returncode, *said(done)][-1]}")
        times: dict[str, Any] = json.loads(out.read_text())
    total = times["python"] + times["lua"]
    share = 100 * times["lua"] / total if total else 0.0
    ended = f"; it ended in: {times['error']}" if times["error"] else ""
    return f"{script}: {share:.0f} % of {times['seconds']:.1f} s run in Lua{ended}"
