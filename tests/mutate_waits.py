"""Remove each wait, hold and device guard in turn, and see that a test on the simulator notices.

    make mutate-waits                  (or: python tests/mutate_waits.py [--only TEXT] [--list])

A *site* is a call that makes a stream wait for another (``wait_stream``, ``wait_event``), that has
memory held for one (``record_stream``, ``keep``), or a block on another device or stream
(``device_guard``, ``on_stream``, ``joined``, ``current`` of lent streams). Each is taken out of a
copy of the packages, and the tests that run on simulated devices are run until the first failure.
Ends with the sites that nobody missed, and exit code 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The quick ones first.
DEFAULT = [
    "tests/dptable/test_simulated_streams.py",
    "tests/compat/cutorch/test_streams.py",
    "tests/dptable/container/test_current_device.py",
    "tests/dptable/test_scatter_gather.py",
    "tests/dptable/test_prefetch.py",
    "tests/dptable/container/test_devices_apart.py",
    "tests/dptable/container/test_recorders.py",
    "tests/dptable/container/test_configurations.py",
    "tests/dptable/container/test_extras.py",
    "tests/compat/cutorch/test_cutorch.py",
    "tests/compat/lua/test_objects.py::test_a_function_that_a_replica_calls_is_on_its_device",
]
STATEMENTS = {"wait_stream", "wait_event", "record_stream", "keep"}
BLOCKS = {"device_guard", "on_stream", "joined", "current"}


@dataclass(frozen=True)
class Site:
    """A place in a file: the lines of a statement or block, and what it is."""

    path: str
    line: int
    column: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.name}"


def _name(call: ast.AST) -> str | None:
    if not isinstance(call, ast.Call):
        return None
    called = ast.unparse(call.func)
    name = called.rpartition(".")[2]
    return None if name == "keep" and called != "accelerators.keep" else name


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self.path = path
        self.sites: list[Site] = []

    def _add(self, call: ast.AST) -> None:
        assert isinstance(call, ast.Call)
        self.sites.append(Site(self.path, call.lineno, call.col_offset, str(_name(call))))

    def visit_Expr(self, node: ast.Expr) -> None:
        if _name(node.value) in STATEMENTS:
            self._add(node.value)
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if _name(item.context_expr) in BLOCKS:
                self._add(item.context_expr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        # stack.enter_context(block())
        if _name(node) == "enter_context" and _name(node.args[0]) in BLOCKS:
            self._add(node.args[0])
        self.generic_visit(node)


class _Remover(ast.NodeTransformer):
    """Puts in place of one call something that does nothing."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (node.lineno, node.col_offset, _name(node)) == (
            self.site.line,
            self.site.column,
            self.site.name,
        ):
            if self.site.name in STATEMENTS:
                return ast.Constant(None)
            return ast.parse("__import__('contextlib').nullcontext()", mode="eval").body
        return self.generic_visit(node)


def sites() -> Iterator[Site]:
    """All sites, file by file."""
    for package in ("compat", "dptable"):
        for path in sorted(ROOT.glob(f"{package}/**/*.py")):
            finder = _Finder(str(path.relative_to(ROOT)))
            finder.visit(ast.parse(path.read_text()))
            yield from finder.sites


def without(site: Site) -> str:
    """The source of the site's file without it."""
    tree = ast.parse((ROOT / site.path).read_text())
    return ast.unparse(ast.fix_missing_locations(_Remover(site).visit(tree)))


def failing_test(folder: Path, arguments: list[str]) -> str | None:
    """The first test that fails with the packages in ``folder``; None if none does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    named = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return named[0] if named else f"pytest ended with {done.returncode}: {done.stdout[-300:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Are waits missed by tests on the simulator?")
    parser.add_argument("--only", default="", help="sites with this in their description")
    parser.add_argument("--list", action="store_true", help="only list the sites")
    parser.add_argument("tests", nargs="*", default=DEFAULT)
    options = parser.parse_args()
    chosen = [site for site in sites() if options.only in str(site)]
    if options.list:
        print("\n".join(map(str, chosen)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for part in ("compat", "dptable", "tests", "docs", "benchmarks", "examples"):
            shutil.copytree(ROOT / part, folder / part)
        for file in ("pyproject.toml", "setup.cfg"):
            shutil.copy(ROOT / file, folder / file)
        if failure := failing_test(folder, options.tests):
            sys.exit(f"the tests fail as they are: {failure}")
        missed = []
        for site in chosen:
            (folder / site.path).write_text(without(site))
            failure = failing_test(folder, options.tests)
            (folder / site.path).write_text((ROOT / site.path).read_text())
            print(f"{site}: {failure or 'NOT MISSED'}", flush=True)
            if failure is None:
                missed.append(site)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} are missed when they are not there")
    if missed:
        sys.exit("not missed:\n" + "\n".join(f"  {site}" for site in missed))


if __name__ == "__main__":
    main()
