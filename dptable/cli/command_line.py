"""The arguments of ``dptable`` and its sub-commands.

This module does not import PyTorch, which takes seconds to load: help and errors come at once.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import platform
import re
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

from dptable.cli.argument_parser import ArgumentParser
from dptable.training.options import SECONDS, Options

# What the help of the command ends with, and that of each sub-command: commands, and what they do.
EXAMPLES_OF_ALL = (
    ("dptable inspect model.t7", "open a .t7 file; view shows it in a browser"),
    ("dptable lua train.lua -epochs 3", "run a Lua script"),
    ("dptable convert model.t7 model.py", "leave for PyTorch: source, ONNX, tensors"),
    ("dptable port train.lua -o draft", "write a draft of a script in Python"),
    ("dptable train --model resnet --ngpus 2", "train on several devices"),
)
EXIT_STATUS = "exit status: 0 done, 1 an error, 2 a wrong command line, 130 Ctrl-C"
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "train": (
        ("dptable train --model lenet --ngpus 2", "the digits that come along, on two devices"),
        ("dptable train --data my.t7 --epochs 160 --schedule 80,120", "data of your own"),
        ("dptable train --resume runs/lenet --epochs 40", "go on from a checkpoint"),
    ),
    "inspect": (
        ("dptable inspect model.t7", "the file as a tree"),
        ("dptable inspect --tensors model.t7", "sizes and types of all tensors"),
        ("dptable inspect --graph net.svg model.t7", "a picture of the net"),
    ),
    "convert": (
        ("dptable convert model.t7 model.py", "PyTorch source, with model.safetensors"),
        ("dptable convert model.t7 model.onnx --input 1x3x224x224", "ONNX"),
        ("dptable convert *.t7 --to safetensors -o out", "many files, with a report"),
    ),
    "view": (
        ("dptable view model.t7", "write model.html and open it"),
        ("dptable view model.t7 -o page.html --no-browser", "write the page only"),
    ),
    "devices": (
        ("dptable devices", "a table of the devices"),
        ("dptable devices --watch 1", "the table again every second"),
    ),
    "selftest": (
        ("dptable selftest", "one line for each part, and whether it works"),
        ("dptable selftest --traceback", "with the place of a failure"),
    ),
    "port": (
        ("dptable port train.lua -o draft", "a draft without a run"),
        ('dptable port train.lua -o draft --run "-epochs 1"', "with the types that a run shows"),
        ('dptable port train.lua -o draft --check "-epochs 1"', "compare script and draft"),
    ),
}


# What the name of a file in place of a command stands for.
_OF_FILES = {".lua": "dptable lua", ".t7": "dptable inspect"}
# What other programs call a command.
_OTHER_NAMES = {
    "version": "--version",
    "run": "lua",
    "open": "view",
    "load": "inspect",
    "show": "inspect",
    "export": "convert",
}


class _Whole(ArgumentParser):
    """The parser of the whole command line."""

    def suggestion(self, word: str, choices: list[str]) -> str:
        if word in _OTHER_NAMES:
            return f" (did you mean {_OTHER_NAMES[word]}?)"
        command = next((_OF_FILES[end] for end in _OF_FILES if word.endswith(end)), "")
        return (
            f" (did you mean {command} {word}?)" if command else super().suggestion(word, choices)
        )


def arranged(words: Sequence[str]) -> list[str]:
    """Return a command line with the command first, whose options may come before it.

    ``help convert`` becomes ``convert --help``.
    """
    words = list(words)
    if words[:1] == ["help"]:
        return [*(word for word in words[1:2] if word != "help"), "--help"]
    place = next((i for i, word in enumerate(words) if word in COMMANDS), 0)
    if place and words[0].startswith("-") and words[0] != "--version":
        return [words[place], *words[:place], *words[place + 1 :]]
    return words


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    whole = _Whole(
        prog="dptable",
        description="Run, open, convert and port what Torch7 left behind, and train networks on "
        "several devices.",
    )
    whole.show_examples(*EXAMPLES_OF_ALL)
    whole.epilog = f"{whole.epilog}\n\n{EXIT_STATUS}"
    whole.add_argument("--version", action="version", version=_versions())
    whole.set_defaults(traceback=False, quiet=False, verbose=False)
    # The sub-commands have the class without the rules for the whole.
    subparsers = whole.add_subparsers(metavar="COMMAND", required=True, parser_class=ArgumentParser)
    for add in COMMANDS.values():
        add(subparsers)
    for command, subparser in subparsers.choices.items():
        subparser.set_defaults(command=command)
        if command in EXAMPLES:
            subparser.show_examples(*EXAMPLES[command])
        subparser.add_argument(
            "--traceback", action="store_true", help="show where in the program an error arose"
        )
        amount = subparser.add_mutually_exclusive_group()
        amount.add_argument(
            "-q", "--quiet", action="store_true", help="no warnings and no progress bar"
        )
        amount.add_argument(
            "-v", "--verbose", action="store_true", help="--traceback, and each warning's place"
        )
    return whole


def _add_lua(subparsers: Any) -> None:
    """Add the sub-command ``lua``, which parses its own arguments."""
    command = subparsers.add_parser(
        "lua", help="run a Lua script of Torch7 as it is", add_help=False
    )
    command.add_argument("arguments", nargs=argparse.REMAINDER)


def _add_port(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "port",
        help="turn a Lua script of Torch7 into a draft in Python",
        description="Write the Python of Lua files. With --run, the types are those that a run of "
        "the script sees; with --check, script and draft both run, and what they do is compared.",
    )
    parser.add_argument(
        "file",
        nargs="+",
        type=_path,
        help="the Lua script, which brings the files that it loads, or a folder",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=_path,
        help="the folder of the program in Python, or one NAME.py (default: beside it)",
    )
    parser.add_argument(
        "--run",
        metavar="ARGS",
        action="append",
        default=[],
        help="run the script with these arguments to see its types; may be given several times",
    )
    parser.add_argument(
        "--check",
        metavar="ARGS",
        action="append",
        default=[],
        help="run script and draft with these arguments and compare what they print and save; "
        "may be given several times",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="with --check, leave the drafts that are there as they were edited, and compare",
    )
    parser.add_argument(
        "--ignore",
        type=_pattern,
        metavar="PATTERN",
        help="with --check, leave out what matches, such as times: a regular expression",
    )
    parser.add_argument(
        "--tolerance",
        type=_share,
        metavar="SHARE",
        default=1e-9,
        help="with --check, how much printed numbers may differ; 1e-6 where they have 32 bits",
    )
    parser.add_argument(
        "--path",
        type=_path,
        metavar="FOLDER",
        action="append",
        default=[],
        help="where require looks, too: a folder, or a template like lib/?.lua; several times",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder that has files; those that were edited stay as they are",
    )
    parser.add_argument(
        "--status",
        action="store_true",
        help="say what is still Lua in a folder that was written, and with --run for how long",
    )
    parser.add_argument(
        "--seconds", type=_seconds, help="end each run after so long, and take what has happened"
    )


def _versions() -> str:
    try:
        own = metadata.version("dptable")
    except metadata.PackageNotFoundError:
        own = "(not installed)"
    pytorch = metadata.version("torch")
    return f"dptable {own}, PyTorch {pytorch}, Python {platform.python_version()}"


def _parser(field: dataclasses.Field[Any]) -> Callable[[str], Any]:
    """Return the function that converts an option's text to its value."""
    kind: Any = type(field.default)

    def parse(text: str) -> Any:
        value = kind(text)
        if "choices" not in field.metadata:  # argparse says it better
            try:
                Options.checked(field.name, value)
            except (ValueError, TypeError) as error:
                raise argparse.ArgumentTypeError(str(error)) from None
        return value

    parse.__name__ = kind.__name__
    return parse


