"""The command: a script's draft, what stayed open in it, and whether it does the same."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from compat.port.check import check
from compat.port.program import convert, summary, write
from compat.port.syntax import PortError


def run(args: Any) -> int:
    """Convert the files of parsed arguments. Returns the exit code."""
    program = args.program if hasattr(args, "program") else "dptable port"
    try:
        return _run(args)
    except PortError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1


def _run(args: Any) -> int:
    arguments = shlex.split(args.run) if args.run is not None else None
    made = convert(args.file, arguments, args.folder)
    paths = write(made, args.out)
    for path in paths:
        print(path)
    for one in made:
        for line, reason, anchor in one.report.marks:
            print(f"{one.source}:{line}: {reason} [docs/porting.md#port-{anchor}]")
    print(summary(made))
    if args.check is None:
        return 0
    outcome = check(made[0].source, paths[0], shlex.split(args.check))
    if outcome.difference is not None:
        print(outcome.difference)
        return 1
    saved = f", and {', '.join(outcome.files)}" if outcome.files else ""
    print(f"The same: {outcome.lines} lines that both print{saved}")
    return 0
