"""``dptable devices``: the logical devices and what the driver knows of them."""

from __future__ import annotations

import argparse

from compat.terminal import say
from dptable import devices


def run(args: argparse.Namespace) -> int:
    """Print the report once, or again and again."""
    if args.watch is not None:
        devices.watch(args.watch)
        return 0
    report = devices.report()
    say(report.json() if args.json else report.table())
    return 0
