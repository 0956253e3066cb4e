"""The command: a script's draft, what stayed open in it, and whether it does the same."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compat.port.check import checking
from compat.port.check.copies import FOLDER, copied
from compat.port.program import Converted, convert, lua_files, started, summary, targets, write
from compat.port.read.syntax import PortError
from compat.terminal import printable, say


def run(
    files: Sequence[str],
    out: str | None = None,
    run: Sequence[str] = (),
    check: Sequence[str] = (),
    keep: bool = False,
    ignore: str | None = None,
    seconds: float | None = None,
) -> int:
    """Convert Lua files, the script first, and say what was made. Returns the exit code.

    Args:
        out: the folder to write, or for one file NAME.py; None: beside the Lua.
        run: command lines to see the script's types with, one after the other in one copy of its
            folder; what they see is put together. One that begins with the name of another of the
            files runs that one.
        check: command lines to compare script and draft with, likewise, one after the
            other in one copy each; the first difference ends them.
        keep: leave the drafts that are there as they are, with what was edited in them, and only
            compare.
        ignore: a regular expression for what may differ in what they print.
        seconds: how long each run may take; what has happened by then counts.

    Raises:
        PortError: a file cannot be converted, arguments cannot be read, the script fails in its
            run, or there is nothing to compare.
    """
    checks = [_split(arguments) for arguments in check]
    if keep and (run or not checks):
        raise PortError("--keep takes drafts as they are: it needs --check, and no --run")
    if keep:
        made = convert(files)
        paths = list(targets(made, out))
        missing = [str(path) for path in paths if not path.is_file()]
        if missing:
            raise PortError(f"{missing[0]} does not exist; without --keep it is written")
        return _compared(made, paths, checks, ignore, seconds)
    runs = [_split(arguments) for arguments in run]
    with tempfile.TemporaryDirectory() as folder:
        if runs:
            copied(lua_files(files)[0].resolve().parent, Path(folder))
        made = convert(files, runs, folder, seconds)
    written = write(made, out)
    for path, before in written.items():
        named = printable(path)
        say(named if before is None else f"{named} (what was there is {printable(before.name)})")
    for one in made:
        for line, reason, anchor in one.report.marks:
            say(f"{printable(one.source)}:{line}: {reason} [docs/porting.md#port-{anchor}]")
    say(summary(made))
    return _compared(made, list(written), checks, ignore, seconds)


def _compared(
    made: Sequence[Converted],
    paths: Sequence[Path],
    checks: Sequence[Sequence[str]],
    ignore: str | None,
    seconds: float | None,
) -> int:
    """Compare script and drafts, and say what was found. Returns the exit code."""
    with tempfile.TemporaryDirectory(prefix=FOLDER) as place:
        for words in checks:
            number, arguments = started([one.source for one in made], words)
            outcome = checking.check(
                made[number].source, paths[number], arguments,
                ignore=ignore, seconds=seconds, place=place,
            )  # fmt: skip
            if outcome.difference is not None:
                say(outcome.difference)
                return 1
            say(f"The same: {outcome}")
    return 0


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise PortError(f"the arguments {line!r} cannot be read: {error}") from None


def joined(words: Sequence[str]) -> list[str]:
    """A command line with ``--run=-h 5`` for ``--run "-h 5"``: a value may begin as an option."""
    made: list[str] = []
    for word in words:
        if made and made[-1] in ("--run", "--check", "--ignore"):
            made[-1] += f"={word}"
        else:
            made.append(word)
    return made
