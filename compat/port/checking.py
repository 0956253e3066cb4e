"""Whether a draft does what its Lua did: both run, and what they print and save is compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat.port.syntax import PortError

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|-?nan|-?inf")
# Of xlua.progress, with times in them; each goes over the last, behind "\r".
_BARS = re.compile(r"\r*[^\n\r]*\[[=>.]{10,}\][^\n\r]*(?:\r*\n|\r+)?")
_TOLERANCE = 1e-9
_COPIED, _MANY = 256 << 20, 5_000  # bytes, and files
_OVERWRITTEN = "#port-outputs"  # in the mark about results that Torch7 overwrites
_SWAPPED = 20  # so many lines may be in another order
_ENDED = -1000  # the exit code of a run whose time was up


@dataclass
class Outcome:
    """What a comparison found.

    ``difference`` is None where all is the same; ``ending`` tells the error with which the script
    ended, if it did. ``kept``: it is the same where no pass of a net overwrites an earlier result,
    which the draft has a mark about.
    """

    lines: int
    files: list[str]
    difference: str | None
    ending: str = ""
    kept: bool = False


def check(
    script: str | os.PathLike[str],
    draft: str | os.PathLike[str],
    arguments: Sequence[str] = (),
    tolerance: float = _TOLERANCE,
    ignore: str | None = None,
    seconds: float | None = None,
) -> Outcome:
    """Run a script in Lua and its draft in Python, each in a copy of the script's folder.

    Both begin from one seed. Where they differ and the draft has a mark about results that Torch7
    overwrites, it is compared with a run in Lua that overwrites none as well. Progress bars are
    left out, and so are the places that Lua puts before its messages, ``script.lua:3:``, for a
    draft has other lines.

    Args:
        tolerance: how much numbers that are printed may differ, relatively.
        ignore: a regular expression for what is left out of each line, such as times.
        seconds: how long each may run; then the lines are compared that both have printed.

    Raises:
        PortError: the script prints nothing and saves no ``.t7`` file.
    """
    script, draft = Path(script).resolve(), Path(draft).resolve()
    pattern = re.compile(ignore) if ignore else None
    with tempfile.TemporaryDirectory() as place:

        def ran(language: str, program: Path) -> tuple[subprocess.CompletedProcess[str], Path]:
            folder = Path(place, language)
            _copy(script.parent, folder)
            seeded = [sys.executable, "-m", "compat.port.seeded", language, str(program)]
            return _run([*seeded, *arguments], folder, seconds), folder

        def outcome(language: str) -> Outcome:
            lua, folder = ran(language, script)
            difference = _printed(lua, python, script, draft, tolerance, pattern)
            files: list[str] = []
            if difference is None:
                files, difference = _saved(folder, python_folder, script.parent, tolerance)
            lines = min(len(run.stdout.splitlines()) for run in (lua, python))
            return Outcome(lines, files, difference, _ending(lua), language == "kept")

        python, python_folder = ran("python", draft)
        found = outcome("lua")
        if found.difference is not None and _OVERWRITTEN in draft.read_text(errors="replace"):
            kept = outcome("kept")
            found = kept if kept.difference is None else found
        if found.difference is None and not found.lines and not found.files:
            why = f"; {found.ending.strip()}" if found.ending else ""
            raise PortError(f"{script.name} prints and saves nothing to compare{why}")
        return found


def _copy(source: Path, folder: Path) -> None:
    """Have the files that a script may read in the folder where it runs.

    What is small is copied, for a script may write to it; large files and folders of many are
    linked.
    """
    left, files = _COPIED, 0
    for path, folders, names in os.walk(source):
        here = folder / Path(path).relative_to(source)
        here.mkdir(exist_ok=True)
        names = [name for name in names if not name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += len(names)
        for name in names:
            given = Path(path, name)
            size = given.stat().st_size if given.exists() else left + 1
            if size <= left:
                shutil.copy2(given, here / name)
                left -= size
            else:
                (here / name).symlink_to(given)
        if files > _MANY:
            for name in folders:
                (here / name).symlink_to(Path(path, name))
            folders.clear()


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
    # What is in the folder has another path in the other run.
    texts = (
        written.decode("utf-8", "surrogateescape").replace(f"{folder}/", "")
        for written in (out, err)
    )
    return subprocess.CompletedProcess(command, code, *texts)


def _printed(
    lua: subprocess.CompletedProcess[str],
    python: subprocess.CompletedProcess[str],
    script: Path,
    draft: Path,
    tolerance: float,
    ignore: re.Pattern[str] | None = None,
) -> str | None:
    """Where what was printed differs first."""
    places = re.compile(rf"(?:[\w./-]*/)?{re.escape(script.name)}:\d+: ")
    a, b = (_BARS.sub("", places.sub("", run.stdout)).splitlines() for run in (lua, python))
    if _ENDED in (lua.returncode, python.returncode):
        both = min(len(a), len(b)) - 1
        a, b = a[: max(both, 0)], b[: max(both, 0)]
    if ignore:
        a, b = ([ignore.sub("", line) for line in lines] for lines in (a, b))
    i = 0
    while i < max(len(a), len(b)):
        if swapped := _in_another_order(a[i:], b[i:]):
            i += swapped
            continue
        one, other = (lines[i] if i < len(lines) else None for lines in (a, b))
        if one is None or other is None or not alike(one, other, tolerance):
            shown = "\n".join(
                f"  {name}: {text if text is not None else '(nothing more)'}"
                for name, text in ((script.name, one), (draft.name, other))
            )
            where = _places(one if one is not None else other or "", script, draft)
            ending = _ending(python) if other is None else ""
            return f"line {i + 1} of what they print differs:\n{shown}{where}{ending}"
        i += 1
    if _ENDED in (lua.returncode, python.returncode):
        return None
    if (lua.returncode == 0) != (python.returncode == 0):
        return (
            f"{script.name} ends with {lua.returncode}, {draft.name} with {python.returncode}"
            f"{_ending(python if python.returncode else lua)}"
        )
    return None


def _in_another_order(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines come next that are the same in another order, as ``pairs`` may give them."""
    if a and b and a[0] != b[0]:
        for count in range(2, min(len(a), len(b), _SWAPPED) + 1):
            if a[count - 1] in b[:count] and sorted(a[:count]) == sorted(b[:count]):
                return count
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
    one, other = (re.sub(r"\b0x[0-9a-f]+", "0x", text).rstrip() for text in (one, other))
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


