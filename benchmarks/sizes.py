"""How large the code is, and how tangled: the working tree beside a revision.

    python benchmarks/sizes.py [REVISION]

Counts Python and Lua in compat and dptable. Imports count wherever they stand in a file, late and
for types only included. A private access is ``x._name``, where ``x`` is not self, cls or super().
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PACKAGES = ("compat", "dptable")
Sources = dict[str, str]


def working_tree() -> Sources:
    """The sources as they are now, by path."""
    paths = [p for package in PACKAGES for p in ROOT.glob(f"{package}/**/*.*")]
    return {
        p.relative_to(ROOT).as_posix(): p.read_text() for p in paths if p.suffix in (".py", ".lua")
    }


def revision(name: str) -> Sources:
    """Those of a revision."""
    data = subprocess.check_output(["git", "-C", str(ROOT), "archive", name, *PACKAGES])
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {
            member.name: file.read().decode()
            for member in archive
            if member.name.endswith((".py", ".lua")) and (file := archive.extractfile(member))
        }


def imported(tree: ast.Module, sources: Sources) -> Iterator[str]:
    """The files of the same sources that a file imports."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            for path in (name.replace(".", "/"), name.rpartition(".")[0].replace(".", "/")):
                found = [p for p in (f"{path}.py", f"{path}/__init__.py") if p in sources]
                if found:
                    yield found[0]
                    break


def largest_circle(imports: dict[str, set[str]]) -> int:
    """How many files import one another, directly or through others; 0 where none do."""
    reached: dict[str, set[str]] = {}
    for start in imports:
        found: set[str] = set()
        left = list(imports[start])
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                left += imports[path]
        reached[start] = found
    circles = [sum(a in reached[b] for b in reached[a]) for a in reached if a in reached[a]]
    return max(circles, default=0)


def is_private(node: ast.AST) -> bool:
    """Whether a node reads or writes a private attribute of another object."""
    if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
        return False
    owner = node.value.func if isinstance(node.value, ast.Call) else node.value
    own = isinstance(owner, ast.Name) and owner.id in ("self", "cls", "super")
    return not own and not node.attr.endswith("__")


def measured(sources: Sources) -> dict[str, str]:
    """What the table says of some sources."""
    python = {path: ast.parse(text) for path, text in sources.items() if path.endswith(".py")}
    lengths = {path: text.count("\n") for path, text in sources.items()}
    kinds = {
        end: [n for path, n in lengths.items() if path.endswith(end)] for end in (".py", ".lua")
    }
    ordered, longest = sorted(lengths.values()), max(lengths, key=lambda path: lengths[path])
    fullest, count = Counter(str(PurePosixPath(path).parent) for path in sources).most_common(1)[0]
    imports = {path: set(imported(tree, sources)) - {path} for path, tree in python.items()}
    private = sum(is_private(node) for tree in python.values() for node in ast.walk(tree))
    return {
        "files of Python, of Lua": f"{len(kinds['.py'])}, {len(kinds['.lua'])}",
        "lines of Python, of Lua": f"{sum(kinds['.py']):,}, {sum(kinds['.lua']):,}",
        "characters of Python": f"{sum(len(sources[path]) for path in python):,}",
        "longest file": f"{lengths[longest]:,}, {longest}",
        "99 % of the files have at most": f"{ordered[math.ceil(0.99 * len(ordered)) - 1]} lines",
        "files over 500 lines": f"{sum(n > 500 for n in lengths.values())}",
        "fullest folder": f"{count}, {fullest}/",
        "largest circle of imports": f"{largest_circle(imports)} files",
        "private accesses per 1,000 lines": f"{1000 * private / sum(kinds['.py']):.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", nargs="?", help="a revision of git to compare with")
    wanted = parser.parse_args().revision
    columns = [measured(s) for s in ([revision(wanted)] if wanted else []) + [working_tree()]]
    head = ["", *([wanted] if wanted else []), "now"]
    for row in (head, ["---"] * len(head), *([k, *(c[k] for c in columns)] for k in columns[0])):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
