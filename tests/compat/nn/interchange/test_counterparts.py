"""Every file of the layers, criterions and recurrent modules has its counterpart, or a reason."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from support.each import each
from support.paths import ROOT

from compat import nn
from compat.nn.interchange import counterparts
from compat.nn.interchange.to_torch import converter_of

ROOMS = ("containers", "criterions", "graph", "layers", "recurrent")
NN = ROOT / "compat" / "nn"
FILES = [
    path.relative_to(NN)
    for room in ROOMS
    for path in sorted((NN / room).rglob("*.py"))
    if path.name != "__init__.py"
]
# What nets are not made of.
BASES = {"AbstractRecurrent", "AbstractSequencer", "Container", "Criterion", "Module"}
BASES |= {"Unknown", "UnknownCriterion"}
CLASSES = {
    name: cls
    for name, cls in vars(nn).items()
    if inspect.isclass(cls) and issubclass(cls, (nn.Module, nn.Criterion)) and name not in BASES
}


def left_out() -> set[str]:
    """The classes of which the guide says why they are not converted."""
    guide = (ROOT / "docs" / "files.md").read_text()
    table = guide.split("| left | why")[1].split("| classes of your own")[0]
    return set(re.findall(r"`([A-Z]\w+)`", table))


@each("name", {"all": sorted(CLASSES)})
def test_each_class_is_converted_or_the_guide_says_why_not(name: str) -> None:
    # A converter of its own says why this one is refused.
    converted = name != "LayerNormalization" and converter_of(CLASSES[name]) is not None
    assert converted != (name in left_out())


@each("path", {"all": FILES})
def test_each_file_has_a_counterpart_unless_it_needs_none(path: Path) -> None:
    """None needs one of which the guide says so, or which is made of classes that have theirs."""
    module = "compat.nn." + ".".join(path.with_suffix("").parts)
    if module.replace("compat.nn", "compat.nn.interchange", 1) in counterparts.counterparts():
        return
    for name, cls in CLASSES.items():
        if cls.__module__ == module and name not in left_out():
            assert "updateOutput" not in vars(cls) and "compute" not in vars(cls), name


def test_each_counterpart_has_its_file() -> None:
    here = NN / "interchange"
    folders = [path for path in here.iterdir() if path.is_dir() and path.name != "__pycache__"]
    found = [path.relative_to(here) for folder in folders for path in folder.rglob("*.py")]
    assert [path for path in found if not (NN / path).is_file()] == []
