"""All pages: links lead somewhere, and no page is too long to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

from dptable.cli import main

PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def headings(path: Path) -> set[str]:
    """The anchors of a page, as GitHub and MkDocs make them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@page
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), target
        if anchor:
            assert anchor in headings(place), target


@page
def test_a_page_has_400_lines_at_most(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


# Where the Python of a page is run.
RUN_BY = {
    "README.md": "test_readme.py",
    "architecture.md": "test_pages.py",
    "draft.md": "test_pages.py",
    "leaving.md": "test_pages.py",
    "lua.md": "test_pages.py",
    "several_devices.md": "test_several_devices.py",
    "whole_script.md": "test_guide.py",
    **dict.fromkeys(
        ("by_hand.md", "files.md", "loading_data.md", "mistakes.md", "nets.md", "porting.md"),
        "test_guide.py",
    ),
    "script_tools.md": "test_guide.py",
}


def test_the_python_of_every_page_is_run() -> None:
    shown = {path.name for path in PAGES if "```python" in path.read_text(encoding="utf-8")}
    assert shown == set(RUN_BY)


@pytest.mark.needs("lupa")
@pytest.mark.parametrize("name", ["architecture.md", "lua.md"])
def test_blocks_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # where the files are that they name
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, name, "exec"), names)


@pytest.mark.needs("tree_sitter")
@pytest.mark.usefixtures("double_by_default")  # the draft sets the default type
def test_draft_shows_what_port_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "draft.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```lua\n(.*?)^```", text, re.M | re.S)
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    Path("words.lua").write_text(script)
    assert main(["port", "words.lua", "-o", "out"]) == 0
    draft = Path("out", "words.py").read_text(encoding="utf-8")
    assert block in draft
    monkeypatch.setattr("sys.argv", ["words.py", "a cat and a dog"])
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(draft, "words.py", "exec"), names)
    assert names["counter"].counts == {"a": 2, "cat": 1, "and": 1, "dog": 1}


def test_leaving_shows_what_convert_writes() -> None:
    text = (ROOT / "docs" / "leaving.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert block in (ROOT / "tests" / "golden" / "source" / "char_lstm.py").read_text("utf-8")
