"""The Python of the porting guide runs: blocks, cells of tables, and the ported script."""

from __future__ import annotations

import copy
import importlib
import re
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from support.paths import ROOT

from compat import cudnn, cutorch, t7
from compat.t7.objects import registry
from dptable import DataParallelTable, checkpoints

# What is imported during a test would be forgotten after it.
for package in sorted({*registry._HOMES.values(), "compat.hdf5"}):
    importlib.import_module(package)

DOCS = ROOT / "docs"
GUIDE = ("porting", "by_hand", "nets", "files", "loading_data", "mistakes", "script_tools")


@dataclass
class Section:
    """What stands under a heading; the code of a table's row is told with the blocks before it."""

    place: str
    blocks: list[str] = field(default_factory=list)
    rows: list[tuple[int, int, list[str]]] = field(default_factory=list)


def sections(page: str) -> list[Section]:
    found, fence, is_table = [Section(page)], None, False
    for number, line in enumerate((DOCS / f"{page}.md").read_text("utf-8").splitlines(), 1):
        here = found[-1]
        if line.startswith("```"):
            if fence is None:
                fence = line[3:]
                if fence == "python":
                    here.blocks.append("")
            else:
                fence = None
        elif fence == "python":
            here.blocks[-1] += line + "\n"
        elif fence is None and line.startswith("## "):
            found.append(Section(f"{page}: {line[3:]}"))
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if cells[-1] in ("Python", "Here"):
                is_table = True
            elif is_table and not line.startswith("| ---"):
                here.rows.append((number, len(here.blocks), re.findall(r"`([^`]+)`", cells[-1])))
        else:
            is_table = False
    return found


SECTIONS = {section.place: section for page in GUIDE for section in sections(page)}
# tests/docs/test_readme.py runs it, and looks at what it prints.
SIDE_BY_SIDE = "by_hand: A port, side by side"


@pytest.fixture
def namespace(tmp_path, monkeypatch) -> dict[str, Any]:
    """The imports of the guide, in an empty folder, on two devices."""
    monkeypatch.chdir(tmp_path)
    cutorch.configure(["cpu", "cpu"])
    kept = [
        *((registry, name) for name in ("_entries", "_by_class")),
        *((cudnn, name) for name in ("benchmark", "fastest")),
        (DataParallelTable, "deserializeNGPUs"),
    ]
    for owner, name in kept:
        monkeypatch.setattr(owner, name, copy.copy(getattr(owner, name)))
    module = types.ModuleType("porting")  # where worker processes look for the names
    monkeypatch.setitem(sys.modules, "porting", module)
    names = vars(module)
    for block in SECTIONS["by_hand: Imports"].blocks:
        exec(block, names)
    return names


def run(names: dict[str, Any], section: Section, blocks: int | None = None) -> None:
    for name, package in (("torchvision", "torchvision"), ("hdf5", "h5py")):
        if any(name in block for block in section.blocks):
            pytest.importorskip(package)
    for block in section.blocks[:blocks]:
        exec(compile(block, section.place, "exec"), names)


@pytest.mark.parametrize(
    "place", [p for p, s in SECTIONS.items() if s.blocks and p != SIDE_BY_SIDE]
)
def test_blocks(namespace, place):
    run(namespace, SECTIONS[place])


@pytest.mark.parametrize(
    ("place", "blocks", "code"),
    [
        pytest.param(section.place, blocks, code, id=f"{section.place.split(':')[0]} line {line}")
        for section in SECTIONS.values()
        for line, blocks, code in section.rows
        if code
    ],
)
def test_table_rows(namespace, place, blocks, code):
    run(namespace, SECTIONS[place], blocks)
    for text in code:
        try:
            exec(text, namespace)
        except Exception as error:
            raise AssertionError(f"{text}: {error!r}") from error


@pytest.fixture
def port(namespace, monkeypatch, capsys):
    """Run the ported script with these options; gives the epochs' losses and accuracies."""
    labels = torch.arange(96) % 3 + 1
    data = torch.rand(96, 3, 8, 8) + labels.view(-1, 1, 1, 1)
    images = {"data": (60 * data).byte(), "labels": labels.byte()}
    t7.save("images.t7", {"train": images, "val": images})
    small = ["-batchSize", "32", "-nDonkeys", "0"]
    script = [block for section in sections("whole_script") for block in section.blocks]

    def run_script(*arg: str) -> list[tuple[float, float]]:
        monkeypatch.setattr(sys, "argv", ["train.py", *small, *arg])
        names = {"__name__": "__main__"}
        run(names, Section("whole_script", script))
        names["model"].close()
        found = re.findall(r"epoch \d+: loss ([\d.]+), accuracy ([\d.]+)", capsys.readouterr().out)
        return [(float(loss), float(accuracy)) for loss, accuracy in found]

    return run_script


def test_the_ported_script_learns_and_goes_on(port):
    whole = port("-nEpochs", "3", "-save", "whole")
    assert whole[2][0] < whole[0][0] / 2
    assert whole[2][1] > 60  # chance is 33
    assert Path("whole/train.log").read_text().count("\n") == 4

    assert port("-nEpochs", "2", "-save", "part") == whole[:2]
    assert port("-nEpochs", "3", "-save", "part", "-resume", "-nGPU", "2") == whole[2:]
    model, again = (checkpoints.latest(folder)[1] for folder in ("whole", "part"))
    for one, other in zip(again.parameters()[0], model.parameters()[0], strict=True):
        torch.testing.assert_close(one, other)


def test_the_list_of_script_tools_is_complete():
    """Against the survey of the training projects: each tool with its number of projects."""
    survey = {}
    for line in Path(__file__).with_name("script_tools.txt").read_text().splitlines():
        count, name = line.split()
        survey[name] = int(count)
    listed = {}
    text = (DOCS / "script_tools.md").read_text(encoding="utf-8")
    for names, counts in re.findall(r"^\| (`.*?) \| ([\d, ]+) \|", text, re.MULTILINE):
        for name, count in zip(re.findall(r"`([^`]+)`", names), counts.split(", "), strict=True):
            assert name not in listed
            listed[name] = int(count)
    assert listed == survey


def test_counts_of_the_image_functions_are_those_of_the_list():
    survey = Path(__file__).with_name("script_tools.txt").read_text()
    text = (DOCS / "loading_data.md").read_text(encoding="utf-8")
    counts = re.findall(r"^\| `(image\.\w+)[({].*? \| (\d+) \|", text, re.MULTILINE)
    assert counts
    for name, count in counts:
        assert f"{count} {name}\n" in survey
