"""The pages of a program in Python: how it is run, and what it needs."""

from __future__ import annotations

import re
import shlex

from compat.port.project.drafting import Made
from compat.port.project.modules import place


def readme(made: Made, name: str) -> str:
    """``README.md``, in about ten lines."""
    scripts = [str(place(one.module)) for one in made.files if one.is_script]
    whole = [str(place(one.module)) for one in made.files if one.in_lua == "file"]
    parts = sum(len(one.functions) for one in made.files)
    data = [one.source.name for one in made.files if one.in_lua == "data"]
    marks = sum(len(one.report.marks) for one in made.files)
    use = f"- Use: `import {made.files[0].module}`, with this folder in `sys.path`."
    if scripts:
        script = shlex.quote(f"{name}/{scripts[0]}")
        use = f"- Run: `python {script}`, with the options of the Lua script, from any folder."
    stays = _listed(whole) or "no file"
    lines = [
        f"# {name}",
        "",
        f"A draft in Python of a Lua program, by `dptable port`. "
        f"Scripts: {_listed(scripts) or 'none'}.",
        "",
        use,
        "- Needs: dptable with its extra `lua`, as `pyproject.toml` says.",
        "- Data: paths begin in the folder where you are, as they did in Lua.",
        f"- Marks: {marks}; `grep -rn --include='*.py' '# port:' .` shows them, and "
        "docs/porting.md of dptable has a paragraph about each kind.",
        f"- Still Lua: {stays}{f', and functions: {parts}' if parts else ''}"
        f"{f'; data: {_listed(data)}' if data else ''}. "
        f"`dptable port --status {shlex.quote(name)}` counts.",
        "- `port.json` says which files are as they were written: `--force` writes these anew.",
    ]
    return "\n".join(lines) + "\n"


def _listed(names: list[str], most: int = 4) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def pyproject(made: Made, name: str) -> str:
    """``pyproject.toml``, with what the program imports."""
    extras = ["lua"]
    texts = "\n".join(one.text for one in made.files)
    for extra, module in (("image", "image"), ("hdf5", "hdf5"), ("caffe", "loadcaffe")):
        if re.search(rf"\bimport (\w+, )*{module}\b", texts):
            extras.append(extra)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "program"
    return (
        "[project]\n"
        f'name = "{plain}"\n'
        'version = "0"\n'
        'requires-python = ">=3.10"\n'
        f'dependencies = ["dptable[{",".join(extras)}]"]\n'
        "\n[tool.ruff.lint.per-file-ignores]\n"
        '"**/*.py" = ["E402"]\n'
    )
