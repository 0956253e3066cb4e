"""``dptable devices``: the logical devices and what the driver knows of them."""

from __future__ import annotations

import argparse
from typing import Any

from compat.cutorch import ENVIRONMENT_VARIABLE
from dptable import devices


def add_parser(subparsers: Any) -> None:
    """Add ``dptable devices`` to the command line."""
    parser = subparsers.add_parser(
        "devices",
        help="list the devices, their GPU ids, use and connections",
        description="List the logical devices: GPU id, PyTorch's name, memory, use, health and "
        f"connections. The environment variable {ENVIRONMENT_VARIABLE} sets another list.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of a table")
    form.add_argument(
        "--watch",
        type=float,
        metavar="SECONDS",
        nargs="?",
        const=2.0,
        help="print the table anew, every 2 seconds if not told, until Ctrl-C",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the report once, or again and again."""
    if args.watch is not None:
        devices.watch(args.watch)
        return 0
    report = devices.report()
    print(report.json() if args.json else report.table())
    return 0