def _seconds(text: str) -> float:
    value = float(text)
    if value not in SECONDS:
        raise argparse.ArgumentTypeError(f"{text} is given; {SECONDS}, in seconds, is accepted")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is given; a number from 0 on is accepted")
    return value


_seconds.__name__ = _share.__name__ = "float"  # what errors call it


def _path(text: str) -> str:
    """Return the name of a file or folder; an empty one is a wrong command line."""
    if not text or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is given; the name of a file is accepted")
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is given; a regular expression is accepted, and this is none: {error}"
        ) from None
    return text


def _add_train(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "train",
        help="train a network on several devices",
        description="Train a network on several devices, or go on with an interrupted training.",
        argument_default=argparse.SUPPRESS,
    )
    for field in dataclasses.fields(Options):
        argument: dict[str, Any] = {"help": field.metadata["help"]}
        default = field.default
        if isinstance(default, bool):
            argument["action"] = argparse.BooleanOptionalAction
            default = "yes" if default else "no"
        else:
            argument |= {"type": _parser(field), "choices": field.metadata.get("choices")}
        if default != "":
            argument["help"] += f" (default: {default})"
        parser.add_argument("--" + field.name.replace("_", "-"), **argument)
    parser.add_argument(
        "--devices",
        help="where to train: GPU ids like 1,2, names like cpu,cpu or cuda:0,cuda:0, or auto for "
        "the idle devices that are connected best, as many as --ngpus says or else all",
    )
    parser.add_argument(
        "--output",
        type=_path,
        help="folder of checkpoints and curves (default: that of --resume, or a new one: "
        "runs/MODEL, runs/MODEL-2, …)",
    )
    parser.add_argument(
        "--resume",
        type=_path,
        metavar="FOLDER",
        help="go on from the checkpoint in this folder",
    )
    parser.add_argument(
        "--distributed",
        action="store_true",
        help="be one of the processes that torchrun starts, and drive this one's share of the "
        "devices, or --ngpus of them",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        help="seconds to wait for another process (default: %(default)s)",
    )
    parser.add_argument(
        "--backend", help="of torch.distributed (default: gloo, for GPUs together with nccl)"
    )
    parser.set_defaults(
        **{"devices": None, "output": None, "resume": None},
        **{"distributed": False, "timeout": 300.0, "backend": None},
    )


