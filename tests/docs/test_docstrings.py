"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest
from support.paths import ROOT

from compat import cutorch


def modules_with_examples() -> list[str]:
    return [
        path.relative_to(ROOT)
        .with_suffix("")
        .as_posix()
        .replace("/", ".")
        .removesuffix(".__init__")
        for package in ("compat", "dptable")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "    >>> " in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str) -> None:
    cutorch.configure(["cpu", "cpu"])
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert tried and not failed
