"""The head of a draft: its imports."""

from __future__ import annotations

import ast
import re

from compat.port.read.syntax import PortError

IMPORTS = {
    **{name: f"import {name}" for name in (
        "copy", "functools", "importlib", "json", "math", "os", "pathlib", "re",
        "shutil", "subprocess", "sys", "time", "types")},
    "torch": "import torch",
    "torch7": "from compat import torch as torch7",
    "lua": "from compat.port import lua",
    "shared": "import shared",
    "dptable": "import dptable",
    "Threads": "from compat.threads import Threads",
    **{name: f"from compat import {name}" for name in (
        "cmdline", "cudnn", "cutorch", "graph", "hdf5", "image", "loadcaffe", "nn", "nngraph",
        "optim", "random", "t7", "xlua")},
}  # fmt: skip


# Functions that have no value for some numbers, in Python alone.
_PARTIAL = re.compile(
    r"\bmath\.(sqrt|exp|log|log10|acos|asin|fmod|sin|cos|tan)\b(?!\([\d.]+\))"
    r"|\bmath\.(floor|ceil)\((math\.inf|lua\.divided)\b"
    r"|\bmath\.(floor|ceil)\((?P<own>[\w.]+)\)( [!=]= |, )(?P=own)\b"  # is it a whole number?
)


def head(text: str, brings_cunn: bool, modules: set[str]) -> str:
    """Return the imports of a draft; ``modules`` are those of other files of the program."""
    used = _names(text) & set(IMPORTS)
    lines = [*(IMPORTS[name] for name in used), *modules]
    if "math" in used and _PARTIAL.search(text):
        lines[lines.index(IMPORTS["math"])] = "from compat.port.lua import math"
    if brings_cunn or "nn.DataParallelTable" in text:
        lines = [line for line in lines if line != IMPORTS["dptable"]]
        lines.append(f"{IMPORTS['dptable']}  # noqa: F401, brings nn.DataParallelTable")
    return "\n".join([*sorted(lines), "", ""]) if lines else ""


def _names(text: str) -> set[str]:
    """Return the names that a program reads."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines()
        line = lines[(error.lineno or 1) - 1] if lines else ""
        raise PortError(f"the draft would be no Python: {error.msg}: {line.strip()}") from None
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
