"""``dptable inspect``: what is in a .t7 file, without reading the data of its tensors."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compat import t7
from compat.t7.inspection import Entry

PARAMETERS = ("weight", "bias")
_DEEPEST = 40  # the indentation does not grow any more


def add_parser(subparsers: Any) -> None:
    """Add ``dptable inspect`` to the command line."""
    parser = subparsers.add_parser(
        "inspect",
        help="show what is in a .t7 file",
        description="Show the tables, objects and tensors of a .t7 file as a tree, with classes, "
        "sizes and element types. The data of tensors is not read.",
    )
    parser.add_argument("file", help="the .t7 file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a tree")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the tree, or JSON: ``entries`` as ``compat.t7.inspect`` lists them, and ``total``."""
    entries = list(t7.inspect(args.file))
    total = totals(entries)
    total["file_bytes"] = Path(args.file).stat().st_size
    if args.json:
        listed = [{**asdict(entry), "dtype": _dtype(entry)} for entry in entries]
        print(json.dumps({"entries": listed, "total": total}, indent=2))
        return 0
    for line in tree(entries):
        print(line)
    if not entries:
        print(repr(t7.load(args.file)))
    print(
        f"{total['tensors']:,} tensors of {total['elements']:,} elements, "
        f"{total['parameters']:,} of them parameters; saved from {total['device']}; "
        f"file of {total['file_bytes']:,} bytes"
    )
    return 0


def totals(entries: Iterable[Entry]) -> dict[str, Any]:
    """Counts over a file: ``tensors``, ``elements``, ``parameters``, and their ``device``."""
    tensors = [entry for entry in entries if entry.kind == "tensor"]
    on_gpu = any(entry.typename.startswith("torch.Cuda") for entry in tensors)
    return {
        "tensors": len(tensors),
        "elements": sum(map(_elements, tensors)),
        "parameters": sum(_parameters(tensors)),
        "device": "a GPU" if on_gpu else "the CPU",
    }


def tree(entries: Sequence[Entry]) -> Iterator[str]:
    """A line per entry, indented by depth."""
    paths: list[str] = []
    memory: dict[int, str] = {}
    depths = _depths(entries)
    within = _parameters_within(entries, depths)
    for entry, depth, parameters in zip(entries, depths, within, strict=True):
        del paths[depth:]
        above = paths[-1] if paths else ""
        paths.append(entry.path)
        label = entry.path
        if label.startswith(above):
            label = label[len(above) :].lstrip(".")
        if depth > entry.depth:
            label = "header"
        line = (f"{label}: " if label else "") + _described(entry)
        if parameters and entry.kind == "object":
            line += f", {_counted(parameters, 'parameter')}"
        if entry.storage is not None and memory.setdefault(entry.storage, entry.path) != entry.path:
            line += f", in the memory of {memory[entry.storage]}"
        yield "  " * min(depth, _DEEPEST) + line


def _depths(entries: Iterable[Entry]) -> list[int]:
    """How many entries each entry is in.

    What a class writes before its fields has no name of its own, but is in the object, too.
    """
    paths: list[str] = []
    depths = []
    for entry in entries:
        is_header = entry.depth < len(paths) and paths[entry.depth] == entry.path
        depths.append(entry.depth + is_header)
        del paths[depths[-1] :]
        paths.append(entry.path)
    return depths


def _parameters(entries: Iterable[Entry]) -> Iterator[int]:
    """For each entry, how many parameters it is that were not among the entries before."""
    seen = set()
    for entry in entries:
        is_parameter = entry.kind == "tensor" and entry.path.rpartition(".")[2] in PARAMETERS
        place = (entry.storage, entry.storage_offset, entry.shape)
        yield _elements(entry) if is_parameter and place not in seen else 0
        if is_parameter:
            seen.add(place)


def _parameters_within(entries: Sequence[Entry], depths: Sequence[int]) -> list[int]:
    """For each entry, how many parameters it and what lies in it are."""
    counts = list(_parameters(entries))
    below = [0] * (max(depths, default=0) + 2)  # by depth
    for i in reversed(range(len(entries))):
        depth = depths[i]
        counts[i] += below[depth + 1]
        below[depth + 1] = 0
        below[depth] += counts[i]
    return counts


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _described(entry: Entry) -> str:
    if entry.kind == "reference":
        return f"the same as {entry.target}" if entry.target else "seen above"
    if entry.kind == "object":
        return f"{entry.typename}, version {entry.version:g}"
    if entry.kind == "tensor":
        shape = "x".join(map(str, entry.shape or ()))
        return f"{entry.typename} {shape if _elements(entry) else 'empty'}"
    return f"{entry.typename or entry.kind} of {entry.length:,}"


def _elements(entry: Entry) -> int:
    return math.prod(entry.shape or ())


def _dtype(entry: Entry) -> str | None:
    return None if entry.dtype is None else str(entry.dtype).removeprefix("torch.")
