"""An installation has every file that the code reads."""

from __future__ import annotations

import configparser

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
