"""``dptable lua``: run a Lua script of Torch7 as it is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from compat.lua import command


def add_parser(subparsers: Any) -> None:
    """List the sub-command; ``main`` takes its arguments as they are, before any parser."""
    parser = subparsers.add_parser(
        "lua", help="run a Lua script of Torch7 as it is", add_help=False
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    parser.set_defaults(run=lambda args: main(args.arguments))


def main(arguments: Sequence[str]) -> int:
    """Run the command with what follows ``lua``."""
    return command.main(arguments, program="dptable lua")


def leave(code: int) -> NoReturn:
    """End the process."""
    command.leave(code)
