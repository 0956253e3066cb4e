"""The command line of Lua: scripts with their arguments, lines of code, and the prompt."""

from __future__ import annotations

import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TextIO

from compat.hints import suggestion
from compat.lua.errors import LuaError, error_text, hint
from compat.lua.interruption import interruptible, message
from compat.lua.prompt import Prompt
from compat.lua.runtime import Runtime
from compat.terminal import complain, printable, say

INTERRUPTED = 130
_FINISH_THREADS = (
    "local threads = package.loaded['threads.threads'] if threads then threads.finish() end"
)

USAGE = """\
usage: {program} [options] [script.lua [arguments...]]

Runs a Torch7 script as `th` does; without a script, reads Lua from the terminal.

options:
  -e CODE           run a line of Lua
  -l NAME           require a package
  -i                go on at the prompt after script or code
  --torch-home DIR  find Lua packages in an old installation or in checkouts
  --original NAMES  packages, with commas between, to take from there instead of ours
  --no-code         leave out the functions in files that are loaded
  --traceback       show where in Python an error arose, too
  -q, --quiet       print no warnings of Python's
  -v, --verbose     --traceback, and each warning's place in Python
  -h, --help        show this text

examples:
  {program} train.lua -epochs 3       # run a script; what follows it are its arguments
  {program} -l nn -e 'print(nn.Linear(2, 3))'
  {program} -l nn -i -e 'net = torch.load("net.t7")'
  {program} --original nn --torch-home ~/torch train.lua"""


_SHORT = {"-h": "--help", "-q": "--quiet", "-v": "--verbose"}
_LONG = re.findall(r"--[a-z-]+", USAGE)


class _UsageError(Exception):
    """The command line is wrong."""


@dataclass
class _Options:
    chunks: list[tuple[str, str]] = field(default_factory=list)  # ("-e" or "-l", text) in order
    prompt: bool = False
    torch_homes: list[str] = field(default_factory=list)
    original: list[str] = field(default_factory=list)
    no_code: bool = False
    traceback: bool = False
    quiet: bool = False
    verbose: bool = False
    help: bool = False
    script: list[str] = field(default_factory=list)


def _parse(arguments: Sequence[str]) -> _Options:
    options = _Options()
    left = list(arguments)

    def value(word: str) -> str:
        if not left:
            raise _UsageError(f"{word} needs a value")
        return left.pop(0)

    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)
        name, equals, given = word.partition("=")
        if name.startswith("--") and equals:
            word = name
            left.insert(0, given)
        word = _SHORT.get(word, word)
        if word in ("-e", "-l"):
            options.chunks.append((word, value(word)))
        elif word[:2] in ("-e", "-l") and len(word) > 2:
            options.chunks.append((word[:2], word[2:]))
        elif word == "-i":
            options.prompt = True
        elif word == "--torch-home":
            options.torch_homes.append(value(word))
        elif word == "--original":
            options.original += filter(None, value(word).split(","))
        elif word == "--no-code":
            options.no_code = True
        elif word in ("--traceback", "--quiet", "--verbose"):
            setattr(options, word[2:], True)
        elif word == "--help":
            options.help = True
        else:
            raise _UsageError(f"unknown option {word}{suggestion(word, _LONG)}")
    if options.quiet and options.verbose:
        raise _UsageError("--quiet and --verbose are given; one of them is accepted")
    options.traceback |= options.verbose
    options.script = left
    return options


def main(arguments: Sequence[str], program: str = "python -m compat.lua") -> int:
    """Run ``[options] [script.lua arguments…]``. Returns the exit code."""
    try:
        code = _main(arguments, program)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (head, say) has what it wanted; keep the interpreter from flushing again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _main(arguments: Sequence[str], program: str) -> int:
    try:
        options = _parse(arguments)
    except _UsageError as error:
        complain(f"{program}: {printable(error)}; see {program} --help")
        return 2
    if options.help:
        print(USAGE.format(program=program))
        return 0
    try:
        runtime = Runtime(standard_output=True)
    except (ImportError, ValueError) as error:  # no lupa, or a wrong DPTABLE_LUA
        complain(f"{program}: {error}")
        return 1
    try:
        runtime.add_packages(options.torch_homes, options.original)
    except NotADirectoryError as error:
        complain(f"{program}: --torch-home: {error}")
        return 2
    with warnings.catch_warnings():
        if options.quiet:
            warnings.simplefilter("ignore")
        elif not options.verbose:
            warnings.showwarning = _show_warning
        try:
            return _run(runtime, options)
        finally:
            runtime.flush()


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print what a script should know; not where in Python it came up."""
    say(f"Warning: {message}", file or sys.stderr)


def _run(runtime: Runtime, options: _Options) -> int:
    runtime.require("trepl")
    runtime.execute("arg = {[0] = 'th'}")
    if options.no_code:
        runtime.execute("require('torch')._t7.without_code = true")
    try:
        with interruptible(runtime):
            for kind, text in options.chunks:
                if kind == "-e":
                    runtime.execute(text, name="=(command line)")
                else:
                    _require(runtime, text)
            if options.script and options.script != ["-"]:
                runtime.run(options.script[0], *options.script[1:])
            elif options.script or not (options.chunks or options.prompt or sys.stdin.isatty()):
                runtime.execute(sys.stdin.buffer.read().decode("latin-1"), name="=stdin")
            if not options.prompt:
                runtime.execute(_FINISH_THREADS)
    except (LuaError, KeyboardInterrupt) as error:
        runtime.flush()
        code = report(error, options.traceback)
        if not options.prompt:
            return code
    if options.prompt or (not (options.script or options.chunks) and sys.stdin.isatty()):
        Prompt(runtime).loop()
    return 0


def _require(runtime: Runtime, name: str) -> None:
    """Call Lua's ``require``; shorten the error about a missing package to one line."""
    try:
        runtime.require(name)
    except LuaError as error:
        found, colon, _ = str(error).partition(" not found:")
        if colon and found == f"module '{name}'":
            raise LuaError(f"{found} not found") from None
        raise


def report(error: BaseException, with_python: bool) -> int:
    """Print an error as Lua does. Returns the exit code."""
    text = message(str(error)) or "interrupted!"
    text += hint(text)
    traceback_of_lua = error.traceback if isinstance(error, LuaError) else ""
    print(error_text(text, traceback_of_lua), file=sys.stderr)
    if with_python:
        cause = error.__cause__ or error
        traceback.print_exception(type(cause), cause, cause.__traceback__)
    sys.stderr.flush()
    interrupted = isinstance(error, KeyboardInterrupt) or text.endswith("interrupted!")
    return INTERRUPTED if interrupted else 1


def leave(code: int) -> NoReturn:
    """End the process; at once where threads are still running, or Ctrl-C asked for it."""
    if code == INTERRUPTED or threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
