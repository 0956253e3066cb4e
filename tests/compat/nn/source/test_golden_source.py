"""The source of five well-known nets, as it was read and approved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from support import torch7_nets
from support.paths import GOLDEN

from compat import random
from compat.nn.source.input import inputs
from compat.nn.source.naming import class_name
from compat.nn.source.written import Written, write

FOLDER = GOLDEN / "source"
# What generates each, and how many lines a person would need at most.
NETS: dict[str, tuple[Callable[[], Any], int]] = {
    "lenet": (torch7_nets.lenet, 60),
    "char_lstm": (torch7_nets.char_lstm, 59),
    "resnet18": (torch7_nets.resnet18, 119),
    "alexnet": (torch7_nets.alexnet, 60),
    "vgg16": (torch7_nets.vgg16, 59),
}
LARGE = ("alexnet", "vgg16", "resnet18")


def written(name: str) -> Written:
    random.manualSeed(1)
    net = NETS[name][0]().float()
    example = inputs.found(net.to_torch())
    # The tolerance follows the weights, which a seed makes the same.
    return write(net, example.value, class_name(name), f"{name}.t7")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in NETS]
)
def test_sources_are_those_that_were_read(name: str) -> None:
    text = written(name).text
    assert without_bounds(text) == without_bounds((FOLDER / f"{name}.py").read_text())
    assert text.count("\n") <= NETS[name][1]


def without_bounds(text: str) -> list[str]:
    """The lines without the tolerance, which another processor's sums may change."""
    return [line.partition("atol=")[0] for line in text.splitlines()]


def test_a_source_imports_torch_and_safetensors_alone() -> None:
    for path in FOLDER.glob("*.py"):
        found = {
            line.split()[1].split(".")[0]
            for line in path.read_text().splitlines()
            if line.startswith(("import ", "from "))
        }
        assert found == {"torch", "safetensors"}


def test_gradients_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source whose gradients differ is refused."""
    from compat.nn.source import proof

    net = torch7_nets.lenet().float()
    monkeypatch.setattr(proof, "_GRADIENTS", {torch.float32: -1.0})
    with pytest.raises(ValueError, match="a gradient of the source differs"):
        write(net, torch.randn(2, 1, 32, 32))
