"""What the README shows works."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest
from support.forked_python import forked_python
from support.paths import ROOT

from compat import cutorch, nn, random, t7

README = ROOT / "README.md"


@pytest.fixture
def readme() -> str:
    return README.read_text(encoding="utf-8")


def steps(readme: str) -> list[tuple[str, str]]:
    """The commands of the console blocks with what each prints; the Python ones in their places."""
    found: list[tuple[str, str]] = []
    for kind, block in re.findall(r"```(console|python)\n(.*?)```", readme, re.DOTALL):
        if kind == "python":
            found.append((f"python -c '{block}'", ""))
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


@pytest.mark.needs("safetensors")
@pytest.mark.timeout(400)
def test_the_four_tasks(readme, tmp_path):
    """One after the other, each with the file that the one before has written."""
    for folder in ("examples", "dptable"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    bin = tmp_path / "bin"
    bin.mkdir()
    for name, arguments in (("dptable", "-m dptable "), ("python", "")):
        (bin / name).write_text(f'#!/bin/sh\nexec "{forked_python()}" {arguments}"$@"\n')
        (bin / name).chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{bin}:{os.environ['PATH']}"}
    for command, output in steps(readme):
        if ".onnx" in command and importlib.util.find_spec("onnxruntime") is None:
            continue
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (command, done.stderr)
        if output:
            assert done.stdout == output
    assert (tmp_path / "copy.t7").exists()


def test_the_picture_shows_what_the_readme_shows(readme):
    picture = (ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8")
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    assert sum(line.startswith("$ ") for line in shown) == readme.count("\n$ ")
    assert all(line.split("  #")[0] in readme for line in shown if "&" not in line)


def test_the_ported_script_trains(tmp_path, monkeypatch, capsys):
    guide = (ROOT / "docs" / "by_hand.md").read_text(encoding="utf-8")
    section = guide.split("## A port, side by side")[1]
    script = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    cutorch.configure(["cpu", "cpu"])
    random.manualSeed(1)
    exec(compile(script, "by_hand.md", "exec"), {})
    losses = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()]
    assert len(losses) == 50
    assert losses[-1] < losses[0] / 4
    assert isinstance(t7.load("net.t7"), nn.Sequential)


def test_every_file_it_names_is_there(readme):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme)
    assert len(links) > 10
    for path in links:
        assert Path(README.parent / path).exists(), path
