"""The command: a program's draft, what stayed open in it, and whether it does the same."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compat.port.check import checking
from compat.port.check.comparing import TOLERANCE
from compat.port.check.copies import FOLDER, copied, copy_of
from compat.port.program import make, planned, started, summary
from compat.port.project import status
from compat.port.project.drafting import Made
from compat.port.project.folder import refuse, targets, write
from compat.port.project.following import follow, shown
from compat.port.project.modules import place
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
    path: Sequence[str] = (),
    force: bool = False,
    show_status: bool = False,
    tolerance: float = TOLERANCE,
) -> int:
    """Convert a program, its script first, and say what was made. Returns the exit code.

    Args:
        files: the script, which brings the files that it loads; others that belong to the program,
            or a folder of all.
        out: the folder to write, or for one NAME.py; None: beside the Lua.
        run: command lines to see the script's types with, one after the other in one copy of its
            folder; what they see is put together. One that begins with the name of another of the
            files runs that one.
        check: command lines to compare script and draft with, likewise, one after the
            other in one copy each; the first difference ends them.
        keep: leave the drafts that are there as they are, with what was edited in them, and only
            compare.
        ignore: a regular expression for what may differ in what they print.
        seconds: how long each run may take; what has happened by then counts.
        path: folders, or templates like ``lib/?.lua``, where ``require`` looks, too.
        force: write into a folder that has files; edited ones stay as they are.
        show_status: say what is still Lua in the folder of a program in Python, and nothing else;
            ``run`` then measures how much of the time that is.
        tolerance: how much printed numbers may differ, relatively.

    Raises:
        PortError: a file cannot be converted, arguments cannot be read, the script fails in its
            run, or there is nothing to compare.
    """
    runs = [_split(arguments) for arguments in run]
    checks = [_split(arguments) for arguments in check]
    if show_status:
        if len(files) != 1 or check or keep or out is not None:
            raise PortError("--status takes the folder of a program in Python, and --run besides")
        return status.show(files[0], runs, seconds)
    if keep and (run or not checks):
        raise PortError("--keep takes drafts as they are: it needs --check, and no --run")
    program = follow(files, path)
    refuse(program, out, force, keep)
    for words in checks:
        started(program, words)
    if keep:
        made = planned(program)
        paths = targets(made, out)
        missing = [str(path) for path in paths if not path.is_file()]
        if missing:
            raise PortError(f"{missing[0]} does not exist; without --keep it is written")
        return _compared(made, paths, checks, ignore, seconds, tolerance)
    with tempfile.TemporaryDirectory() as folder:
        if runs:
            copied(program.root, Path(folder))
        made = make(program, runs, copy_of(program.home, program.root, Path(folder)), seconds)
    written = write(made, out, force)
    for target in (path for path in written.files if path not in written.kept):
        say(printable(target))
    for target, old in written.aside.items():
        say(f"{printable(target)}: what was there is {printable(old.name)}")
    for target, new in written.kept.items():
        say(f"{printable(target)} was edited and stays; the new draft is {printable(new.name)}")
    if written.lost:
        shown = " ".join(f"--run {shlex.quote(line)}" for line in written.lost)
        say(f"The drafts before had the types of a run, these have not; to have them: {shown}")
    _tell(made)
    return _compared(made, written.files, checks, ignore, seconds, tolerance)


def _tell(made: Made) -> None:
    """Say what is called otherwise, what cannot be read, and what stayed open."""
    for words, how in made.ended:
        say(f'--run "{printable(shlex.join(words))}" {how}; what it met by then counts')
    for reason in made.program.left:
        say(f"{printable(reason)}; it is left out")
    for source, reason in made.renamed.items():
        module = next(one.module for one in made.files if one.source == source)
        name = os.path.relpath(source, made.program.root)
        say(f"{printable(name)} becomes {place(module)}: {reason}")
    for one in made.files:
        for line, reason, anchor in one.report.marks:
            say(f"{printable(shown(one.source))}:{line}: {reason} [docs/porting.md#port-{anchor}]")
    say(summary(made.files))


def _compared(
    made: Made,
    paths: Sequence[Path],
    checks: Sequence[Sequence[str]],
    ignore: str | None,
    seconds: float | None,
    tolerance: float,
) -> int:
    """Compare script and drafts, and say what was found. Returns the exit code."""
    program = made.program
    with tempfile.TemporaryDirectory(prefix=FOLDER) as place:
        for words in checks:
            number, arguments = started(program, words)
            outcome = checking.check(
                made.files[number].source, paths[number], arguments,
                tolerance=tolerance, ignore=ignore, seconds=seconds, place=place,
                root=program.root, home=program.home,
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
    """Return a command line with ``--run=-h 5`` for ``--run "-h 5"``: a value may begin as an
    option.
    """
    made: list[str] = []
    for word in words:
        if made and made[-1] in ("--run", "--check", "--ignore"):
            made[-1] += f"={word}"
        else:
            made.append(word)
    # argparse drops a value that is "--", even behind "="; arguments are split at spaces later.
    return [
        f"{word[:-2]} --" if word.startswith("--") and word.endswith("=--") else word
        for word in made
    ]
