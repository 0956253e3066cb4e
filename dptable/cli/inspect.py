"""``dptable inspect``: list the contents of .t7 files without reading tensor data."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compat import strict_json, t7
from compat.t7.inspection import Entry
from compat.terminal import complain, printable, say
from dptable.cli.file_tree import Branch, tensors, tree_of

SUFFIXES = (".t7", ".t7b", ".th7", ".th", ".net", ".dat")
_MOST = 50_000  # entries that are listed of a file
_DEEPEST = 40  # the indentation does not grow any more
_MOST_OPTIONS = 12  # that stand behind the class of an object
_LONGEST = 60  # characters of a string
# How the manual orders what layers are made of: planes, kernel, step, padding.
_ORDER = re.compile("(.*[iI]nput)|(.*[oO]utput)|(k[TWH]$)|(d[TWH]$)|(pad)")
# What all modules have, and what tells nothing that the tensors do not.
_USUAL_FIELDS = ("_type", "train")


def run(args: argparse.Namespace) -> int:
    """Print trees, tables of tensors, or JSON; or draw a picture.

    The JSON object has ``entries``, as ``compat.t7.inspect`` lists them, and ``total``, with
    ``unlisted_bytes`` if a file has more than is listed. For several files it is a list of objects,
    each with ``file``.
    """
    files = list(_files(args.file))
    if args.graph is not None:
        if len(files) > 1:
            raise ValueError(f"file is {len(files)} files; with --graph, one is accepted")
        # Late: the nets, which nothing else here needs.
        from dptable.cli.picture import draw

        say(draw(files[0], args.graph))
        return 0
    if len(files) == 1:
        say(_told(files[0], args))
        return 0
    listed: list[Any] = []
    failed = False
    for i, file in enumerate(files):
        try:
            told = _told(file, args)
        except (OSError, t7.T7Error) as error:
            failed = True
            told = ""
            complain(f"dptable: {str(error).splitlines()[0]}")
        if args.json:
            listed += [{"file": file, **json.loads(told)}] if told else []
        elif told:
            say("\n" * (i > 0) + f"{printable(file)}:\n{told}")
    if args.json:
        print(strict_json.dumps(listed, indent=2))
    return int(failed)


def _files(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files, and for each folder the files in it with a suffix of Torch7's."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        found = sorted(p for p in Path(path).rglob("*") if p.suffix in SUFFIXES and p.is_file())
        if not found:
            raise ValueError(f"{path} has no file named *.t7; a folder with such is accepted")
        yield from map(str, found)


def _told(file: str, args: argparse.Namespace) -> str:
    """Return the text about a file."""
    entries = list(t7.inspect(file, most=None if args.all else _MOST))
    unlisted = entries.pop().nbytes if entries[-1].kind == "unlisted" else 0
    root = tree_of(entries)
    total = totals(entries, root)
    total["file_bytes"] = Path(file).stat().st_size
    if unlisted:
        total["unlisted_bytes"] = unlisted
    if args.json:
        listed = [{**asdict(entry), "dtype": _dtype(entry)} for entry in entries]
        return strict_json.dumps({"entries": listed, "total": total}, indent=2)
    lines = list(_tensors(root) if args.tensors else tree(root))
    unread = next((entry.nbytes for entry in entries if entry.kind == "unread"), None)
    if unread:
        lines.append(
            f"{_counted(unread, 'byte')} at the end of the file "
            f"{'is' if unread == 1 else 'are'} not part of this object"
        )
    if unlisted:
        lines.append(f"… {_counted(unlisted, 'byte')} more; --all lists what is in them, too")
    lines.append(
        f"{'at least ' if unlisted else ''}"
        f"{_counted(total['tensors'], 'tensor')} of {_counted(total['elements'], 'element')}, "
        f"{total['parameters']:,} of them parameters; saved from {total['device']}; "
        f"file of {total['file_bytes']:,} bytes"
    )
    return "\n".join(lines)


def totals(entries: Iterable[Entry], root: Branch) -> dict[str, Any]:
    """Count a file's ``tensors``, ``elements`` and ``parameters``; tell their ``device``."""
    tensors = [entry for entry in entries if entry.kind == "tensor"]
    on_gpu = any(entry.typename.startswith("torch.Cuda") for entry in tensors)
    return {
        "tensors": len(tensors),
        "elements": sum(entry.elements for entry in tensors),
        "parameters": sum(branch.parameters for branch in root.below),
        "device": "a GPU" if on_gpu else "the CPU",
    }


