"""Comparison of a draft with its Lua: both run, and what they print and save is compared."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from compat.port import processes
from compat.port.check.comparing import NEAR, TOLERANCE, alike, difference, permuted
from compat.port.check.copies import FOLDER, PLACE, changes, copied
from compat.port.processes import ENDED, said
from compat.port.read.syntax import PortError

# Of xlua.progress, with times in them.
_LINE = re.compile(r"[\w./-]+\.(?:lua|py):\d+: ")  # before a message of Lua's
_BARS = re.compile(r"\r? \[[=>.]{10,}\][^\r\n]*(?:\r|\n\r?)?")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # of torch.Tester, only where Lua has the command line
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
_TEMPORARY = re.compile(r"[\w/.-]*/lua_\w+")  # what os.tmpname gives
_OVERWRITTEN = "#port-outputs"  # in the mark about results that Torch7 overwrites


@dataclass
class Outcome:
    """The result of a comparison.

    ``difference`` is None where all is the same; ``ending`` tells the error with which the script
    ended, if it did; ``moved`` counts the lines that both print, but in another order; ``left`` are
    files of other formats that both wrote and that are not the same to the byte. ``kept``: it
    is the same where no pass of a net overwrites an earlier result, which the draft has a mark for.
    """

    lines: int
    files: list[str]
    difference: str | None
    ending: str = ""
    moved: int = 0
    kept: bool = False
    left: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kept = ", where no result is overwritten (port: outputs)" if self.kept else ""
        order = f" ({self.moved} of them in another order)" if self.moved else ""
        saved = f", and {', '.join(self.files)}" if self.files else ""
        left = f"; not compared: {', '.join(self.left)}" if self.left else ""
        lines = (
            "1 line that both print" if self.lines == 1 else f"{self.lines} lines that both print"
        )
        return f"{lines}{order}{saved}{kept}{left}{self.ending}"


def check(
    script: str | os.PathLike[str],
    draft: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    tolerance: float = TOLERANCE,
    ignore: str | None = None,
    seconds: float | None = None,
    place: str | os.PathLike[str] | None = None,
    root: Path | None = None,
    home: Path | None = None,
) -> Outcome:
    """Run a script in Lua and its draft in Python, each in a copy of the script's folder.

    Both begin from one seed. Progress bars are left out, and so are the places that Lua puts before
    its messages, ``script.lua:3:``, for a draft has other lines, addresses of tables, names of
    temporary files, and the folder itself. Lines near one another may come in another order, for
    that is how ``pairs`` goes through names; it is said how many do. Where they differ and the
    draft has a mark about results that Torch7 overwrites, it is compared with a run in Lua that
    overwrites none as well.

    Args:
        tolerance: how much numbers that are printed may differ, relatively.
        ignore: a regular expression for what is left out of each line, such as times.
        seconds: how long each may run; then the lines are compared that both have printed.
        place: a folder for the copies: the next check there goes on with the files that this one
            has left.
        root: the folder that is copied; None: the script's.
        home: the folder in it where both run.

    Raises:
        PortError: the script prints nothing and saves nothing that can be compared.
    """
    script, draft = Path(script).resolve(), Path(draft).resolve()
    pattern = re.compile(ignore) if ignore else None
    source = script.parent if root is None else root.resolve()
    inside = Path() if home is None else home.resolve().relative_to(source)
    with tempfile.TemporaryDirectory(prefix=FOLDER) as own:
        root = Path(own if place is None else place)
        is_marked = _OVERWRITTEN in draft.read_text(errors="replace")
        languages = ["lua", "python", "kept"] if is_marked else ["lua", "python"]
        given = {language: _begun(source, root, language) for language in languages}

        def ran(language: str, program: Path) -> subprocess.CompletedProcess[str]:
            place = root / language / inside
            words = [language, str(root / f"{language}.places"), str(program), *arguments]
            return processes.run("check.seeded", *words, folder=place, seconds=seconds)

        def outcome(language: str) -> Outcome:
            lua = ran(language, script)
            places = [root / f"{name}.places" for name in (language, "python")]
            difference, moved = _printed(lua, python, script, draft, places, tolerance, pattern)
            files: list[str] = []
            left: list[str] = []
            if difference is None:
                files, left, difference = _saved(
                    root / language, root / "python", given[language], tolerance
                )
            lines = min(len(run.stdout.splitlines()) for run in (lua, python))
            kept = language == "kept"
            ending = _endings(lua, python)
            for run, name in ((lua, script.name), (python, draft.name)):
                if run.returncode == ENDED:
                    ending += f"; {name} was ended after {seconds:g} seconds"
            return Outcome(lines, files, difference, ending, moved, kept, left)

        python = ran("python", draft)
        found = outcome("lua")
        if found.difference is not None and is_marked:
            kept = outcome("kept")
            if kept.difference is None:
                found = kept
                shutil.rmtree(root / "lua")
                (root / "kept").rename(root / "lua")
        shutil.rmtree(root / "kept", ignore_errors=True)
        if found.difference is None and not found.lines and not found.files:
            ending = found.ending.strip("; \n")
            why = f"; {ending}" if ending else ""
            raise PortError(f"{script.name} prints and saves nothing to compare{why}")
        return found


def _begun(source: Path, root: Path, language: str) -> dict[Path, int]:
    """Have a folder for a run, and tell when each file in it was changed last."""
    folder = root / language
    if not folder.exists():
        folder.mkdir()
        copied(root / "lua" if language == "kept" else source, folder)
    return changes(folder)


def _printed(
    lua: subprocess.CompletedProcess[str],
    python: subprocess.CompletedProcess[str],
    script: Path,
    draft: Path,
    places: Sequence[Path],
    tolerance: float,
    ignore: re.Pattern[str] | None = None,
) -> tuple[str | None, int]:
    """Return where what was printed differs first, and how many lines are in another order."""
    changing = (
        (_BARS, ""),
        (re.compile("|".join(re.escape(str(path)) for path in (script, draft))), ""),  # arg[0]
        (_COLOURS, ""),
        (_ADDRESS, "0x"),
        (_TEMPORARY, ""),
        (PLACE, ""),
        (_LINE, ""),
    )
    a, b = (_without(run.stdout, changing).splitlines() for run in (lua, python))
    if ENDED in (lua.returncode, python.returncode):
        both = min(len(a), len(b)) - 1
        a, b = a[: max(both, 0)], b[: max(both, 0)]
    if ignore:
        a, b = ([ignore.sub("", line) for line in lines] for lines in (a, b))
    moved = checked = 0
    for i in range(max(len(a), len(b))):
        one, other = (lines[i] if i < len(lines) else None for lines in (a, b))
        if i < checked:
            continue
        if one is None or other is None or not alike(one, other, tolerance):
            together = permuted(a[i : i + NEAR], b[i : i + NEAR])
            if together:
                moved, checked = moved + together, i + together
                continue
            shown = "\n".join(
                f"  {name}: {text if text is not None else '(nothing more)'}"
                for name, text in ((script.name, one), (draft.name, other))
            )
            where = _places([lua.stdout, python.stdout], i, places)
            ending = _ending(python) if other is None else _ending(lua) if one is None else ""
            return f"line {i + 1} of what they print differs:\n{shown}{where}{ending}", moved
    if ENDED in (lua.returncode, python.returncode):
        return None, moved
    if lua.returncode != python.returncode:
        return (
            f"{script.name} ends with {lua.returncode}, {draft.name} with {python.returncode}"
            f"{_ending(python if python.returncode else lua)}"
        ), moved
    return None, moved


def _without(text: str, changing: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, instead in changing:
        text = pattern.sub(instead, text)
    return text


def _ending(run: subprocess.CompletedProcess[str]) -> str:
    """Return the last words of a run that failed, and the line of the draft where."""
    # Without the places where a package was looked for.
    lines = [line for line in said(run) if not line.startswith("\tno ")]
    if run.returncode in (0, ENDED) or not lines:
        return ""
    if "stack traceback:" in lines[1:]:  # Lua's, which comes after the message
        lines = lines[: lines.index("stack traceback:", 1)]
    where = [line.strip() for line in lines if line.strip().startswith("File ") and ".py" in line]
    own = [line for line in where if "/compat/" not in line]
    place = f" ({own[-1]})" if own else ""
    return f"\n  it ended in: {lines[-1].rstrip(':')}{place}"


def _endings(
    lua: subprocess.CompletedProcess[str], python: subprocess.CompletedProcess[str]
) -> str:
    """Return the last words of a run that failed, and the draft's if these are others."""
    own, drafts = _ending(lua), _ending(python)
    words = re.sub(r"^.*\.lua:\d+: ", "", own.partition("it ended in: ")[2]).strip()
    other = drafts.replace("it ended", "the draft ended", 1)
    return own if words in drafts else f"{own}{other}, which may be another error"


