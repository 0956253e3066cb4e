"""The ``dptable`` command: one module here per sub-command.

Each has ``add_parser(subparsers)``, which adds its arguments and sets ``run`` as their default, and
``run(args)``, which returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from importlib import metadata
from typing import Any, NoReturn

import torch
from tqdm import tqdm

from dptable import startup
from dptable.cli import convert, devices, inspect, lua, train
from dptable.memory import keep_freed
from dptable.training.stopping import INTERRUPTED

COMMANDS = (train, inspect, convert, devices, lua)


class _Parser(argparse.ArgumentParser):
    """Answers a wrong command line with one line, not with the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Refuses the arguments that a sub-command does not know in its own name."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = _Parser(prog="dptable", description="Train Torch7-style networks on several devices.")
    whole.add_argument("--version", action="version", version=_versions())
    whole.set_defaults(traceback=False)
    subparsers = whole.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    for subparser in subparsers.choices.values():
        subparser.add_argument(
            "--traceback", action="store_true", help="show where in the program an error arose"
        )
    return whole


def _versions() -> str:
    try:
        own = metadata.version("dptable")
    except metadata.PackageNotFoundError:
        own = "(not installed)"
    return f"dptable {own}, PyTorch {torch.__version__}, Python {platform.python_version()}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; an error becomes one line on stderr and exit code 1."""
    startup.loaded()
    if argv is None:
        # The process is the command's alone.
        keep_freed()
        warnings.showwarning = _show_warning
        argv = sys.argv[1:]
        if argv[:1] == ["lua"]:  # a script's options are its own
            lua.leave(lua.main(argv[1:]))
    args = parser().parse_args(argv)
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (head, say) has what it wanted; keep the interpreter from flushing again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if args.traceback:
            raise
        is_rank = getattr(args, "distributed", False) and "RANK" in os.environ
        rank = f"rank {os.environ['RANK']}: " if is_rank else ""
        print(f"dptable: {rank}{_in_one_line(error)}", file=sys.stderr)
        return 1


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    line = f"dptable: {message}"
    if sys.stderr.isatty():
        tqdm.write(line, file=sys.stderr)  # leaves a progress bar whole
    else:
        print(line, file=sys.stderr)


def _in_one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
