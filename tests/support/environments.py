"""Environments of few packages: a process that imports them, what they need, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

# Runs a file as the main program; of packages there is the standard library and the folder.
_RUN = """
import runpy, sys
sys.path.append(sys.argv[1])
sys.argv[:] = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def environment(folder: Path, *packages: str) -> Path:
    """Fill a folder with links to installed packages and to what they need."""
    folder.mkdir()
    for found in _needed(list(packages)):
        for top in {Path(file).parts[0] for file in found.files or []}:
            source = Path(str(found.locate_file(top)))
            if top != ".." and source.exists() and not (folder / top).exists():
                (folder / top).symlink_to(source)
    return folder


def run_in(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a Python file with its arguments in an environment."""
    run = [sys.executable, "-I", "-S", "-c", _RUN, str(folder), *command]
    return subprocess.run(run, capture_output=True, text=True, timeout=300)


def _needed(names: list[str]) -> list[Distribution]:
    """The distributions of these names and those they need, where they are installed."""
    found: dict[str, Distribution] = {}
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        try:
            one = found.setdefault(name, distribution(name))
        except PackageNotFoundError:  # what another platform needs
            continue
        needed = [text for text in one.requires or [] if "extra ==" not in text]
        plain = [re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in needed]
        names += [name for name in plain if re.sub(r"[-_.]+", "-", name).lower() not in found]
    return list(found.values())
