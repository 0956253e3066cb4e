"""Whether a draft does what its Lua did: both run, and what they print and save is compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat.port.copies import changes, copied
from compat.port.syntax import PortError

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|-?nan|-?inf")
# The folder of a run, in what ``paths.concat`` makes, for Lua's is absolute.
FOLDER = "dptable-port-"
_FOLDER = re.compile(r"[^\s\"']*/dptable-port-\w+/(?:lua|python|kept)/?|(?<![\w.])\./")
# Of xlua.progress, with times in them.
_BARS = re.compile(r"\r? \[[=>.]{10,}\][^\r\n]*(?:\r|\n\r?)?")
_TOLERANCE = 1e-9
_ADDRESS = re.compile(r"\b0x[0-9a-f]+")
_TEMPORARY = re.compile(r"[\w/.-]*/lua_\w+")  # what os.tmpname gives
_NEAR = 200  # lines that may change places: those of a table
_OVERWRITTEN = "#port-outputs"  # in the mark about results that Torch7 overwrites
_ENDED = -1000  # the exit code of a run whose time was up


@dataclass
class Outcome:
    """What a comparison found.

    ``difference`` is None where all is the same; ``ending`` tells the error with which the script
    ended, if it did; ``moved`` counts the lines that both print, but in another order. ``kept``: it
    is the same where no pass of a net overwrites an earlier result, which the draft has a mark for.
    """

    lines: int
    files: list[str]
    difference: str | None
    ending: str = ""
    moved: int = 0
    kept: bool = False

    def __str__(self) -> str:
        kept = ", where no result is overwritten (port: outputs)" if self.kept else ""
        order = f" ({self.moved} of them in another order)" if self.moved else ""
        saved = f", and {', '.join(self.files)}" if self.files else ""
        return f"{self.lines} lines that both print{order}{saved}{kept}{self.ending}"


def check(
    script: str | os.PathLike[str],
    draft: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    tolerance: float = _TOLERANCE,
    ignore: str | None = None,
    seconds: float | None = None,
    place: str | os.PathLike[str] | None = None,
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

    Raises:
        PortError: the script prints nothing and saves no ``.t7`` file.
    """
    script, draft = Path(script).resolve(), Path(draft).resolve()
    pattern = re.compile(ignore) if ignore else None
    with tempfile.TemporaryDirectory(prefix=FOLDER) as own:
        root = Path(own if place is None else place)
        is_marked = _OVERWRITTEN in draft.read_text(errors="replace")
        languages = ["lua", "python", "kept"] if is_marked else ["lua", "python"]
        given = {language: _begun(script.parent, root, language) for language in languages}

        def ran(language: str, program: Path) -> subprocess.CompletedProcess[str]:
            seeded = [sys.executable, "-m", "compat.port.seeded", language, str(program)]
            return _run([*seeded, *arguments], root / language, seconds)

        def outcome(language: str) -> Outcome:
            lua = ran(language, script)
            difference, moved = _printed(lua, python, script, draft, tolerance, pattern)
            files: list[str] = []
            if difference is None:
                files, difference = _saved(
                    root / language, root / "python", given[language], tolerance
                )
            lines = min(len(run.stdout.splitlines()) for run in (lua, python))
            kept = language == "kept"
            return Outcome(lines, files, difference, _ending(lua), moved, kept)

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
            why = f"; {found.ending.strip()}" if found.ending else ""
            raise PortError(f"{script.name} prints and saves nothing to compare{why}")
        return found


def _begun(source: Path, root: Path, language: str) -> dict[Path, int]:
    """Have a folder for a run, and tell when each ``.t7`` file in it was changed last."""
    folder = root / language
    if not folder.exists():
        folder.mkdir()
        copied(root / "lua" if language == "kept" else source, folder)
    return changes(folder)


def _run(
    command: Sequence[str], folder: Path, seconds: float | None
) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            code = _ENDED
    texts = (text.decode(errors="surrogateescape") for text in (out, err))
    return subprocess.CompletedProcess(command, code, *texts)


def _printed(
    lua: subprocess.CompletedProcess[str],
    python: subprocess.CompletedProcess[str],
    script: Path,
    draft: Path,
    tolerance: float,
    ignore: re.Pattern[str] | None = None,
) -> tuple[str | None, int]:
    """Where what was printed differs first, and how many lines are in another order."""
    places = re.compile(rf"(?:[\w./-]*/)?{re.escape(script.name)}:\d+: ")
    changing = ((_BARS, ""), (_ADDRESS, "0x"), (_TEMPORARY, ""), (_FOLDER, ""), (places, ""))
    a, b = (_without(run.stdout, changing).splitlines() for run in (lua, python))
    if _ENDED in (lua.returncode, python.returncode):
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
            together = _permuted(a[i : i + _NEAR], b[i : i + _NEAR])
            if together:
                moved, checked = moved + together, i + together
                continue
            shown = "\n".join(
                f"  {name}: {text if text is not None else '(nothing more)'}"
                for name, text in ((script.name, one), (draft.name, other))
            )
            where = _places(one if one is not None else other or "", script, draft)
            ending = _ending(python) if other is None else ""
            return f"line {i + 1} of what they print differs:\n{shown}{where}{ending}", moved
    if _ENDED in (lua.returncode, python.returncode):
        return None, moved
    if (lua.returncode == 0) != (python.returncode == 0):
        return (
            f"{script.name} ends with {lua.returncode}, {draft.name} with {python.returncode}"
            f"{_ending(python if python.returncode else lua)}"
        ), moved
    return None, moved