def _saved(lua: Path, python: Path, source: Path, tolerance: float) -> tuple[list[str], str | None]:
    """The checkpoints that both saved, and what differs in the first that differs."""
    from compat import t7

    made = sorted(
        p.relative_to(lua)
        for p in lua.rglob("*.t7")
        if p.is_file() and not _is_given(p, lua, source)
    )
    for name in made:
        if not (python / name).is_file():
            return [], f"{name} was saved by the Lua only"
        a, b = t7.load(lua / name, plain=True), t7.load(python / name, plain=True)
        difference = _difference(a, b, str(name), tolerance, set())
        if difference is not None:
            return [], difference
    return [str(name) for name in made], None


def _is_given(path: Path, root: Path, source: Path) -> bool:
    """Whether a file is one of the script's folder, as it was."""
    if any(part.is_symlink() for part in (path, *path.parents) if part.is_relative_to(root)):
        return True
    twin, own = source / path.relative_to(root), path.stat()
    if not twin.is_file():
        return False
    theirs = twin.stat()
    return (own.st_size, own.st_mtime_ns) == (theirs.st_size, theirs.st_mtime_ns)


def _difference(a: Any, b: Any, place: str, tolerance: float, seen: set[int]) -> str | None:
    import torch

    if id(a) in seen:
        return None
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{place}: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}"
        same = torch.allclose(a.double(), b.double(), rtol=1e-6, atol=1e-9, equal_nan=True)
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
