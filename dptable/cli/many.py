"""Convert many files: a table at the end, and a machine-readable report."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from compat import strict_json
from compat.t7.base.atomic_file import atomic_file
from compat.terminal import complain, printable, say
from dptable.cli.errors import WrongCommandLine, in_one_line
from dptable.cli.leaving import Result, can_be_imported

REPORT = "report.json"


def attempt(file: str, out: str, one: Callable[[str, str], Result]) -> dict[str, Any]:
    """Convert ``file`` to ``out``; return what the reports tell of it, also if it failed."""
    row: dict[str, Any] = {"file": file, "out": out, "form": Path(out).suffix[1:]}
    try:
        found = one(file, out)
    except WrongCommandLine:
        raise
    except Exception as error:
        return row | {"result": "failed", "out": None, "reason": in_one_line(error, file)}
    told = {"difference": found.difference, "input": found.input, "names": found.names}
    return row | {"result": "written", "bytes": os.stat(out).st_size} | told


def convert(
    files: list[str], form: str, folder: str, one: Callable[[str, str], Result], json: bool
) -> int:
    """Convert each file into a folder; return 1 if any failed, else 0.

    Args:
        files: the .t7 files.
        form: the suffix of the files to write.
        folder: the folder to write to; it is made if it is missing.
        one: converts one file to another.
        json: print the report instead of a table.
    """
    os.makedirs(folder, exist_ok=True)
    rows: list[dict[str, Any]] = []
    taken: set[str] = set()
    for file in tqdm(files, unit="file", leave=False, disable=None if len(files) > 1 else True):
        out = os.path.join(folder, f"{_name(file, form, taken)}.{form}")
        rows.append(attempt(file, out, one))
    with atomic_file(Path(folder, REPORT)) as report:
        report.write(f"{strict_json.dumps(rows, indent=1)}\n".encode())
    failed = sum(row["result"] == "failed" for row in rows)
    where = printable(folder)
    if json:
        print(strict_json.dumps(rows, indent=1))
    else:
        _show(rows)
        say(f"{len(rows) - failed} of {len(rows)} files written to {where}; see {REPORT} there")
    if failed:
        complain(f"dptable: {failed} of {len(rows)} files failed")
    return int(failed > 0)


def _name(file: str, form: str, taken: set[str]) -> str:
    """Return a file's name without its suffix; for source, a name that Python can import."""
    stem = Path(file).stem
    if form == "py":
        stem = re.sub(r"\W", "_", stem)
        stem = stem if can_be_imported(stem) else f"net_{stem}"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}_{count}"
    taken.add(name)
    return name


def _show(rows: list[dict[str, Any]]) -> None:
    """Print a table."""
    heads = ("file", "form", "result", "largest difference", "reason")
    table: list[tuple[str, ...]] = [heads]
    for row in rows:
        difference = "" if row.get("difference") is None else f"{row['difference']:.1e}"
        cells = row["file"], row["form"], row["result"], difference, row.get("reason", "")
        table.append(tuple(map(printable, cells)))
    widths = [max(len(line[i]) for line in table) for i in range(len(heads) - 1)]
    for line in table:
        print(
            "  ".join(
                cell.ljust(width) for cell, width in zip(line, [*widths, 0], strict=True)
            ).rstrip()
        )
