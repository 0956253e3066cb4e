"""Command lines on the pages are ones that the command accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.paths import ROOT

from compat.port import command as port_command
from dptable.cli import command_line

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def commands(path: Path) -> list[str]:
    """The lines of console and indented blocks that call ``dptable``."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = re.findall(r"^(?:    |\$ )(.*\bdptable .*)$", text, re.MULTILINE)
    return [line for line in lines if re.match(r"dptable |torchrun .*-m dptable ", line)]


FOUND = [(path.name, line) for path in PAGES for line in commands(path)]


def test_the_pages_have_command_lines() -> None:
    assert len(FOUND) > 20


@pytest.mark.parametrize(("page", "line"), FOUND)
def test_the_command_is_accepted(page: str, line: str) -> None:
    words = shlex.split(line.rpartition("dptable ")[2] if "torchrun" in line else line[8:], True)
    if words[:1] == ["lua"]:
        return  # its arguments are the script's
    if words[:1] == ["port"]:
        words = port_command.joined(words)
    args = command_line.parser().parse_args(words)
    assert args.command == words[0]
