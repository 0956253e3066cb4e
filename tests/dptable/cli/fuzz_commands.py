"""Runs command lines drawn from the definition of the command line itself.

The short form runs in the tests; the long form is

    python tests/dptable/cli/fuzz_commands.py --lines 10000

Each line is a sub-command with options, in any order, and values that fit more or less: numbers at
the ends of ranges and beyond, names of files that are there, are not, are folders, are damaged.
It must end with 0; with 1 and one line of error; or with 2 and one line that names the option.
Nothing else may come of it: no traceback, no word of Python's about types. Training is cut off
before its first step. A line derives from the seed and its number: ``--first N --lines 1``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).parents[2]))
from support.mutations import Endless, ending

ENDLESS = 60
_PER_FOLDER = 200
_BUGS = (
    *("object has no attribute", "not subscriptable", "unsupported operand", "unhashable"),
    *("'NoneType'", "unexpected keyword", "positional argument", "not iterable", "Overflow"),
    *("cannot be interpreted as", "local variable", "Traceback", "not callable", "bad allocation"),
)
_NUMBERS = (
    *("0", "1", "2", "-1", "1.5", "1e300", "-1e300", "1e-300", "nan", "inf", "-inf", "1e999", ""),
    *("99999999", "9" * 30, "9" * 5000, "0x10", "1_000", "٣", "08", "1e3", "4", "8", "true"),
)
_WORDS = (
    *("net.t7", "data.t7", "none.t7", "folder", "empty", "broken.t7", "run", ".", "", " "),
    *("out.py", "out.svg", "out.dot", "out.onnx", "out.pt", "out.t7", "out.safetensors", "o.html"),
    *("script.lua", "broken.lua", "none.lua", "a\x1b[2Jb", "new\nline", "é", "-", "--", "*", "a,b"),
    *("cpu", "cpu,cpu", "cuda:0", "1,2", "0", "auto", "1x2", "1x0", "long:1x2", "axb", "1x2,1x3"),
    *("cosine", "30,40", "gloo", "nccl", "foo", "cpu:gloo", "(", "[", "\\", "(?P<a>x)", "x" * 300),
    *("\x00", "no/such/folder/x.t7", "net.t7/x", "-o", "--help", "--version"),
)


def drawn(chance: random.Random) -> list[str]:
    """A command line."""
    from dptable.cli import command_line

    whole = command_line.parser()
    [subparsers] = [a.choices for a in whole._actions if isinstance(a, argparse._SubParsersAction)]
    name = chance.choice(sorted(subparsers))
    if name == "lua":
        options = ("-e", "-l", "-i", "-h", "--no-code", "--torch-home", "-x", "--seed")
        words = [chance.choice((*options, *_WORDS, "x = 1")) for _ in range(chance.randint(0, 4))]
        return ["lua", *words]
    left_out = ("help", "traceback", "verbose")  # errors are shown with their stack
    actions = [a for a in subparsers[name]._actions if a.dest not in left_out]
    line: list[str] = []
    for action in chance.sample(actions, min(len(actions), chance.choice((0, 1, 1, 2, 3, 5)))):
        line += _option(action, chance) if action.option_strings else []
    for action in actions:
        if not action.option_strings and chance.random() < 0.95:
            line[:0] = [_value(action, chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    if chance.random() < 0.05:
        line.insert(chance.randint(0, len(line)), chance.choice(_WORDS))
    return [name, *line]


def _option(action: argparse.Action, chance: random.Random) -> list[str]:
    flag = chance.choice(action.option_strings)
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return [flag]
    value = _value(action, chance)
    return [f"{flag}={value}"] if flag.startswith("--") and chance.random() < 0.5 else [flag, value]


def _value(action: argparse.Action, chance: random.Random) -> str:
    if action.choices and chance.random() < 0.8:
        return str(chance.choice(list(action.choices)))
    kind = getattr(action.type, "__name__", "str")
    if kind in ("int", "float") and chance.random() < 0.8:
        return chance.choice(_NUMBERS)
    return chance.choice(_WORDS)


def _prepare() -> None:
    """What the command lines find in their folder."""
    import torch

    from compat import nn, t7
    from dptable import checkpoints
    from dptable.training import Options

    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
    t7.save("net.t7", net)
    images, labels = torch.ones(12, 1, 8, 8), torch.arange(12).remainder(3) + 1
    t7.save("data.t7", {"data": images, "labels": labels})
    Path("broken.t7").write_bytes(t7.dumps(net)[:200])
    Path("empty").touch()
    Path("folder").mkdir()
    t7.save("folder/a.t7", {"a": 1})
    Path("script.lua").write_text("print(arg and #arg)")
    Path("broken.lua").write_text("print((")
    opt = vars(Options(model="mlp", data="data.t7"))
    checkpoints.save("run", 1, nn.Sequential(nn.Linear(64, 3)), {"learningRate": 0.1}, opt=opt)


@contextlib.contextmanager
def harmless() -> Iterator[None]:
    """No training, browser, endless watching or reading of the terminal."""
    from dptable import devices
    from dptable.cli import selftest
    from dptable.training.session import Session

    watch = devices.watch
    with (
        mock.patch.object(Session, "run", lambda self: 0),
        mock.patch("webbrowser.open"),
        mock.patch.object(devices, "watch", lambda interval: watch(interval, rounds=1)),
        mock.patch.object(selftest, "CHECKS", {"nothing": lambda: "ok"}),
        mock.patch("sys.stdin", io.StringIO("")),
    ):
        yield


def run_line(line: list[str]) -> int:
    """Run a command line and check how it ends."""
    from compat import cutorch
    from dptable.cli import main

    out, err = io.StringIO(), io.StringIO()
    place = os.getcwd()
    try:
        with ending(ENDLESS), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(line)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
    finally:
        os.chdir(place)
        cutorch.configure(None)
    said = err.getvalue()
    assert code in (0, 1, 2), code
    whole = said + ("" if line[0] == "lua" else out.getvalue())
    assert whole.replace("\n", "").replace("\t", "").isprintable(), "escapes"
    if line[0] != "lua":
        assert not any(bug in said for bug in _BUGS), said
    if code == 2:
        assert said.startswith("dptable") and said.count("\n") == 1, said
    elif code == 1 and line[0] not in ("lua", "port", "inspect", "convert"):
        assert said.startswith("dptable: ") and said.count("\n") == 1, said
    return code


def run(first: int, lines: int, seed: int) -> list[int]:
    """Run command lines; how many ended with 0, 1 and 2."""
    warnings.simplefilter("ignore")
    codes = [0, 0, 0]
    for start in range(first, first + lines, _PER_FOLDER):
        with _folder():
            for number in range(start, min(start + _PER_FOLDER, first + lines)):
                line = drawn(random.Random(seed * 1_000_003 + number))
                try:
                    codes[run_line(line)] += 1
                except (Exception, Endless) as error:
                    raise AssertionError(f"line {number}, {line}: {error!r}") from error
    return codes


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _prepare()
            yield
        finally:
            os.chdir(before)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run command lines drawn by chance.")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    started = time.perf_counter()
    with harmless():
        codes: Any = run(arguments.first, arguments.lines, arguments.seed)
    seconds = time.perf_counter() - started
    print(f"{codes[0]} well, {codes[1]} errors, {codes[2]} refused, none failed, {seconds:.0f} s")


if __name__ == "__main__":
    main()
