"""The head of a draft: its imports."""

from __future__ import annotations

import ast
import re

IMPORTS = {
    **{name: f"import {name}" for name in ("copy", "functools", "json", "math", "os",
                                           "pathlib", "re", "shutil", "subprocess", "sys", "time",
                                           "types")},
    "torch": "import torch",
    "torch7": "from compat import torch as torch7",
    "lua": "from compat.port import lua",
    "shared": "import shared",
    "dptable": "import dptable",
    "Threads": "from compat.threads import Threads",
    **{name: f"from compat import {name}" for name in ("cudnn", "cutorch", "graph", "hdf5", "image",
       "nn", "nngraph", "optim", "random", "t7", "xlua")},
}  # fmt: skip


_STANDARD = {
    "copy",
    "functools",
    "json",
    "math",
    "os",
    "pathlib",
    "re",
    "shutil",
    "subprocess",
    "sys",
    "time",
    "types",
}


_NEEDED_FOR_EFFECT = {"cunn": "import dptable  # noqa: F401, brings nn.DataParallelTable"}


def head(text: str, effects: set[str], modules: set[str]) -> str:
    """The imports of a draft.

    ``effects`` are Lua's packages that it requires, ``modules`` the imports of other files of the
    program.
    """
    used = _names(text)
    standard = [IMPORTS[n] for n in sorted(used & _STANDARD)]
    own = sorted(
        (IMPORTS[n] for n in used & set(IMPORTS) - _STANDARD - {"torch", "shared"}),
        key=lambda line: (line.split()[1], line),
    )
    compat = sorted(n.split("import ")[1] for n in own if n.startswith("from compat import")
                    and " as " not in n)  # fmt: skip
    if "nn.DataParallelTable" in text:
        effects = effects | {"cunn"}
    needed = {_NEEDED_FOR_EFFECT[n] for n in effects if n in _NEEDED_FOR_EFFECT}
    whole = sorted({"import torch"} & {IMPORTS[n] for n in used & {"torch"}} | needed)
    rest = [n for n in own if not n.startswith("from compat import ") or " as " in n]
    if compat:
        rest.insert(0, f"from compat import {', '.join(compat)}")
    lines = [*standard, "", *whole, *rest]
    program = sorted(modules, key=lambda line: (line.startswith("from"), line))
    if "shared" in used:
        program.insert(0, "import shared")
    lines += ["", *program]
    written = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
    gap = "\n\n\n" if re.match(r"(#.*\n)*(def|class|@)", text) else "\n\n"
    return f"{written}{gap}" if written else ""


def _names(text: str) -> set[str]:
    """The names that a program reads."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines()
        line = lines[(error.lineno or 1) - 1] if lines else ""
        raise AssertionError(f"the draft is no Python: {error.msg}: {line}") from None
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
