"""Modules in Python for Lua files that the Lua runtime runs."""

from __future__ import annotations

from pathlib import Path

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.know.types import Kind
from compat.port.write.imports import returned
from compat.port.write.page import GUIDE, Report


def lua_module(file: File, types: Inference, reason: str, is_data: bool) -> tuple[str, Report]:
    """Return the text of a module with the names that other files import from this one.

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
    if file.value.only(Kind.CLASS):
        loaded = f"lua.named({loaded})"
    lines = [f"{name} = {loaded}"]
    if file.is_script:
        lines = [f'{name} = lua.main("{lua}", __file__)']
    for klass in types.classes.values():
        own = class_name(klass.variable.python if klass.variable else None, klass.name)
        if klass.module == file.module and klass.is_torch and own != name:
            lines.append(f'{own} = lua.torch_class("{klass.name}")')
    return "\n".join(
        [f'"""{lua}, as it is."""', "", "from compat.port import lua", "", mark, *lines, ""]
    ), report


def class_name(variable: str | None, typename: str) -> str:
    """Return what a draft calls a class of ``torch.class``."""
    return variable or typename.rpartition(".")[2]