def _drawing(text: str) -> str:
    if not text.endswith((".svg", ".dot")):
        raise argparse.ArgumentTypeError(
            f"out is {text}; a name that ends in .svg or .dot is accepted"
        )
    return text


def _add_inspect(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "inspect",
        help="show what is in .t7 files",
        description="Show the tables, objects, tensors and values of .t7 files as trees, with "
        "classes, options, sizes and element types. The data of tensors is not read.",
    )
    parser.add_argument(
        "file", nargs="+", type=_path, help="a .t7 file, or a folder with .t7 files"
    )
    parser.add_argument("--all", action="store_true", help="list a file of any size to its end")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of a tree")
    form.add_argument(
        "--tensors", action="store_true", help="print a table of all tensors instead of a tree"
    )
    form.add_argument(
        "--graph",
        metavar="OUT",
        type=_drawing,
        help="draw the nets of one file into OUT, an .svg, or a .dot in Graphviz' language",
    )


def _add_convert(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "convert",
        help="turn a .t7 file into PyTorch source, ONNX, .safetensors, .pt or another .t7",
        description="Write what is in a .t7 file in another form. NAME.py is the net as PyTorch "
        "source, which needs torch alone, with NAME.safetensors beside it; .onnx and .pt2 are the "
        "net for other programs. A .safetensors or .pt file gets the tensors by name; the names of "
        "a net's are those of net.to_torch().state_dict(). Several files: --to FORM -o FOLDER.",
        usage="%(prog)s [options] FILE.t7 OUT\n"
        "       %(prog)s [options] FILE.t7 ... --to FORM -o FOLDER",
    )
    parser.add_argument(
        "files", nargs="+", type=_path, metavar="FILE", help="the .t7 file, then the file to write"
    )
    parser.add_argument(
        "--to",
        choices=("py", "onnx", "pt2", "safetensors", "pt"),
        help="with -o, the form in which every file is written",
    )
    parser.add_argument("-o", "--out", type=_path, metavar="FOLDER", help="where --to writes")
    parser.add_argument("--force", action="store_true", help="replace .py, .onnx and .pt2 files")
    parser.add_argument(
        "--json", action="store_true", help="print JSON: result, difference, or reason of a failure"
    )
    net = parser.add_argument_group("for .py, .onnx and .pt2")
    _add_input(net)
    net.add_argument("--net", metavar="PLACE", default="", help="which net of the file: protos.rnn")
    net.add_argument(
        "--indices-from-one",
        action="store_true",
        help="leave indices into tables as Torch7 counts them (otherwise they count from 0)",
    )
    parser.add_argument(
        "--to-cpu",
        action="store_true",
        help="turn the types of GPUs, and cudnn's layers, into nn's",
    )
    parser.add_argument(
        "--strip-dpt",
        action="store_true",
        help="put its first tower in place of every DataParallelTable",
    )
    precision = parser.add_mutually_exclusive_group()
    precision.add_argument("--float", action="store_true", help="convert to single precision")
    precision.add_argument("--half", action="store_true", help="convert to half precision")
    layout = parser.add_argument_group("for .t7")
    layout.add_argument("--ascii", action="store_true", help="write text")
    layout.add_argument(
        "--long-size",
        type=int,
        choices=(4, 8),
        help="bytes of a whole number: 8 by default, 4 for 32-bit machines and Windows",
    )


