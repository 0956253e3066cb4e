"""The pages about the code are current, and the files that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

from support.each import each

from docs import make_architecture

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("architecture.md", "journeys.md")]


def test_the_generated_pages_are_current() -> None:
    for name, made in make_architecture.pages().items():
        assert (ROOT / "docs" / name).read_text() == made, "run docs/make_architecture.py"


def named() -> set[str]:
    return {path for page in PAGES for path in re.findall(r"`([\w/]+\.py)`", page.read_text())}


@each("path", {"all": sorted(named())})
def test_files_that_they_name_are_there(path: str) -> None:
    homes = [ROOT, *(ROOT / p for p in ("dptable/container", "dptable/threads"))]
    homes += [ROOT / "compat/nn/core", ROOT / "compat/nn/interchange"]
    assert any((home / path).is_file() for home in homes), path
