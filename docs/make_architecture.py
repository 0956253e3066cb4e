"""Write docs/sources_*.md and two pictures: ``python docs/make_architecture.py``.

The pages list every file with the first line of its docstring. The pictures show the rooms, and a
batch on its way through the container.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent

# The rooms of the picture, in rows from the top down: those of dptable, those of compat.
ROWS: list[tuple[list[tuple[str, str]], list[tuple[str, str]]]] = [
    ([("cli", "the command")], []),
    ([("training", "options, trainer, session")], []),
    ([], [("nn/source", "nets as PyTorch source")]),
    ([("sharding.py, checkpoints.py", "public parts")], [("cudnn", "names, files, converters")]),
    ([("container", "DataParallelTable")], [("nn/interchange", "torch.nn in and out")]),
    ([], [("nn/graph, recurrent", "nngraph, rnn"), ("nn/layers/composed", "of other families")]),
    ([("reducer.py", "sums during backward")], [("nn/layers, criterions", "families")]),
    ([], [("nn/containers", "modules of modules"), ("optim/reports", "what a run tells")]),
    (
        [("threads", "on every device"), ("processes", "membership, blame")],
        [("nn/core", "how any module computes"), ("torch.py", "what PyTorch lacks")],
    ),
    (
        [("comm.py, replicate.py …", "verbs")],
        [("t7", "api, objects, encoding, base"), ("optim", "methods, support")],
    ),
    (
        [("tensors", "copies, sums"), ("hardware", "the driver")],
        [("nn/checks", "is it right"), ("random, cutorch", "numbers, devices")],
    ),
    ([], [("nn/functional", "the formulas: functions of tensors, on torch alone")]),
]

# The stations of a batch, with what passes between them.
STATIONS: list[tuple[str, str]] = [
    ("container/data_parallel_table.py", "forward(input)"),
    ("container/parameters.py", "tie the replicas, copy parameters"),
    ("container/passes.py", "one pass"),
    ("container/split_and_join.py", "split the input"),
    ("container/replicas.py", "one job per replica"),
    ("threads/dispatch.py, worker.py, caller_modes.py", "each in its thread"),
    ("compat/nn/core/module.py, containers/container.py", "each module's updateOutput"),
    ("container/split_and_join.py, tensors/copies.py", "join the outputs"),
]
BACK: list[tuple[str, str]] = [
    ("container/data_parallel_table.py", "backward(input, gradOutput)"),
    ("container/passes.py", "go back"),
    ("container/split_and_join.py", "split the gradient"),
    ("container/gradients.py", "stand ready to sum"),
    ("threads/dispatch.py, worker.py", "each in its thread"),
    ("compat/nn/core/module.py, containers/container.py", "each module's backward"),
    ("container/completed_parameters.py, reducer.py", "sum full buckets onto replica 1"),
    ("processes/member.py, exchange.py", "sum over the processes"),
]


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[0]


def list_of_files(folders: Sequence[str], but: Sequence[str] = ()) -> str:
    """List every file below ``folders``, by folder, except what is below ``but``."""
    lines = []
    files = sorted(
        path
        for path in (p for folder in folders for p in ROOT.glob(f"{folder}/**/*.py"))
        if not any(path.is_relative_to(ROOT / other) for other in but)
    )
    for folder, members in groupby(sorted(files, key=lambda p: p.parent.parts), lambda p: p.parent):
        paths = list(members)
        lines += ["", f"## {folder.relative_to(ROOT).as_posix()}/", "", first_line(paths[0]), ""]
        for path in paths:
            if path.name != "__init__.py" or re.search("^(def|class) ", path.read_text(), re.M):
                lines.append(f"- `{path.name}`: {first_line(path)}")
    return "\n".join(lines).replace("``", "`")


# The pages that list files: title, folders, folders that have a page of their own.
SOURCES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "compat": ("compat", ("compat",), ("compat/nn", "compat/lua", "compat/port")),
    "nn": ("compat.nn", ("compat/nn",), ("compat/nn/interchange", "compat/nn/source")),
    "leaving": ("the way out of compat.nn", ("compat/nn/interchange", "compat/nn/source"), ()),
    "lua": ("compat.lua", ("compat/lua",), ()),
    "port": ("compat.port", ("compat/port",), ()),
    "dptable": ("dptable", ("dptable",), ()),
}


def pages() -> dict[str, str]:
    """The generated files below ``docs``, by name."""
    made = {"rooms.svg": rooms(), "batch.svg": batch()}
    for name, (title, folders, but) in SOURCES.items():
        made[f"sources_{name}.md"] = (
            f"# Files of {title}\n\nMade from the docstrings by `docs/make_architecture.py`. "
            "[Architecture](architecture.md) says how the folders depend on one another.\n"
            f"{list_of_files(folders, but)}\n"
        )
    return made


def _svg(width: int, height: int, shapes: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
    )
    return head + "\n".join(shapes) + "\n</svg>\n"


def _box(x: float, y: float, width: float, name: str, text: str, fill: str) -> str:
    middle = x + width / 2
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="46" rx="5" fill="{fill}" '
        'stroke="#555"/>\n'
        f'<text x="{middle:g}" y="{y + 19:g}" text-anchor="middle" font-weight="bold">'
        f"{escape(name)}</text>\n"
        f'<text x="{middle:g}" y="{y + 37:g}" text-anchor="middle" fill="#444">'
        f"{escape(text)}</text>"
    )


def _arrow(x: float, top: float, bottom: float) -> str:
    return f'<path d="M{x:g} {top:g}V{bottom:g}" stroke="#555" fill="none" marker-end="url(#tip)"/>'


def _fill(name: str) -> str:
    return "#dcebfa" if name.startswith("dptable") else "#e7f3df"


def rooms() -> str:
    """The picture of the rooms: imports go down."""
    bottom = 40 + 58 * len(ROWS)
    shapes = [
        _arrow(30, 40, bottom - 12),
        f'<text x="20" y="{bottom / 2:g}" transform="rotate(-90 20 {bottom / 2:g})" '
        'text-anchor="middle">imports go down</text>',
    ]
    for side, (left, width, title) in enumerate(((50, 380, "dptable"), (450, 480, "compat"))):
        shapes.append(
            f'<text x="{left + width / 2:g}" y="26" text-anchor="middle" font-size="16">'
            f"{title}</text>"
        )
        for row, entries in enumerate(entry[side] for entry in ROWS):
            each = (width - 10 * (len(entries) - 1)) / max(len(entries), 1)
            for i, (name, text) in enumerate(entries):
                x, y = left + i * (each + 10), 40 + 58 * row
                shapes.append(_box(x, y, each, name, text, _fill(title)))
    return _svg(950, bottom, shapes)


def batch() -> str:
    """The picture of a batch's way, forward on the left and back on the right."""
    shapes = []
    for column, (title, stations) in enumerate((("Forward", STATIONS), ("Backward", BACK))):
        x, each = 20 + 430 * column, 390
        shapes.append(
            f'<text x="{x + each / 2:g}" y="24" text-anchor="middle" font-size="16">{title}</text>'
        )
        for row, (name, text) in enumerate(stations):
            y = 36 + 72 * row
            shapes.append(_box(x, y, each, name, text, _fill(f"dptable/{name}")))
            if row + 1 < len(stations):
                shapes.append(_arrow(x + each / 2, y + 46, y + 71))
    return _svg(850, 36 + 72 * len(STATIONS), shapes)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text)
