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


# Who imports packages of this project by name and at run time, and why the direction holds.
LATE = {
    "compat/t7/objects/registry.py": "the package that a file's class belongs to",
    "compat/threads/serialization.py": "what a job's own program imported",
    "dptable/training/__init__.py": "its own files",
    "dptable/cli/__init__.py": "its own files",
    "dptable/cli/convert.py": "safetensors, which may be missing",
}


def room(path: str) -> int:
    """The number of the innermost listed room that a file is in."""
    rooms = [r for r in ROOMS if path == r or (r.endswith("/") and path.startswith(r))]
    assert rooms, f"{path} is in no room of docs/architecture.md"
    return ROOMS.index(max(rooms, key=len))


def imported(path: Path) -> set[str]:
    """The files of this project that one imports, late or for types only included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
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
        here = room(own)
        up += [f"{own} imports {other}" for other in imported(path) if room(other) < here]
    assert not up, "\n".join(up)


def test_imports_by_name_are_where_they_are_known() -> None:
    by_name = re.compile(r"import_module|__import__")
    found = {p.relative_to(ROOT).as_posix() for p in FILES if by_name.search(p.read_text())}
    assert found == set(LATE)


def test_rooms_and_those_of_the_picture_are_there_and_in_one_order() -> None:
    assert all((ROOT / name).exists() for name in ROOMS)
    for side, package in enumerate(("dptable", "compat")):
        heights = [
            [_drawn(package, name) for label, _ in row[side] for name in label.split(", ")]
            for row in make_architecture.ROWS
        ]
        # A box stands for all rooms in its folder; the lowest is below those of the rows above.
        order = [max(numbers) for row in heights if row for numbers in row]
        assert order == sorted(order), package


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