def _places(outputs: Sequence[str], number: int, told: Sequence[Path]) -> str:
    """Return the statements that printed a line, where it differs, as both runs have told."""
    # What is left out of lines stays as long as it is.
    texts = [_BARS.sub(lambda bar: "\0" * len(bar[0]), output) for output in outputs]
    lines = [text.splitlines(keepends=True) for text in texts]
    both = [some[number] if number < len(some) else "" for some in lines]
    pairs = zip(*(line.lstrip("\0") for line in both), strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    found = ""
    for some, line, path in zip(lines, both, told, strict=True):
        first = len(line) - len(line.lstrip("\0"))
        before = "".join([*some[:number], line[: min(first + same, len(line) - 1)]])
        at = len(before.encode(errors="surrogateescape"))
        text = path.read_text("utf-8", "replace") if line and path.exists() else ""
        begun = [one for one in text.split("\n")[:-1] if int(one.partition(" ")[0]) <= at]
        found += f"\n  {begun[-1].partition(' ')[2]}" if begun else ""
    return found


def _saved(
    lua: Path, python: Path, given: Mapping[Path, int], tolerance: float
) -> tuple[list[str], list[str], str | None]:
    """Return the files that both wrote alike, those that were not compared, and what differs in the
    first that differs or that the Lua alone wrote. Files of Torch7 are compared by what they hold.
    """
    from compat import t7

    def written(folder: Path) -> dict[str, Path]:
        found = (name for name, when in changes(folder).items() if when != given.get(name))
        return {PLACE.sub("", str(name)): folder / name for name in found}

    made, other = written(lua), written(python)
    same, left = [], []
    for name, path in made.items():
        if name not in other:
            return [], [], f"{name} was saved by the Lua only"
        if filecmp.cmp(path, other[name], shallow=False):
            same.append(name)
            continue
        try:
            a, b = (t7.load(one, plain=True) for one in (path, other[name]))
        except t7.T7Error:
            if path.suffix == ".t7":
                raise
            left.append(name)
            continue
        found = difference(a, b, name, tolerance, set())
        if found is not None:
            return [], [], found
        same.append(name)
    return same, left, None
