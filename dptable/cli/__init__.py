"""The ``dptable`` command: one module here per sub-command.

Each has ``run(args)``, which returns the exit code. ``command_line`` defines their arguments.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from compat.terminal import complain, printable
from dptable import startup
from dptable.cli.command_line import arranged, parser
from dptable.cli.errors import WrongCommandLine, in_one_line
from dptable.memory import keep_freed
from dptable.training.stopping import INTERRUPTED, redirect_to_null

# The arguments that are files.
_FILES = ("file", "files", "data", "resume")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; an error becomes one line on stderr and exit code 1."""
    words = arranged(sys.argv[1:] if argv is None else argv)
    if argv is None:
        # The process is the command's alone.
        for stream in ("stdout", "stderr"):
            if getattr(sys, stream) is None:  # it was closed before the command began
                setattr(sys, stream, open(os.devnull, "w"))  # noqa: SIM115
        keep_freed()
        if not {"-v", "--verbose"} & set(words):
            warnings.showwarning = _show_warning
        if words[:1] == ["lua"]:  # a script's options are its own
            with startup.without_collector():
                lua = importlib.import_module("dptable.cli.lua")
            startup.loaded()
            # Scripts make many tables at once, as when they clone nets.
            gc.freeze()
            gc.set_threshold(5_000)
            lua.leave(lua.main(words[1:]))
    if words[:1] == ["port"]:
        words = importlib.import_module("compat.port.command").joined(words)
    whole = parser()
    if "_ARGCOMPLETE" in os.environ:
        # The shell asks for completions; the package is in the extra [completion].
        importlib.import_module("argcomplete").autocomplete(whole)
    args = whole.parse_args(words)
    if args.quiet and argv is None:
        warnings.simplefilter("ignore")
        os.environ["TQDM_DISABLE"] = "1"  # tqdm, which is not loaded yet, reads it
    with startup.without_collector():
        command = importlib.import_module(f"dptable.cli.{args.command}")
    startup.loaded()
    if argv is None:
        # What is loaded stays: no search for garbage needs to go through all of PyTorch again.
        gc.freeze()
    try:
        code = command.run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (head, say) has what it wanted; keep the interpreter from flushing again.
        redirect_to_null(sys.stdout)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except WrongCommandLine as error:
        complain(f"dptable {args.command}: {error}; see dptable {args.command} --help")
        return 2
    except Exception as error:
        if args.traceback or args.verbose:
            raise
        is_rank = getattr(args, "distributed", False) and "RANK" in os.environ
        rank = f"rank {os.environ['RANK']}: " if is_rank else ""
        complain(f"dptable: {rank}{in_one_line(error, _files(args))}")
        return 1
    finally:
        if argv is None:
            # What PyTorch does at exit takes a while. Ctrl-C ends it without a traceback.
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    line = printable(f"dptable: {message}")
    if sys.stderr.isatty():
        from tqdm import tqdm  # takes a tenth of a second, which most commands do not need

        tqdm.write(line, file=sys.stderr)  # leaves a progress bar whole
    else:
        complain(line)


def _files(args: argparse.Namespace) -> str:
    """Return the files that the command was given."""
    given = next((value for key, value in vars(args).items() if key in _FILES and value), ())
    return given if isinstance(given, str) else " ".join(given)