def tree(root: Branch) -> Iterator[str]:
    """Yield a line per entry, indented by depth; the values of an object stand behind its class."""
    memory: dict[int, str] = {}
    stack = [(branch, 0) for branch in reversed(root.below)]
    while stack:
        branch, depth = stack.pop()
        entry = branch.entry
        below = branch.below
        line = f"{branch.label}: " if branch.label else ""
        if entry.kind == "object":
            options = [b for b in below if b.entry.kind == "value"]
            shown = [b for b in options if b.label not in _USUAL_FIELDS]
            inline = len(shown) <= _MOST_OPTIONS
            if inline:
                below = [b for b in below if b.entry.kind != "value"]
            below = [b for b in below if not _is_cleared(b)]
            line += _class(branch, sorted(shown, key=_rank) if inline else [])
        else:
            line += _described(branch)
        if (
            entry.storage is not None
            and memory.setdefault(entry.storage, branch.path) != branch.path
        ):
            line += f", in the memory of {memory[entry.storage]}"
        yield "  " * min(depth, _DEEPEST) + line
        stack += [(b, depth + 1) for b in reversed(below)]


def _is_cleared(branch: Branch) -> bool:
    """Return whether this is an empty ``output`` or ``gradInput`` of a module."""
    entry = branch.entry
    count = entry.elements if entry.kind == "tensor" else entry.length
    return (
        branch.label in ("output", "gradInput") and entry.kind in ("tensor", "table") and not count
    )


def _rank(option: Branch) -> tuple[int, int]:
    """Return the position of an option among those of an object."""
    found = _ORDER.match(option.label)
    return (found.lastindex if found and found.lastindex else 9, "TWH".find(option.label[-1:]))


def _class(branch: Branch, options: Sequence[Branch]) -> str:
    entry = branch.entry
    given = ", ".join(f"{option.label}={_value(option.entry.value)}" for option in options)
    line = entry.typename + (f"({given})" if given else "") + f", version {entry.version:g}"
    if branch.parameters:
        line += f", {_counted(branch.parameters, 'parameter')}"
    return line


def _tensors(root: Branch) -> Iterator[str]:
    """Yield a line per tensor: place, class, sizes, and the tensor whose memory it shares."""
    memory: dict[int, str] = {}
    rows = []
    for path, entry in tensors(root):
        assert entry.storage is not None
        owner = memory.setdefault(entry.storage, path)
        shared = "" if owner == path else f"in the memory of {owner}"
        rows.append((path or "tensor", entry.typename, _size(entry), shared))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _described(branch: Branch) -> str:
    entry = branch.entry
    if entry.kind == "reference":
        same = branch.target
        if same is not None and same.hidden:
            return _described(same) if same.entry.kind != "object" else _class(same, [])
        path = entry.target if same is None else same.path
        return f"the same as {path}" if path else "seen above"
    if entry.kind == "value":
        return _value(entry.value)
    if entry.kind == "values":
        return f"{_counted(entry.length or 0, 'more value')}"
    if entry.kind == "tensor":
        return f"{entry.typename} {_size(entry)}"
    elements = f": {', '.join(map(str, entry.value))}" if entry.value else ""
    return f"{entry.typename or entry.kind} of {entry.length:,}{elements}"


def _value(value: Any) -> str:
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}… of {len(value):,}"
    return repr(value)


def _size(entry: Entry) -> str:
    return "x".join(map(str, entry.shape or ())) if entry.elements else "empty"


def _dtype(entry: Entry) -> str | None:
    return None if entry.dtype is None else str(entry.dtype).removeprefix("torch.")
