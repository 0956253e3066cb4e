"""The arguments of the command, which are read without PyTorch."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what ``port`` accepts."""
    parser.add_argument(
        "file", nargs="+", help="the Lua script, and the files that it loads, or folders of them"
    )
    parser.add_argument(
        "-o", "--out", help="the Python file, or for several the folder (default: beside the Lua)"
    )
    parser.add_argument(
        "--run", metavar="ARGS", help="run the script with these arguments to see its types"
    )
    parser.add_argument(
        "--check",
        metavar="ARGS",
        help="run script and draft with these arguments and compare what they print and save",
    )
    parser.add_argument("--folder", help="where --run runs the script (default: here)")
