"""``dptable view``: write a page about a .t7 file for a browser; the page loads nothing else."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

import torch

from compat import t7
from compat.nn.source.input.inputs import parsed
from compat.t7.base.atomic_file import atomic_file, check_writable
from compat.terminal import printable, say
from compat.viewer import page
from dptable.container.files import only_kept


def run(args: argparse.Namespace) -> int:
    """Write the page and open it."""
    out = args.out or str(Path(args.file).with_suffix(".html").name)
    if Path(out).exists() and not args.force:
        raise ValueError(f"{out} exists; --force replaces it")
    if args.input:
        parsed(args.input, torch.float32)  # an error before the work
    check_writable(out)
    with only_kept():
        value = t7.load(args.file, mmap=True, map_location="cpu", plain=True)
    text = page(value, Path(args.file).name, input=args.input)
    with atomic_file(out) as file:
        file.write(text.encode())
    say(f"{printable(out)}: {Path(out).stat().st_size:,} bytes")
    if not args.no_browser:
        webbrowser.open(Path(out).resolve().as_uri())
    return 0
