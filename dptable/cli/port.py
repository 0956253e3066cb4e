"""``dptable port``: draft a Python program from a Lua script."""

from __future__ import annotations

from typing import Any

from compat.port import command


def run(args: Any) -> int:
    """Run the command with parsed arguments."""
    return command.run(
        args.file,
        out=args.out,
        run=args.run,
        check=args.check,
        keep=args.keep,
        ignore=args.ignore,
        seconds=args.seconds,
        path=args.path,
        force=args.force,
        show_status=args.status,
        tolerance=args.tolerance,
    )
