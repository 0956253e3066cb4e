"""An installation has every file that the code reads."""

from __future__ import annotations

import configparser
import re
import runpy

import pytest
from support.paths import ROOT


@pytest.mark.parametrize("package", ["compat", "dptable"])
def test_all_files_are_installed(package: str) -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    installed = {
        path
        for name, patterns in config["options.package_data"].items()
        for pattern in patterns.split(",")
        for path in ROOT.joinpath(*name.split(".")).glob(pattern.strip())
    }
    others = {".py", ".pyc", ".md"}
    read = {p for p in (ROOT / package).rglob("*") if p.is_file() and p.suffix not in others}
    assert read - installed == set()


def test_the_page_of_an_index_has_no_link_that_it_cannot_follow() -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    page = setup["page"](setup["README"])
    assert set(re.findall(r"\]\(([^)]*)\)", page)) == {"https://pypi.org/project/torchfile/"}
    assert "what Lua Torch7 prints, character for character:" in page
    assert "![" not in page and page.count("```") == setup["README"].count("```")


def test_the_changelog_keeps_the_form_of_keep_a_changelog() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *versions = re.split(r"^## ", text, flags=re.M)[1:]
    assert first.startswith("[Unreleased]\n")
    for version in versions:
        assert re.match(r"\[\d+\.\d+\.\d+(rc\d+)?\] - \d{4}-\d\d-\d\d\n", version)
    for version in (first, *versions):
        kinds = re.findall(r"^### (.*)", version, re.M)
        order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        assert len(kinds) == len(set(kinds)) and set(kinds) <= set(order), kinds
