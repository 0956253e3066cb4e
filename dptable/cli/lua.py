"""``dptable lua``: run a Lua script of Torch7 as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from compat.lua import command


def run(args: Any) -> int:
    """Run the command with parsed arguments."""
    return main(args.arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the command with what follows ``lua``."""
    return command.main(arguments, program="dptable lua")


def leave(code: int) -> NoReturn:
    """End the process with this exit code."""
    command.leave(code)
