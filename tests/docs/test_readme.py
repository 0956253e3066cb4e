"""What the README shows works."""

from __future__ import annotations

import re

import pytest
from support.paths import ROOT

from compat import cutorch, nn, random, t7

README = ROOT / "README.md"


@pytest.fixture
def readme() -> str:
    return README.read_text(encoding="utf-8")


def test_the_ported_script_trains(readme, tmp_path, monkeypatch, capsys):
    [script] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    cutorch.configure(["cpu", "cpu"])
    random.manualSeed(1)
    exec(compile(script, "README.md", "exec"), {})
    losses = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(losses) == 50
    assert losses[-1] < losses[0] / 4
    assert isinstance(t7.load("net.t7"), nn.Sequential)


def test_every_file_it_names_is_there(readme):
    named = re.findall(r"`((?:compat|dptable|tests|benchmarks)/[\w/.]+)`", readme)
    assert named
    for path in named:
        assert (README.parent / path).exists(), path
