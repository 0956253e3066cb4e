"""docs/architecture.md is current, and the files that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import make_architecture

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"


def test_the_page_and_its_pictures_are_current() -> None:
    for name, made in (
        ("architecture.md", make_architecture.page()),
        ("rooms.svg", make_architecture.rooms()),
        ("batch.svg", make_architecture.batch()),
    ):
        assert (ROOT / "docs" / name).read_text() == made, "run docs/make_architecture.py"


def named() -> set[str]:
    hand_written = PAGE.read_text().split(make_architecture.START)[0]
    return set(re.findall(r"`([\w/]+\.py)`", hand_written))


@pytest.mark.parametrize("path", sorted(named()))
def test_files_that_it_names_are_there(path: str) -> None:
    homes = [ROOT, *(ROOT / p for p in ("dptable/container", "dptable/threads"))]
    homes += [ROOT / "compat/nn/core", ROOT / "compat/nn/interchange"]
    assert any((home / path).is_file() for home in homes), path


def test_the_layer_that_it_shows_runs() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    exec(block, {"__name__": "layer"})