def _add_selftest(subparsers: Any) -> None:
    subparsers.add_parser(
        "selftest",
        help="check this installation in a few seconds",
        description="Train a small net, write and read a .t7 file, divide a batch between two "
        "replicas, and run a line of Lua. The exit status is 1 if one of these fails.",
    )


def _add_view(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "view",
        help="show what is in a .t7 file in a browser",
        description="Write one page, which loads nothing else, and open it: nets as graphs and "
        "tables to fold and unfold, parameters, memory, multiply-adds, histograms of weights, "
        "curves, filters and images.",
    )
    parser.add_argument("file", type=_path, help="the .t7 file")
    parser.add_argument(
        "-o", "--out", type=_path, help="the page (default: the file's name with .html, here)"
    )
    parser.add_argument("--force", action="store_true", help="replace a page that exists")
    parser.add_argument("--no-browser", action="store_true", help="do not open the page")
    _add_input(parser)


def _add_input(parser: Any) -> None:
    parser.add_argument(
        "--input",
        metavar="SIZES",
        default="",
        help="the net's input: 1x3x224x224; with commas between several; long:1x10 for indices",
    )


def _add_devices(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "devices",
        help="list the devices, their GPU ids, use and connections",
        description="List the logical devices: GPU id, PyTorch's name, memory, use, health and "
        "connections. The environment variable DPTABLE_DEVICES sets another list.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of a table")
    form.add_argument(
        "--watch",
        type=_seconds,
        metavar="SECONDS",
        nargs="?",
        const=2.0,
        help="print the table anew, every 2 seconds if not told, until Ctrl-C",
    )


# In the order of the help.
COMMANDS: dict[str, Callable[[Any], None]] = {
    "inspect": _add_inspect,
    "view": _add_view,
    "lua": _add_lua,
    "port": _add_port,
    "convert": _add_convert,
    "train": _add_train,
    "devices": _add_devices,
    "selftest": _add_selftest,
}