def _without(text: str, changing: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, instead in changing:
        text = pattern.sub(instead, text)
    return text


def _permuted(a: Sequence[str], b: Sequence[str]) -> int:
    """The least number of lines after which both have printed the same, in any order; or 0."""
    surplus: Counter[str] = Counter()
    for i, (one, other) in enumerate(zip(a, b, strict=False), 1):
        surplus[one] += 1
        surplus[other] -= 1
        if not any(surplus.values()):
            return i
    return 0


def _ending(run: subprocess.CompletedProcess[str]) -> str:
    """The last words of a run that failed, and the line of the draft where."""
    lines = [line for line in run.stderr.splitlines() if line.strip()]
    if not run.returncode or not lines:
        return ""
    if "stack traceback:" in lines[1:]:  # Lua's, which comes after the message
        lines = lines[: lines.index("stack traceback:", 1)]
    where = [line.strip() for line in lines if line.strip().startswith("File ") and ".py" in line]
    own = [line for line in where if "/compat/" not in line]
    place = f" ({own[-1]})" if own else ""
    return f"\n  it ended in: {lines[-1]}{place}"


def _places(text: str, script: Path, draft: Path) -> str:
    """The lines of both sources that most look like what printed a text."""
    words = set(re.findall(r"[A-Za-z]{3,}", text))
    if not words:
        return ""
    found = ""
    for path in (script, draft):
        lines = path.read_text(errors="replace").splitlines()
        scored = [
            (len(words & set(re.findall(r"[A-Za-z]{3,}", line))), -i)
            for i, line in enumerate(lines)
            if "print" in line or "write" in line or "format" in line
        ]
        score, number = max(scored, default=(0, 0))
        if score:
            found += f"\n  {path.name}:{1 - number}: {lines[-number].strip()}"
    return found


def alike(one: str, other: str, tolerance: float = _TOLERANCE) -> bool:
    """Whether two lines are the same but for the last digits of their numbers."""
    if one == other:
        return True
    one, other = one.rstrip(), other.rstrip()
    if [w.strip() for w in _NUMBER.split(one)] != [w.strip() for w in _NUMBER.split(other)]:
        return False
    return all(
        _near(a, b, tolerance)
        for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    )


def _near(one: str, other: str, tolerance: float) -> bool:
    a, b = float(one), float(other)
    if one == other or (a != a and b != b):
        return True
    digits = len(one.partition(".")[2].partition("e")[0])
    mantissa = one.partition("e")[2]
    unit = 10.0 ** (int(mantissa or 0) - digits) if digits else 0.0
    size = max(abs(a), abs(b))
    # The last of many digits may be rounded another way; one of few is a difference.
    rounded = 1.01 * unit if unit <= 1e-3 * size else 0.0
    return abs(a - b) <= max(tolerance * size, rounded)


def _saved(
    lua: Path, python: Path, given: Mapping[Path, int], tolerance: float
) -> tuple[list[str], str | None]:
    """The checkpoints that both saved, and what differs in the first that differs."""
    from compat import t7

    def changed(folder: Path, name: Path) -> bool:
        path = folder / name
        return path.is_file() and path.stat().st_mtime_ns != given.get(name)

    files = sorted(p.relative_to(lua) for p in lua.rglob("*.t7"))
    made = [name for name in files if changed(lua, name)]
    for name in made:
        if not changed(python, name):
            return [], f"{name} was saved by the Lua only"
        a, b = t7.load(lua / name, plain=True), t7.load(python / name, plain=True)
        difference = _difference(a, b, str(name), tolerance, set())
        if difference is not None:
            return [], difference
    return [str(name) for name in made], None


def _difference(a: Any, b: Any, place: str, tolerance: float, seen: set[int]) -> str | None:
    import torch

    if id(a) in seen:
        return None
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{place}: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}"
        a, b = a.double(), b.double()
        largest = a.nan_to_num(0, 0, 0).abs().max().item() if a.numel() else 0.0
        same = torch.allclose(a, b, rtol=1e-6, atol=max(tolerance, 1e-6 * largest), equal_nan=True)
        return None if same else f"{place}: the elements differ"
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        near = a == b or abs(a - b) <= max(1e-6 * abs(a), tolerance) or (a != a and b != b)
        return None if near else f"{place}: {a} and {b}"
    if isinstance(a, (list, dict)) or hasattr(a, "__dict__"):
        seen.add(id(a))
        one, other = _entries(a), _entries(b)
        for key in one:
            if key not in other:
                return f"{place}.{key} is missing in Python's"
            found = _difference(one[key], other[key], f"{place}.{key}", tolerance, seen)
            if found is not None:
                return found
        return None
    if isinstance(a, str) and isinstance(b, str):
        same = _FOLDER.sub("", a) == _FOLDER.sub("", b)
        return None if same else f"{place}: {a!r} and {b!r}"
    if isinstance(a, (str, bool)) or a is None:
        return None if a == b else f"{place}: {a!r} and {b!r}"
    return None


def _entries(value: Any) -> dict[Any, Any]:
    from compat import nn

    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return dict(enumerate(value, 1))
    if isinstance(value, nn.Module):
        names = ("weight", "bias", "modules")
        found = {n: getattr(value, n, None) for n in names}
        return {n: v for n, v in found.items() if v is not None}
    return {}
