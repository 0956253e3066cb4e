"""Imports go down: from a room only to rooms that stand below it (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs import make_architecture

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path for package in ("compat", "dptable") for path in ROOT.glob(f"{package}/**/*.py")
)
# The block of the page that lists the rooms, from the top down.
ROOMS = re.findall(
    r"^(?:compat|dptable)/\S*",
    (ROOT / "docs" / "architecture.md").read_text().split("```rooms\n")[1].split("```")[0],
    re.M,
)


# Who imports packages of this project by name and at run time, and why the direction holds.
LATE = {
    "compat/lua/objects/classes.py": "the classes that Lua names",
    "compat/notebook.py": "the page, where a notebook shows a value",
    "compat/port/write/imports.py": "nobody: the drafts that it writes do",
    "compat/port/polish/modules.py": "nobody: the drafts that it reads do",
    "compat/port/library/compat_names.py": "the packages whose names scripts use",
    "compat/port/library/packages.py": "the packages whose names scripts use",
    "compat/port/lua/modules.py": "the drafts that a file in Lua loads",
    "compat/lua/runtime.py": "what Lua code of this package asks for",
    "compat/lua/state.py": "the Luas that lupa has",
    "compat/nn/interchange/counterparts.py": "its own files",
    "compat/t7/objects/registry.py": "the package that a file's class belongs to",
    "compat/threads/serialization.py": "what a job's own program imported",
    "dptable/training/__init__.py": "its own files",
    "dptable/cli/__init__.py": "its own files",
    "dptable/cli/exporting.py": "packages of extras, which may be missing",
}


def room(path: str) -> int:
    """The number of the innermost listed room that a file is in."""
    rooms = [r for r in ROOMS if path == r or (r.endswith("/") and path.startswith(r))]
    assert rooms, f"{path} is in no room of docs/architecture.md"
    return ROOMS.index(max(rooms, key=len))


def modules(path: Path) -> Iterator[str]:
    """The names that a file imports, each with its module, late or for types only included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imported(path: Path) -> set[str]:
    """The files of this project that one imports."""
    found = set()
    for name in modules(path):
        parts = name.split(".")
        tries = ("/".join(parts), "/".join(parts[:-1]))
        forms = [f"{t}{end}" for t in tries for end in (".py", "/__init__.py")]
        found |= {next((form for form in forms if (ROOT / form).is_file()), "")}
    return found - {""}


def test_every_file_is_in_a_room_and_imports_go_down() -> None:
    up = []
    for path in FILES:
        own = path.relative_to(ROOT).as_posix()
        here = room(own)
        up += [f"{own} imports {other}" for other in imported(path) if room(other) < here]
    assert not up, "\n".join(up)


def test_imports_by_name_are_where_they_are_known() -> None:
    by_name = re.compile(r"import_module|__import__")
    found = {p.relative_to(ROOT).as_posix() for p in FILES if by_name.search(p.read_text())}
    assert found == set(LATE)


def test_functionals_import_torch_alone() -> None:
    """So that the source of a function is complete wherever it is copied to."""
    others = {
        f"{path.name} imports {name}"
        for path in (ROOT / "compat" / "nn" / "functional").glob("*.py")
        for name in modules(path)
        if name.split(".")[0] not in ("torch", *sys.stdlib_module_names)
    }
    assert not others, "\n".join(sorted(others))


def drawn() -> dict[str, int]:
    """The beginnings of paths that the picture of the rooms has boxes for, and their rows."""
    rows = {}
    for row, sides in enumerate(make_architecture.ROWS):
        for package, boxes in zip(("dptable", "compat"), sides, strict=True):
            for label, _ in boxes:
                first, *others = label.removesuffix(" …").split(", ")
                folder = f"{first.rpartition('/')[0]}/" if "/" in first and others else ""
                for name in (first, *(folder + other for other in others)):
                    rows[f"{package}/{name}" + ("" if name.endswith(".py") else "/")] = row
    return rows


def test_the_picture_shows_rooms_in_the_order_of_their_imports() -> None:
    rows = drawn()
    for name in rows:
        assert any(listed.startswith(name) for listed in ROOMS), f"{name} is drawn and not listed"

    def row(path: str) -> int | None:
        found = max((n for n in rows if path.startswith(n)), key=len, default=None)
        return None if found is None or path.endswith("/__init__.py") else rows[found]

    up = []
    for path in FILES:
        own = path.relative_to(ROOT).as_posix()
        here = row(own)
        for other in imported(path):
            there = row(other)
            same = own.split("/")[0] == other.split("/")[0]
            if same and here is not None and there is not None and there < here:
                up.append(f"{own} is drawn below {other}, which it imports")
    assert not up, "\n".join(up)


def test_private_functions_of_pytorch_are_named_in_one_file_of_each_package() -> None:
    # torch._t7 is of the Lua runtime.
    private = re.compile(r"\b(torch|c10d)\.(?!_t7\b)(\w+\.)*_[a-z]")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in FILES
        if path.name != "torch_internals.py"
        for line in path.read_text().splitlines()
        if private.search(line)
    ]
    assert not found, "\n".join(found)
