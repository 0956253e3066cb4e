"""Pieces of Lua, written by hand and at random, do the same as their drafts, or have a mark."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.port import SideBySide

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

TESTS = Path(__file__).parents[2]
PATHS = [
    path
    for path in sorted(Path(__file__).with_name("pieces").glob("*.lua"))
    if path.stem != "errors" or sys.version_info >= (3, 11)  # before, no error tells its column
]
PIECES = {
    f"{path.stem}: {name}": text
    for path in PATHS
    for name, text in re.findall(r"^-- # (.*)\n((?:(?!-- # ).*\n)*)", path.read_text(), re.M)
}
# Which drafts do something else behind a run, and why.
DIFFER = {
    "torch.factory makes objects of the program's classes",  # a layer's field that nobody has set
    "nothing that is given on",  # collectgarbage('step') is true in Lua
    "any arguments as a key",  # a table that is kept with nil at its end
}
PROGRAMS, PER_TEST = 200, 50
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def run() -> Iterator[SideBySide]:
    """One Lua for all."""
    from support.port import SideBySide

    yield SideBySide()


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_a_piece_and_its_draft_print_the_same(piece: str, run: SideBySide) -> None:
    made = run(f"require 'torch'\n{piece}")
    assert made.python == made.lua, made.draft


@SLOW
@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_pieces_and_their_drafts_behind_a_run_print_the_same(path: Path) -> None:
    command = [sys.executable, "-m", "support.port", "--run", str(path)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^-- # (.*)", path.read_text(), re.M)
    assert re.findall(r"^=== \S+ (.*): \w+$", done.stdout, re.M) == [
        name for name in names if name in DIFFER
    ], done.stdout


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("Program", 0),
        *(pytest.param("Program", n, marks=SLOW) for n in range(PER_TEST, PROGRAMS, PER_TEST)),
        ("Wide", 0),
    ],
)
def test_random_programs_do_the_same_or_have_a_mark(kind: str, first: int, run: SideBySide) -> None:
    from support import random_lua, random_lua_wide

    kinds = {"Program": random_lua.Program, "Wide": random_lua_wide.Wide}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # 1 is None
        for number in range(first, first + PER_TEST):
            text = kinds[kind](7, number).text()
            made = run(text)
            assert made.is_marked or made.python == made.lua, f"{text}\n{made.draft}"
