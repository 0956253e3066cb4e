"""The command: a script's draft, what stayed open in it, and whether it does the same."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from compat.port import checking
from compat.port.program import convert, summary, write


def run(
    files: Sequence[str],
    out: str | None = None,
    run: str | None = None,
    check: str | None = None,
    ignore: str | None = None,
    seconds: float | None = None,
) -> int:
    """Convert Lua files, the script first, and say what was made. Returns the exit code.

    Args:
        out: the folder to write, or for one file NAME.py; None: beside the Lua.
        run: the command line to see the script's types with; None: do not run it.
        check: the command line to compare script and draft with; None: do not.
        ignore: a regular expression for what may differ in what they print.
        seconds: how long each run may take; what has happened by then counts.

    Raises:
        PortError: a file cannot be converted, the script fails in its run, or there is nothing to
            compare.
    """
    made = convert(files, None if run is None else shlex.split(run), seconds=seconds)
    paths = write(made, out)
    for path in paths:
        print(path)
    for one in made:
        for line, reason, anchor in one.report.marks:
            print(f"{one.source}:{line}: {reason} [docs/porting.md#port-{anchor}]")
    print(summary(made))
    if check is None:
        return 0
    outcome = checking.check(
        made[0].source, paths[0], shlex.split(check), ignore=ignore, seconds=seconds
    )
    if outcome.difference is not None:
        print(outcome.difference)
        return 1
    saved = f", and {', '.join(outcome.files)}" if outcome.files else ""
    print(f"The same: {outcome.lines} lines that both print{saved}{outcome.ending}")
    return 0
