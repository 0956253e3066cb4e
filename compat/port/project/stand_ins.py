"""The Python that stands for a Lua file that the Lua runtime runs."""

from __future__ import annotations

import os
from pathlib import Path

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.read import syntax as s
from compat.port.write.imports import returned
from compat.port.write.writer import GUIDE, Report


def stand_in(file: File, types: Inference, reason: str, is_data: bool) -> tuple[str, Report]:
    """The text of a module with the names that other files import from this one.

    Args:
        reason: why the file has no draft.
        is_data: it is a table of constants, which stays one.
    """
    report = Report()
    lua = Path(file.path).name
    if is_data:
        mark = "# A table of constants, kept as data."
    else:
        report.marks.append((1, f"this file runs in Lua: {reason}", "lua"))
        mark = f"# port: this file runs in Lua: {reason} [{GUIDE}#port-lua]"
    name = returned(file) or "exports"
    loaded = f'lua.module("{lua}", __file__)'
    if file.value.only("class"):
        loaded = f"lua.named({loaded})"
    lines = [f"{name} = {loaded}"]
    if file.is_script:
        lines = [f'{name} = lua.main("{lua}", __file__)']
    for klass in types.classes.values():
        own = class_name(klass.variable.python if klass.variable else None, klass.name)
        if klass.module == file.module and klass.is_torch and own != name:
            lines.append(f'{own} = lua.torch_class("{klass.name}")')
    return "\n".join([f'"""{lua}, as it is."""', "", "from compat.port import lua", "", mark, *lines, ""]), report


def class_name(variable: str | None, typename: str) -> str:
    """What a draft calls a class of ``torch.class``."""
    return variable or typename.rpartition(".")[2]


def source_of(node: s.Function, file: File, types: Inference) -> tuple[str, list[str]]:
    """The Lua of a function for ``lua.function``, and the names that it takes from the file.

    A name that is another one in Python is ``lua=python``.
    """
    scope = file.scopes.of_function[node]
    before, names = [], []
    for variable in sorted(scope.used, key=lambda v: v.id):
        path = types.aliases.get(variable)
        if path is not None:
            module = path.split(".")[0]
            before.append(f"local {variable.id} = rawget(_G, '{module}') and {path} or require '{path}'")
        elif not variable.is_global:
            python = str(variable.python)
            names.append(variable.id if python == variable.id else f"{variable.id}={python}")
        elif variable.writes:
            names.append(variable.id)
    text = file.source[node.start : node.end].decode("latin-1")
    return "\n".join([*before, f"return {_as_function(text)}"]), names


def _as_function(text: str) -> str:
    """``function (…) … end`` of what may be written ``function name(…) … end``."""
    return f"function{text[text.index('('):]}"


def inside(path: Path, root: Path) -> str:
    """A path below the program's folder."""
    return os.path.relpath(path, root)
