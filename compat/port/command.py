"""The command: a script's draft, what stayed open in it, and whether it does the same."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from compat.port import checking
from compat.port.program import convert, started, summary, write


def run(
    files: Sequence[str],
    out: str | None = None,
    run: Sequence[str] = (),
    check: Sequence[str] = (),
    ignore: str | None = None,
    seconds: float | None = None,
) -> int:
    """Convert Lua files, the script first, and say what was made. Returns the exit code.

    Args:
        out: the folder to write, or for one file NAME.py; None: beside the Lua.
        run: the command lines to see the script's types with.
        check: the command lines to compare script and draft with. One that begins with the name of
            another of the files runs that one.
        ignore: a regular expression for what may differ in what they print.
        seconds: how long each run may take; what has happened by then counts.

    Raises:
        PortError: a file cannot be converted, the script fails in its run, or there is nothing to
            compare.
    """
    made = convert(files, seconds=seconds, more_runs=[shlex.split(line) for line in run])
    paths = write(made, out)
    for path in paths:
        print(path)
    for one in made:
        for line, reason, anchor in one.report.marks:
            print(f"{one.source}:{line}: {reason} [docs/porting.md#port-{anchor}]")
    print(summary(made))
    for given in check:
        number, arguments = started([one.source for one in made], shlex.split(given))
        outcome = checking.check(
            made[number].source, paths[number], arguments, ignore=ignore, seconds=seconds
        )
        if outcome.difference is not None:
            print(outcome.difference)
            return 1
        saved = f", and {', '.join(outcome.files)}" if outcome.files else ""
        kept = ", where no result is overwritten (port: outputs)" if outcome.kept else ""
        print(f"The same{kept}: {outcome.lines} lines that both print{saved}{outcome.ending}")
    return 0
