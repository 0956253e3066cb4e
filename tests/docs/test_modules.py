"""docs/modules.md is current and complete, and what it names exists."""

from __future__ import annotations

import importlib
import re
from functools import reduce

from support.each import each
from support.nn_golden import recorded_classes
from support.paths import ROOT

from docs import make_modules

PAGE = ROOT / "docs" / "modules.md"
# Classes and helpers of Torch7's nn without recordings.
UNRECORDED = {"Module", "Container", "Criterion", "GPU", "Jacobian", "SparseJacobian"} | {
    "StochasticGradient"
}


def test_the_pages_are_current() -> None:
    for name, made in make_modules.pages().items():
        assert (ROOT / "docs" / name).read_text() == made, "run docs/make_modules.py"


def test_every_class_of_torch7_is_on_the_page() -> None:
    recorded = recorded_classes()
    for name in {*recorded["nn"], *recorded["criterion"], *UNRECORDED}:
        assert f"| `nn.{name}` |" in PAGE.read_text()


def test_every_class_has_a_summary() -> None:
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            assert line.split(" | ")[3].rstrip(" |").endswith("."), line


@each("path", {"all": sorted(set(re.findall(r"`(torch\.[\w.]+)` \|", PAGE.read_text())))})
def test_equivalents_exist(path: str) -> None:
    package, *names = path.split(".")
    while True:
        try:
            assert reduce(getattr, names, importlib.import_module(package)) is not None
            return
        except AttributeError:
            package, names = f"{package}.{names[0]}", names[1:]
