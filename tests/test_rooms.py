"""Imports go down: from a room only to rooms that stand below it (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

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


def room(path: str) -> int:
    """The number of the innermost listed room that a file is in."""
    return ROOMS.index(max((r for r in ROOMS if path.startswith(r)), key=len))


def imported(path: Path) -> set[str]:
    """The files of this project that one imports, late or for types only included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            tries = ("/".join(parts), "/".join(parts[:-1]))
            forms = [f"{t}{end}" for t in tries for end in (".py", "/__init__.py")]
            found |= {next((form for form in forms if (ROOT / form).is_file()), "")}
    return found - {""}


def test_every_file_is_in_a_room_and_imports_go_down() -> None:
    up = []
    for path in FILES:
        own = path.relative_to(ROOT).as_posix()
        up += [f"{own} imports {other}" for other in imported(path) if room(other) < room(own)]
    assert not up, "\n".join(up)


def test_private_functions_of_pytorch_are_named_in_one_file_of_each_package() -> None:
    private = re.compile(r"\b(torch|c10d)\.(\w+\.)*_[a-z]")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in FILES
        if path.name != "torch_internals.py"
        for line in path.read_text().splitlines()
        if private.search(line)
    ]
    assert not found, "\n".join(found)
